"""The numbers that the views of a page draw: those of the lab, which play live, and of a report, which replays a run.

`frames` has the numbers of each round and their binary format, `equilibria` the equilibria of a game and those nearest
to play, and `pictures` phase portraits, clouds of runs and correlating devices. The views themselves are JavaScript
modules in `gamesim/lab/static`.
"""
