"""The scenarios and studies that ship with gamesim, as data."""

if __name__ == "scenarios":  # this folder is on the path in a checkout
    raise ImportError("this folder is the package gamesim.scenarios; import gamesim.scenarios instead")
