"""Compilation: one decorator for all kernels, and calls by address.

A learner consists of two small kernels and a game of one. All kernels of one kind have the same signature, so the
simulation's loop is compiled once and calls kernels through their addresses. No combination of learners needs further
compilation.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gamesim.engine.kernel_cache import KernelCache

__all__ = ["kernel"]  # the rest is for the simulation and for learners that combine others

# Numba's type annotations differ between versions, so this file treats Numba as untyped.
ir: Any = import_module("llvmlite.ir")
numba: Any = import_module("numba")
cgutils: Any = import_module("numba.core.cgutils")
event: Any = import_module("numba.core.event")
function_type: Any = import_module("numba.core.types.function_type")
arrayobj: Any = import_module("numba.np.arrayobj")
imputils: Any = import_module("numba.core.imputils")
templates: Any = import_module("numba.core.typing.templates")
types, typeof = numba.types, numba.typeof

Vector: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])
instruction: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.extending.intrinsic

VECTOR = types.Array(types.float64, 1, "C")
_MATRIX = types.Array(types.float64, 2, "C")
_INTEGERS = types.Array(types.int64, 1, "C")
LEARNER_KERNEL = types.void(VECTOR, VECTOR, VECTOR)  # (settings, state, strategy or loss)
GAME_KERNEL = types.void(_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR)  # (integers, data, scratch, profile, losses)
STAGE_KERNEL = types.void(  # (first, end, integers, data, shared and own scratch, profile, losses)
    types.int64, types.int64, _INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR
)
OBSERVER_KERNEL = types.void(VECTOR, types.int64, VECTOR, VECTOR)  # (total, round, strategies, losses)


def kernel(function: Function) -> Function:
    """Compile a function with Numba on first use.

    The machine code is cached for later processes, releases the GIL, and divides by zero as NumPy does. A kernel writes
    into its arguments, does not allocate, and calls only other kernels.

    Parameters
    ----------
    function : callable
        The function. The two kernels of a learner have the arguments ``(settings, state, strategy)`` and
        ``(settings, state, loss)``, all vectors of floats.

    Returns
    -------
    callable
        The compiled function.

    Examples
    --------
    >>> from gamesim.players import Hedge
    >>> plain = Hedge.kernels[1].py_func  # (settings, state, loss): it counts rounds and adds up losses
    >>> observe, state = kernel(plain), np.array([1.0, 0.5, -1.0])  # the same as decorating with @kernel
    >>> observe(np.zeros(1), state, np.array([0.25, 1.0]))
    >>> state
    array([2.  , 0.75, 0.  ])
    """
    return _compile(function)


def inlined(function: Function) -> Function:
    """Compile like `kernel` and inline the code at each call, for the innermost loops."""
    return _compile(function, inline="always")


def phase(function: Function) -> Function:
    """Compile like `kernel`, for `call_phase` alone: without what only calls from Python need.

    The first two arguments are pointers to tuples, whose fields are read like those of tuples.
    """
    return _compile(function, no_cpython_wrapper=True)


def _compile(function: Function, **options: Any) -> Function:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    compiled._cache = KernelCache(function)  # where Numba's `cache=True` puts its own
    resolve = compiled.get_call_template
    # Numba would compile a kernel anew for every constant that another kernel passes to it.
    compiled.get_call_template = lambda given, named: resolve([types.unliteral(kind) for kind in given], named)
    return cast(Function, compiled)


def announce_compilation(say: Callable[[], None]) -> None:
    """Call `say` once, when a kernel is compiled rather than loaded from the cache."""

    class Listener(event.Listener):  # type: ignore[misc]  # untyped
        announced = False

        def on_start(self, event: Any) -> None:
            if not self.announced:
                self.announced = True
                say()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())


@cache
def address(function: Callable[..., None], signature: Any) -> int:
    """Return the address of a kernel's machine code, for `call_learner` or `call_game`."""
    function.compile(signature)  # type: ignore[attr-defined]  # a Numba dispatcher
    return int(function_type.CompileResultWAP(function.overloads[signature.args]).address)  # type: ignore[attr-defined]


