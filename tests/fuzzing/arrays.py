"""Mutations of .npy files: the values, shapes and types of arrays, and the text of headers."""

import io
import os
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.lib import format as npy

from tests.fuzzing import texts, values
from tests.fuzzing.values import some

Array = np.ndarray[Any, Any]

_DTYPES = (
    *("<f8", ">f8", "<f4", "<f2", "<i8", ">i4", "<u8", "|i1", "|b1", "<U3", "<U0", "|S2", "<c16", "<M8[s]"),
    *("|O", "|V4"),
)
_WORDS = ("descr", "fortran_order", "shape", "(", ")", "True", "False", "None", "-1", "(2,)", "()", *_DTYPES)


class Payload:
    """An object whose pickle runs a command; nothing may ever unpickle it."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch pwned",)


def mutated(random: Random, data: bytes) -> bytes:
    """Return a .npy file with another array, another header, or flipped bits."""
    kind = random.random()
    if kind < 0.7:
        try:
            array = npy.read_array(io.BytesIO(data))
        except Exception:  # it was mutated before, and cannot be read any more
            return texts.flipped(random, data)
        return written(_changed(random, array))
    return _with_header(random, data) if kind < 0.9 else texts.flipped(random, data)


def written(array: Array) -> bytes:
    """Return an array as a .npy file."""
    out = io.BytesIO()
    npy.write_array(out, array, allow_pickle=True)
    return out.getvalue()


def _changed(random: Random, array: Array) -> Array:
    how = random.randrange(10)
    if how < 4 and array.size:
        return _with_value(random, array)
    if how < 6:
        return _with_shape(random, array)
    if how == 6:
        return np.asfortranarray(array) if random.random() < 0.5 else array[..., ::-1] if array.ndim else array
    if how == 7:
        return np.array([Payload()] * array.size, dtype=object).reshape(array.shape)
    kind = some(random, _DTYPES[:12])
    with np.errstate(all="ignore"):
        return array.astype(kind) if array.dtype.kind in "fiub" else np.zeros(array.shape, kind)


def _with_value(random: Random, array: Array) -> Array:
    """Return an array with one value, or all, replaced by an extreme one of its type."""
    result = array.copy()
    at: Any = ... if random.random() < 0.1 else np.unravel_index(random.randrange(array.size), array.shape)
    if array.dtype.kind == "U":
        result = array.astype("<U300")
        result[at] = values.text(random, ())[:300].replace("\0", "")
    elif array.dtype.kind == "f":
        result[at] = some(random, values.FLOATS)
    elif array.dtype.kind in "iu":
        whole = np.iinfo(array.dtype)
        result[at] = min(max(some(random, values.INTEGERS), int(whole.min)), int(whole.max))
    return result


def _with_shape(random: Random, array: Array) -> Array:
    how = random.randrange(6)
    if how == 0:
        return array.ravel()
    if how == 1:
        return array[None]
    if how == 2:
        return array.reshape(array.shape[::-1])
    if how == 3 and array.ndim:
        return array[: random.randint(0, len(array))]
    if how == 4 and array.ndim:
        return np.concatenate([array, array[: random.randint(0, 2)]])
    return np.zeros(some(random, ((), (0,), (0, 3), (1,), (2,) * 6, (1,) * 30)), dtype=array.dtype)


def _with_header(random: Random, data: bytes) -> bytes:
    """Return the file with mutated text in its header, whose length and version are right or also mutated."""
    length = int.from_bytes(data[8:10], "little")
    header, body = data[10 : 10 + length].decode("latin-1"), data[10 + length :]
    if random.random() < 0.5:
        sizes = ", ".join(str(values.number(random)) for _ in range(random.randint(0, 4)))
        header = re.sub(r"\(.*?\)", lambda _: f"({sizes}{',' if sizes else ''})", header, count=1)
    else:
        header = texts.mutated(random, header, _WORDS, ()).decode("latin-1")
    version = some(random, ((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (9, 9)))
    width = 2 if version == (1, 0) else 4
    text = header.encode("latin-1", "replace")[: 2 ** (8 * width) - 1]
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(width, "little") + text + body
