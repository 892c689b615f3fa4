"""NumPy arrays in files (.npy): read after a look at the header, so that no file runs code or exhausts memory."""

import warnings
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from gamesim.errors import InputError
from gamesim.game import MOST_PAYOFF_BYTES

_MOST_LABEL_BYTES = 2**28  # limit on an array of labels


def read(file: IO[bytes], name: str, size: int) -> np.ndarray[Any, Any]:
    """Return the array of numbers or labels in an open file of `size` bytes; `name` is used in messages.

    Broken files raise many kinds of exceptions, which callers must handle.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a header that is parsed with a warning is broken
        return _read(file, name, size)


def _read(file: IO[bytes], name: str, size: int) -> np.ndarray[Any, Any]:
    version = npy.read_magic(file)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, kind = read_header(file)
    if kind.kind not in "fiubU":
        raise InputError(f"{name} must be numbers or labels, got an array of {kind}")
    needed = kind.itemsize
    for length in shape:
        needed *= length
    limit = _MOST_LABEL_BYTES if kind.kind == "U" else MOST_PAYOFF_BYTES
    if needed > limit:
        raise InputError(f"{name} would take {needed:.3g} bytes; the limit is {limit}")
    if needed > size - file.tell():
        raise InputError(f"{name} needs {needed:,} bytes, but its file is shorter")
    file.seek(0)
    array: np.ndarray[Any, Any] = npy.read_array(file, allow_pickle=False)
    return array
