"""Layouts: names and shapes for the consecutive parts of an array.

Kernels of one kind share one signature, so they take plain arrays. A layout declares once what the parts of such an
array are. It creates the array (`zeros`, `pack`), and returns its named parts in Python (`parts`) and in a kernel
(`view`, which is as fast as slicing by hand)::

    class State(NamedTuple):
        strategy: Vector
        regrets: Vector

    STATE = Layout(State, strategy="d", regrets="d")
    view = STATE.view

    @kernel
    def observe(settings, state, loss):
        strategy, regrets = view(state, loss.size)
        ...

A shape is one of:

- "float" or "int" for a scalar, which a view reads;
- an expression such as "d", "2 * d + 1" or "1" for a vector of that length;
- "int[...]" for a vector of integers inside an array of floats, which has the same number of bytes;
- another layout;
- "rest" for all remaining entries.

An expression may use the dimensions of the layout (by default d) and all "int" parts before it.

Reading eight numbers at once takes longer if they lie on two lines of the cache. So arrays of many numbers begin at a
line (`aligned`), and with `aligned=True` so does each vector of a layout, after unused zeros.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from gamesim.engine.compiled import Integers, Vector, arrayobj, instruction, types
from gamesim.errors import InputError
from gamesim.formatting import amount, memory

__all__ = ["Layout"]

MOST_NUMBERS = 2**30  # in one array: 8 GiB
LINE = 8  # numbers in a line of the cache

Parts = TypeVar("Parts", bound=tuple[Any, ...])
Words = TypeVar("Words", Vector, Integers)

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


class _Shape(NamedTuple):
    """Describe how a part is read: its kind ("float", "int" or "array"), its number type, and its length."""

    kind: str
    whole: bool
    length: ast.expr | None  # None for the rest


class _Layout(Generic[Parts, Words]):
    """Declare names and shapes of the consecutive parts of an array of 8-byte `word`s."""

    word: ClassVar[type[np.generic]]

    def __init__(self, kind: type[Parts], /, dimensions: str = "d", *, aligned: bool = False, **shapes: Any) -> None:
        names = kind._fields  # type: ignore[attr-defined]  # a NamedTuple
        if tuple(shapes) != names:
            raise TypeError(f"{kind.__name__} has the parts {names}, got shapes for {tuple(shapes)}")
        self.kind = kind
        self.aligned = aligned
        self.dimensions = tuple(dimensions.split())
        self._shapes = {name: self._read(shape) for name, shape in shapes.items()}
        self.view = _compiled_view(self)

    def _read(self, shape: Any) -> _Shape:
        if isinstance(shape, _Layout):
            if set(shape.dimensions) - set(self.dimensions):
                raise TypeError(
                    f"a part with dimensions {shape.dimensions} does not fit a layout with dimensions {self.dimensions}"
                )
            return _Shape("array", self.word is np.int64, shape.length)
        if shape in ("float", "int"):
            return _Shape(shape, shape == "int", None)
        whole = shape.startswith("int[")
        text = shape[4:-1] if whole else shape
        length = None if text == "rest" else ast.parse(text, mode="eval").body
        return _Shape("array", whole or self.word is np.int64, length)

    @cached_property
    def length(self) -> ast.expr:
        """Return the total length as an expression, for layouts that contain this one."""
        total: ast.expr = ast.Constant(0)
        for shape in self._shapes.values():
            if shape.kind == "array" and shape.length is None:
                raise TypeError(f"{self.kind.__name__} ends with a rest, so its length is not fixed")
            term = shape.length if shape.length is not None else ast.Constant(1)
            total = ast.BinOp(_next_line_of(total) if self.at_line(shape) else total, ast.Add(), term)
        return _next_line_of(total) if self.aligned else total

    def at_line(self, shape: _Shape) -> bool:
        """Return whether a part begins at a line of the cache."""
        return self.aligned and shape.kind == "array"

    def size(self, *dimensions: int) -> int:
        """Return the number of entries for these dimensions.

        Parameters
        ----------
        *dimensions : int
            The value of each dimension.

        Returns
        -------
        int
            The number of entries.

        Examples
        --------
        >>> class State(NamedTuple):
        ...     rounds: Vector
        ...     losses: Vector
        >>> Layout(State, rounds="1", losses="d").size(3)
        4
        """
        return int(_evaluate(self.length, dict(zip(self.dimensions, dimensions, strict=True))))

    def zeros(self, *dimensions: int) -> Words:
        """Return an array of this layout, filled with zeros.

        Parameters
        ----------
        *dimensions : int
            The value of each dimension.

        Returns
        -------
        ndarray
            The array.

        Examples
        --------
        >>> class State(NamedTuple):
        ...     rounds: Vector
        ...     losses: Vector
        >>> Layout(State, rounds="1", losses="d").zeros(3)
        array([0., 0., 0., 0.])
        """
        array: Words = np.zeros(_allowed(self.size(*dimensions)), dtype=self.word)
        return array

    def pack(self, *dimensions: int, **values: Any) -> Words:
        """Return an array of this layout with the given values.

        Parameters
        ----------
        *dimensions : int
            The value of each dimension.
        **values
            The value of each part, by name. Missing parts are 0, and a missing rest is empty.

        Returns
        -------
        ndarray
            The array.

        Raises
        ------
        TypeError
            If a part is unknown.
        ValueError
            If a value has the wrong length.

        Examples
        --------
        >>> class State(NamedTuple):
        ...     rounds: Vector
        ...     losses: Vector
        >>> Layout(State, rounds="1", losses="d").pack(3, losses=[0.5, 0.25, -1.0])
        array([ 0.  ,  0.5 ,  0.25, -1.  ])
        """
        known = dict(zip(self.dimensions, dimensions, strict=True))
        pieces: list[Any] = []

        def fill_line() -> None:
            held = sum(map(len, pieces))
            pieces.append(np.zeros(_next_line(held) - held))

        for name, shape in self._shapes.items():
            if self.at_line(shape):
                fill_line()
            if shape.kind != "array":
                known[name] = int(values[name]) if shape.whole else 0
                pieces.append(np.array([values[name]], dtype=np.int64 if shape.whole else np.float64))
                continue
            given = values.get(name)
            length = len(given) if shape.length is None and given is not None else 0
            length = length if shape.length is None else int(_evaluate(shape.length, known))
            piece = np.zeros(_allowed(length), dtype=np.int64 if shape.whole else np.float64)
            if given is not None:
                flat = np.ravel(given)
                if flat.size not in (1, length):
                    raise ValueError(f"{name} of {self.kind.__name__} needs {length} numbers, got {flat.size}")
                piece[:] = flat
            pieces.append(piece)
        unknown = set(values) - set(self._shapes)
        if unknown:
            raise TypeError(f"{self.kind.__name__} has no parts {sorted(unknown)}")
        if self.aligned and all(shape.kind != "array" or shape.length for shape in self._shapes.values()):
            fill_line()  # a rest has no zeros after it
        array: Words = np.concatenate([piece.view(self.word) for piece in pieces])
        return array

    def parts(self, array: Words, *dimensions: int) -> Parts:
        """Return the named parts of an array: numbers, and views that can be written to.

        Parameters
        ----------
        array : ndarray
            An array of this layout.
        *dimensions : int
            The value of each dimension.

        Returns
        -------
        namedtuple
            The parts.

        Examples
        --------
        >>> class State(NamedTuple):
        ...     rounds: Vector
        ...     losses: Vector
        >>> Layout(State, rounds="1", losses="d").parts(np.array([2.0, 0.5, -1.0]), 2)
        State(rounds=array([2.]), losses=array([ 0.5, -1. ]))
        """
        known = dict(zip(self.dimensions, dimensions, strict=True))
        found: list[Any] = []
        at = 0
        for name, shape in self._shapes.items():
            numbers = np.int64 if shape.whole else np.float64
            if shape.kind != "array":
                value = array[at : at + 1].view(numbers)[0]
                known[name] = int(value) if shape.whole else 0
                found.append(int(value) if shape.whole else float(value))
                at += 1
                continue
            at = _next_line(at) if self.at_line(shape) else at
            end = len(array) if shape.length is None else at + int(_evaluate(shape.length, known))
            found.append(array[at:end].view(numbers))
            at = end
        return self.kind(*found)

    def shapes(self) -> Iterator[tuple[str, _Shape]]:
        """Yield the name and shape of each part, in order."""
        yield from self._shapes.items()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parts, in order."""
        return tuple(self._shapes)