_phases: dict[Callable[..., None], int] = {}


def phase_address(function: Callable[..., None], setup: Any, track: Any, given: Vector | int) -> int:
    """Return the address of a phase's machine code, for `call_phase`; all setups, and all tracks, have one type."""
    if function not in _phases:
        pointers = [types.CPointer(typeof(one)) for one in (setup, track)]
        _phases[function] = address(function, types.void(*pointers, types.int64, typeof(given)))
    return _phases[function]


def _lend(context: Any, builder: Any, kind: Any, whole: Any, start: Any, end: Any) -> Any:
    """Create a vector view of the entries start..end-1 of an array, without ownership.

    Numba counts references to arrays with atomic operations. With dozens of views per round this would cost more than
    the learners. A view without an owner is not counted; the caller keeps the arrays alive.
    """
    view = context.make_array(kind)(context, builder)
    data, size = builder.gep(whole.data, [start]), whole.itemsize
    arrayobj.populate_array(view, data, [builder.sub(end, start)], strides=[size], itemsize=size, meminfo=None)
    return view._getvalue()


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = context.get_constant_null(types.MemInfoPointer(kind.dtype))
        view.parent = context.get_constant_null(types.pyobject)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = [builder.extract_value(value, k) for k in range(len(kind))]
        lent = [_without_owner(context, builder, one, item) for one, item in zip(kind, items, strict=True)]
        return context.make_tuple(builder, kind, lent)
    return value


@instruction
def lend(typing: Any, value: Any) -> Any:
    """Return an array, or a tuple of arrays, as views without ownership; the caller keeps the arrays alive."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], given[0])

    return value(value), generate


@instruction
def placed(typing: Any, value: Any) -> Any:
    """Write a tuple of arrays, as by `lend`, into memory, and return a pointer to it, whose fields can be read.

    A large tuple would be copied, number by number, wherever one of its fields is read, which takes seconds to compile.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _place(context, builder, signature.args[0], given[0])

    return types.CPointer(value)(value), generate


