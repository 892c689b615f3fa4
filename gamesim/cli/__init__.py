"""The command line, `gamesim`."""