def _next_line(end: Any) -> Any:
    """Return the next index at which a line of the cache begins, for an integer or one in generated code."""
    return (end + (LINE - 1)) // LINE * LINE


def _next_line_of(end: ast.expr) -> ast.expr:
    """Return `_next_line` as an expression."""
    return ast.parse(f"({ast.unparse(end)} + {LINE - 1}) // {LINE} * {LINE}", mode="eval").body


def aligned(count: int) -> Vector:
    """Return zeros that begin at a line of the cache."""
    whole = np.zeros(count + LINE - 1)
    start = -whole.ctypes.data // whole.itemsize % LINE
    return whole[start : start + count]


def begins(lengths: Sequence[int]) -> list[int]:
    """Return where vectors begin that are kept in one array, and where the array ends: long ones at lines of the cache.

    >>> begins([5, 3, 100, 4, 200])
    [0, 5, 8, 108, 112, 312]
    """
    found, end = [], 0
    for length in lengths:
        found.append(_next_line(end) if length >= LINE * LINE else end)
        end = found[-1] + length
    return [*found, _next_line(end) if max(lengths, default=0) >= LINE * LINE else end]


def joined(vectors: Sequence[Vector]) -> Vector:
    """Return vectors in one array, each where `begins` says."""
    places = begins([len(one) for one in vectors])
    whole = aligned(places[-1])
    for vector, first in zip(vectors, places, strict=False):
        whole[first : first + len(vector)] = vector
    return whole


