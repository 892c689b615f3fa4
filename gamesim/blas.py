"""One thread for linear algebra: the same results on any number of processors, and none that waits for work."""

from functools import cache
from typing import Any

# Read by a process when it imports NumPy or SciPy
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


@cache
def limiter() -> Any:
    """Return the `ThreadpoolController` of this process; searching for the libraries takes longer than a short run."""
    import scipy.linalg.cython_blas  # noqa: F401  # compiled kernels call it; it can be found only once loaded
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@cache
def use_one_thread() -> None:
    """Limit BLAS to one thread for the life of this process, which shares the processors with others."""
    limiter().limit(limits=1)
