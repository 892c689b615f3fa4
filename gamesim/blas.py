"""One thread for linear algebra: the same results on any number of processors, and none that waits for work."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# Read by a process when it imports NumPy or SciPy
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


class NoLimit:
    """Stands for the `ThreadpoolController` of a process whose libraries have one thread from the start."""

    suffices = False

    def limit(self, limits: int) -> AbstractContextManager[None]:
        """Change nothing."""
        return nullcontext()


def start_with_one_thread() -> None:
    """Let BLAS start with one thread, unless the environment sets a number or NumPy has been imported."""
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)
    one = all(os.environ[name] == number for name, number in ONE_THREAD.items())
    NoLimit.suffices = one and "numpy" not in sys.modules


@cache
def limiter() -> Any:
    """Return the `ThreadpoolController` of this process; searching for the libraries takes longer than a short run."""
    if NoLimit.suffices:
        return NoLimit()
    import scipy.linalg.cython_blas  # noqa: F401  # compiled kernels call it; it can be found only once loaded
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@cache
def use_one_thread() -> None:
    """Limit BLAS to one thread for the life of this process, which shares the processors with others."""
    limiter().limit(limits=1)