def _allowed(length: int) -> int:
    """Return the length of an array, or raise an InputError if it exceeds the limit."""
    if length > MOST_NUMBERS:
        raise InputError(
            f"a state of {amount(length)} numbers ({memory(8 * length)}) is too large; "
            f"at most {MOST_NUMBERS:,} are allowed; use fewer actions"
        )
    return length


class Layout(_Layout[Parts, Vector]):
    """Declare names and shapes of the consecutive parts of a vector of floats.

    Parameters
    ----------
    kind : type
        A NamedTuple with one field per part.
    dimensions : str, default "d"
        The names of the dimensions, separated by spaces.
    aligned : bool, default False
        Whether each vector begins at a line of the cache if the array does: faster with hundreds of numbers.
    **shapes : str or Layout
        The shape of each part, by name and in order: "float", "int", a length such as "d" or "2 * d + 1", "int[...]",
        another layout, or "rest".

    Raises
    ------
    TypeError
        If the shapes do not match the fields of `kind`.

    Examples
    --------
    >>> class State(NamedTuple):
    ...     rounds: Vector
    ...     losses: Vector
    >>> layout = Layout(State, rounds="1", losses="d")
    >>> state = layout.pack(3, losses=[0.5, 0.25, -1.0])
    >>> state
    array([ 0.  ,  0.5 ,  0.25, -1.  ])
    >>> layout.parts(state, 3).losses[2] = 1.0
    >>> state[-1]
    np.float64(1.0)
    """

    word = np.float64


class IntegerLayout(_Layout[Parts, Integers]):
    """Declare names and shapes of the consecutive parts of a vector of integers, see `Layout`."""

    word = np.int64


