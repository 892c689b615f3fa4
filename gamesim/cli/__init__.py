"""The `gamesim` command line."""
