"""How many random instances a test tries: few in the suite, more if GAMESIM_SEEDS is all, as in `make thorough`."""

import os


def seeds(few: int, all_of: int) -> range:
    """Return the seeds to try."""
    return range(all_of if os.environ.get("GAMESIM_SEEDS") == "all" else few)
