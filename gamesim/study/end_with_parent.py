"""Imported first by the fork server of a pool: it and the workers it forks end as soon as the sweep's process does.

The kernel does this on Linux. Elsewhere, a fork server ends once it has imported everything that workers need and finds
that its sweep is gone, and workers end because they watch a pipe.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of linux/prctl.h
PARENT = "GAMESIM_SWEEP"  # environment variable with the process number of the sweep


def end_with(parent: int) -> None:
    """Make the kernel kill this process when its parent ends, and end now if it has ended already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(1)


if PARENT in os.environ:  # this is a fork server
    _server = os.getpid()
    end_with(int(os.environ[PARENT]))
    os.register_at_fork(after_in_child=lambda: end_with(_server))