def _place(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    slot = cgutils.alloca_once(builder, context.get_value_type(kind))
    builder.store(_without_owner(context, builder, kind, value), slot)
    return builder.bitcast(slot, context.get_value_type(types.CPointer(kind)))


@templates.infer_getattr
class _Fields(templates.AttributeTemplate):  # type: ignore[misc]  # untyped
    """The fields of the tuple at a pointer."""

    key = types.CPointer

    def generic_resolve(self, pointer: Any, name: str) -> Any:
        fields = getattr(pointer.dtype, "fields", ())
        return pointer.dtype[fields.index(name)] if name in fields else None


_lowering: Callable[[Callable[..., Any]], Callable[..., Any]] = imputils.lower_getattr_generic(types.CPointer)


@_lowering
def _read_field(context: Any, builder: Any, kind: Any, pointer: Any, name: str) -> Any:
    place, k = builder.bitcast(pointer, context.get_value_type(kind.dtype).as_pointer()), kind.dtype.fields.index(name)
    value = builder.load(cgutils.gep_inbounds(builder, place, 0, k))
    return _without_owner(context, builder, kind.dtype[k], value)


def _row_type(kind: Any) -> Any:
    """Return the type of a row of every array in a tuple."""
    if isinstance(kind, types.Array):
        return types.Array(kind.dtype, kind.ndim - 1, "C")
    kinds = [_row_type(one) for one in kind]
    same = all(one == kinds[0] for one in kinds)
    made = (types.NamedUniTuple, kinds[0], len(kinds)) if same else (types.NamedTuple, kinds)
    return made[0](*made[1:], kind.instance_class)


def _row(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    if isinstance(kind, types.Array):
        whole, row = context.make_array(kind)(context, builder, value), _row_type(kind)
        shape, strides = (
            [builder.extract_value(one, k) for k in range(1, kind.ndim)] for one in (whole.shape, whole.strides)
        )
        before = index
        for length in shape:
            before = builder.mul(before, length)
        view, data = context.make_array(row)(context, builder), builder.gep(whole.data, [before])
        arrayobj.populate_array(view, data, shape, strides=strides, itemsize=whole.itemsize, meminfo=None)
        return view._getvalue()
    items = [_row(context, builder, one, builder.extract_value(value, k), index) for k, one in enumerate(kind)]
    return context.make_tuple(builder, _row_type(kind), items)


@instruction
def row_of_each(typing: Any, arrays: Any, index: Any) -> Any:
    """Return a row of every array in a tuple, as views without ownership; the caller keeps the arrays alive."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _row(context, builder, signature.args[0], given[0], given[1])

    return _row_type(arrays)(arrays, types.int64), generate


@instruction
def flat(typing: Any, array: Any) -> Any:
    """Return the entries of a contiguous array as a vector without ownership; the caller keeps the array alive."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = context.make_array(signature.args[0])(context, builder, given[0])
        return _lend(context, builder, VECTOR, whole, context.get_constant(types.int64, 0), whole.nitems)

    return VECTOR(array), generate


@instruction
def multiply_add(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x·y + z, rounded once, with the same result on every processor."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.fma(*given)

    return types.float64(types.float64, types.float64, types.float64), generate


@instruction
def prefetch(typing: Any, vector: Any, index: Any) -> Any:
    """Load an entry into the processor's cache, for kernels that read large arrays in no particular order."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(VECTOR)(context, builder, given[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        load = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(data, [given[1]]), byte)
        builder.call(load, [place, number(0), number(3), number(1)])  # for reading, into all levels, of data
        return context.get_dummy_value()

    return types.void(VECTOR, types.int64), generate


@instruction
def part(typing: Any, array: Any, start: Any, end: Any) -> Any:
    """Return array[start:end] as a view without ownership; the caller keeps the array alive."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array, start, end = given
        return _lend(context, builder, VECTOR, context.make_array(VECTOR)(context, builder, array), start, end)

    return VECTOR(VECTOR, types.int64, types.int64), generate


@instruction
def row_part(typing: Any, matrix: Any, row: Any, start: Any, end: Any) -> Any:
    """Return matrix[row, start:end] as a view without ownership; the caller keeps the matrix alive."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        matrix, row, start, end = given
        whole = context.make_array(_MATRIX)(context, builder, matrix)
        before = builder.mul(row, builder.extract_value(whole.shape, 1))
        return _lend(context, builder, VECTOR, whole, builder.add(before, start), builder.add(before, end))

    return VECTOR(_MATRIX, types.int64, types.int64, types.int64), generate


def _lent(context: Any, builder: Any, signature: Any, given: Any) -> list[Any]:
    """Create views without ownership of whole arrays, for a kernel with this signature."""
    lent = []
    for kind, array in zip(signature.args, given, strict=True):
        whole = context.make_array(kind)(context, builder, array)
        start, end = context.get_constant(types.int64, 0), builder.extract_value(whole.shape, 0)
        lent.append(_lend(context, builder, kind, whole, start, end))
    return lent


def _call(context: Any, builder: Any, signature: Any, address: Any, arguments: list[Any]) -> Any:
    function = ir.FunctionType(ir.VoidType(), [context.get_value_type(kind) for kind in signature.args])
    builder.call(builder.inttoptr(address, function.as_pointer()), arguments)
    return context.get_dummy_value()


@instruction
def call_learner(typing: Any, address: Any, settings: Any, state: Any, vector: Any) -> Any:
    """Call a learner's kernel by its address, in compiled code."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _call(context, builder, LEARNER_KERNEL, given[0], _lent(context, builder, LEARNER_KERNEL, given[1:]))

    return types.void(types.int64, *LEARNER_KERNEL.args), generate


@instruction
def call_observer(typing: Any, address: Any, total: Any, round: Any, strategies: Any, losses: Any) -> Any:
    """Call an observer's kernel by its address, in compiled code."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        total, round, strategies, losses = given[1:]
        vectors = types.void(VECTOR, VECTOR, VECTOR)
        lent = _lent(context, builder, vectors, [total, strategies, losses])
        return _call(context, builder, OBSERVER_KERNEL, given[0], [lent[0], round, *lent[1:]])

    return types.void(types.int64, *OBSERVER_KERNEL.args), generate


@instruction
def call_game(typing: Any, address: Any, integers: Any, data: Any, scratch: Any, profile: Any, losses: Any) -> Any:
    """Call a game's kernel by its address, in compiled code."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _call(context, builder, GAME_KERNEL, given[0], _lent(context, builder, GAME_KERNEL, given[1:]))

    return types.void(types.int64, *GAME_KERNEL.args), generate


def product_kernel(work: Any) -> Any:
    """Return the signature of `matrices.add_product`, given the type of its last argument."""
    where = [types.int64] * 3
    return types.void(VECTOR, *where[1:], VECTOR, *where, VECTOR, *where, work)


@instruction
def call_product(
    typing: Any,
    address: Any,
    left: Any,
    at: Any,
    step: Any,
    right: Any,
    first: Any,
    skip: Any,
    count: Any,
    total: Any,
    to: Any,
    height: Any,
    width: Any,
    work: Any,
) -> Any:
    """Call `matrices.add_product`, or a kernel with the same result, by its address, in compiled code."""
    called = product_kernel(work)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        lent = [_without_owner(context, builder, *one) for one in zip(called.args, given[1:], strict=True)]
        return _call(context, builder, called, given[0], lent)

    return types.void(types.int64, *called.args), generate


@instruction
def call_phase(typing: Any, address: Any, setup: Any, track: Any, round: Any, given: Any) -> Any:
    """Call a phase of the loop by its address, in compiled code, with pointers to the setup and the track.

    Numba would compile the code of a phase again as a part of each kernel that calls it. A setup or track that is not
    `placed` yet, as in calls from Python, is placed for the call.
    """

    kinds = [one if isinstance(one, types.CPointer) else types.CPointer(one) for one in (setup, track)]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = [
            value if kind in kinds else _place(context, builder, kind, value)
            for kind, value in zip((setup, track), arguments[1:3], strict=True)
        ]
        lent = _without_owner(context, builder, given, arguments[4])
        called = types.void(*kinds, types.int64, given)
        return _call(context, builder, called, arguments[0], [*places, arguments[3], lent])

    return types.void(types.int64, setup, track, types.int64, given), generate


@instruction
def call_stage(
    typing: Any,
    address: Any,
    first: Any,
    end: Any,
    integers: Any,
    data: Any,
    shared: Any,
    own: Any,
    profile: Any,
    losses: Any,
) -> Any:
    """Call one stage of a game's kernel by its address, in compiled code."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        lent = _lent(context, builder, types.void(*STAGE_KERNEL.args[2:]), given[3:])
        return _call(context, builder, STAGE_KERNEL, given[0], [*given[1:3], *lent])

    return types.void(types.int64, *STAGE_KERNEL.args), generate


def _first_entry(context: Any, builder: Any, integers: Any) -> Any:
    return context.make_array(_INTEGERS)(context, builder, integers).data


@instruction
def add_for_all_threads(typing: Any, integers: Any, amount: Any) -> Any:
    """Add to the first entry of an array that threads share; what this thread wrote before is seen by all."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.atomic_rmw("add", _first_entry(context, builder, given[0]), given[1], "seq_cst")

    return types.int64(_INTEGERS, types.int64), generate


@instruction
def read_from_all_threads(typing: Any, integers: Any) -> Any:
    """Return the first entry of an array that threads share, and see what they wrote before they added to it."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.load_atomic(_first_entry(context, builder, given[0]), "seq_cst", 8)

    return types.int64(_INTEGERS), generate


@instruction
def pause(typing: Any, microseconds: Any) -> Any:
    """Sleep, so that other threads can run. Not on Windows."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        sleep = cgutils.get_or_insert_function(builder.module, kind, "usleep")
        builder.call(sleep, [builder.trunc(given[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.void(types.int64), generate