def _evaluate(expression: ast.expr, known: Mapping[str, Any]) -> Any:
    """Evaluate a shape expression, with Python integers or with values in generated code."""
    match expression:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in _OPERATORS:
            return _OPERATORS[type(symbol)](_evaluate(left, known), _evaluate(right, known))
    raise TypeError(f"a shape may use {', '.join(known)}, integers, +, -, * and //, got {ast.unparse(expression)}")


class _Generated:
    """Represent an integer in generated code, with the operations that shapes use."""

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder, self.value = builder, value

    def _other(self, other: Any) -> Any:
        return other.value if isinstance(other, _Generated) else self.value.type(other)

    def __add__(self, other: Any) -> "_Generated":
        return _Generated(self._builder, self._builder.add(self.value, self._other(other)))

    def __sub__(self, other: Any) -> "_Generated":
        return _Generated(self._builder, self._builder.sub(self.value, self._other(other)))

    def __mul__(self, other: Any) -> "_Generated":
        return _Generated(self._builder, self._builder.mul(self.value, self._other(other)))

    def __floordiv__(self, other: Any) -> "_Generated":  # lengths are nonnegative
        return _Generated(self._builder, self._builder.udiv(self.value, self._other(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> "_Generated":
        return _Generated(self._builder, self._builder.sub(self._other(other), self.value))


def _compiled_view(layout: _Layout[Parts, Words]) -> Callable[..., Parts]:
    """Return a function that gives the named parts inside a kernel, as views without ownership.

    The kernel's caller keeps the array alive; see `part`.
    """
    words = types.Array(types.int64 if layout.word is np.int64 else types.float64, 1, "C")

    def type_of(shape: _Shape) -> Any:
        number = types.int64 if shape.whole else types.float64
        return number if shape.kind != "array" else types.Array(number, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = context.make_array(words)(context, builder, given[0])
        int64 = context.get_value_type(types.int64)
        known: dict[str, Any] = {
            name: _Generated(builder, value) for name, value in zip(layout.dimensions, given[1:], strict=True)
        }
        at = _Generated(builder, int64(0))
        found = []
        for name, shape in layout.shapes():
            numbers = types.int64 if shape.whole else types.float64
            at = _next_line(at) if layout.at_line(shape) else at
            pointer = builder.bitcast(
                builder.gep(whole.data, [at.value]), context.get_value_type(numbers).as_pointer()
            )  # 8 bytes each
            if shape.kind != "array":
                value = builder.load(pointer)
                found.append(value)
                if shape.whole:
                    known[name] = _Generated(builder, value)
                at = at + 1
                continue
            if shape.length is None:
                length = _Generated(builder, builder.extract_value(whole.shape, 0)) - at
            else:
                length = _evaluate(shape.length, known)
                length = length if isinstance(length, _Generated) else _Generated(builder, int64(length))
            kind = types.Array(numbers, 1, "C")
            view = context.make_array(kind)(context, builder)
            size = whole.itemsize
            arrayobj.populate_array(view, pointer, [length.value], strides=[size], itemsize=size, meminfo=None)
            found.append(view._getvalue())
            at = at + length
        return context.make_tuple(builder, signature.return_type, found)

    def typed(count: int) -> Any:
        kinds = [type_of(shape) for _, shape in layout.shapes()]
        same = all(kind == kinds[0] for kind in kinds)
        made = types.NamedUniTuple(kinds[0], len(kinds), layout.kind) if same else types.NamedTuple(kinds, layout.kind)
        return made(words, *[types.int64] * count), generate

    # One function per number of dimensions, because the compiler needs fixed arguments.
    def view_0(typing: Any, array: Any) -> Any:
        return typed(0)

    def view_1(typing: Any, array: Any, first: Any) -> Any:
        return typed(1)

    def view_2(typing: Any, array: Any, first: Any, second: Any) -> Any:
        return typed(2)

    def view_3(typing: Any, array: Any, first: Any, second: Any, third: Any) -> Any:
        return typed(3)

    chosen: Callable[..., Parts] = instruction((view_0, view_1, view_2, view_3)[len(layout.dimensions)])
    return chosen
