"""The scenarios and studies that ship with gamesim, as data."""
