"""`python -m gamesim` is the command `gamesim`."""

import sys

from gamesim.cli.main import main

sys.exit(main())
