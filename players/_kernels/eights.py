"""Eight numbers at a time, in kernels.

Left to itself, the compiler checks before each loop that its arrays do not overlap, and adds loops for the remainder.
For short rows this takes longer than the work. Here loops take eight numbers at a time explicitly: `take` and `put`
move them, and the operators, comparisons, `abs`, `min` and `max` act on each of them. Results do not depend on how wide
the processor's vectors are. A function that uses only these, `choose` and `multiply_and_add` also takes single numbers.
"""

import operator
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from gamesim.engine.compiled import VECTOR, cgutils, instruction, ir, types

# Numba's type annotations differ between versions, so this file treats Numba as untyped.
extending: Any = import_module("numba.extending")
templates: Any = import_module("numba.core.typing.templates")

WIDTH = 8
LANES: Any = ir.VectorType(ir.DoubleType(), WIDTH)
CHOICES: Any = ir.VectorType(ir.IntType(1), WIDTH)
Lower = Callable[..., Any]
Number: TypeAlias = Any  # a number or eight, in a kernel


class Eight(types.Type):  # type: ignore[misc]  # untyped
    """The type of eight numbers, or of the results of eight comparisons."""


NUMBERS, TRUTHS, NUMBER = Eight("eight numbers"), Eight("eight truths"), types.float64


@extending.register_model(Eight)
class _Model(extending.models.PrimitiveModel):  # type: ignore[misc]  # untyped
    """Eight numbers are one vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, LANES if kind is NUMBERS else CHOICES)


def _alike(builder: Any, value: Any) -> Any:
    """Return eight copies of a number; eight numbers remain what they are."""
    if isinstance(value.type, ir.VectorType):
        return value
    undefined, first = ir.Constant(LANES, ir.Undefined), ir.IntType(32)(0)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(builder.insert_element(undefined, value, first), undefined, zeros)


def _define(function: Any, lower: Lower, result: Any, *cases: tuple[Any, ...]) -> None:
    """Let kernels apply a function or operator to eight numbers at a time."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return lower(builder, *given)

    signatures = [templates.signature(result, *case) for case in cases]
    templates.infer_global(function)(
        type("_Template", (templates.ConcreteTemplate,), {"key": function, "cases": signatures})
    )
    for case in cases:
        extending.lower_builtin(function, *case)(generate)


def _named(builder: Any, name: str, *given: Any) -> Any:
    """Return the result of an instruction that has a name only, all of whose arguments have one type."""
    kind = ir.FunctionType(given[0].type, [one.type for one in given])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)


def _of_two(method: str, *before: Any) -> Lower:
    """Return how to apply an instruction to two arguments, at least one of them eight numbers."""
    return lambda builder, one, two: getattr(builder, method)(*before, _alike(builder, one), _alike(builder, two))


def _extreme(symbol: str, builder: Any, one: Any, two: Any) -> Any:
    one, two = _alike(builder, one), _alike(builder, two)
    return builder.select(builder.fcmp_ordered(symbol, one, two), one, two)


def _absolute(builder: Any, one: Any) -> Any:
    return _named(builder, "llvm.fabs.v8f64", one)


_PAIRS = (NUMBERS, NUMBERS), (NUMBERS, NUMBER), (NUMBER, NUMBERS)
for _operation, _method in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_operation, _of_two(_method), NUMBERS, *_PAIRS)
for _operation, _symbol in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _define(_operation, _of_two("fcmp_ordered", _symbol), TRUTHS, *_PAIRS)
_define(operator.ne, _of_two("fcmp_unordered", "!="), TRUTHS, *_PAIRS)
_define(operator.and_, _of_two("and_"), TRUTHS, (TRUTHS, TRUTHS))
_define(operator.or_, _of_two("or_"), TRUTHS, (TRUTHS, TRUTHS))
_define(operator.neg, lambda builder, one: builder.fneg(one), NUMBERS, (NUMBERS,))
_define(min, partial(_extreme, "<"), NUMBERS, *_PAIRS)
_define(max, partial(_extreme, ">"), NUMBERS, *_PAIRS)
_define(abs, _absolute, NUMBERS, (NUMBERS,))


def _place(context: Any, builder: Any, vector: Any, at: Any) -> Any:
    data = context.make_array(VECTOR)(context, builder, vector).data
    return builder.bitcast(builder.gep(data, [at]), LANES.as_pointer())


@instruction
def take(typing: Any, vector: Any, at: Any) -> Any:
    """Return the eight numbers of a vector from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.load(_place(context, builder, *given), align=8)

    return NUMBERS(VECTOR, types.int64), generate


@instruction
def put(typing: Any, vector: Any, at: Any, eight: Any) -> Any:
    """Write eight numbers into a vector, from `at` on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        builder.store(_alike(builder, given[2]), _place(context, builder, *given[:2]), align=8)
        return context.get_dummy_value()

    return types.void(VECTOR, types.int64, eight), generate


@instruction
def eight(typing: Any, number: Any) -> Any:
    """Return eight copies of a number."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _alike(builder, given[0])

    return NUMBERS(NUMBER), generate


@instruction
def only(typing: Any, lane: Any, number: Any) -> Any:
    """Return eight numbers: this one in a lane, and zeros."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.insert_element(ir.Constant(LANES, [0.0] * WIDTH), given[1], given[0])

    return NUMBERS(types.int64, NUMBER), generate


@instruction
def multiply_and_add(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x·y + z, rounded once: a number, or eight if one of the arguments is eight numbers."""
    several = NUMBERS in (x, y, z)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        if several:
            return _named(builder, "llvm.fma.v8f64", *(_alike(builder, one) for one in given))
        return builder.fma(*given)

    result = NUMBERS if several else NUMBER
    return result(*(one if one is NUMBERS else NUMBER for one in (x, y, z))), generate


@instruction
def choose(typing: Any, condition: Any, first: Any, second: Any) -> Any:
    """Return the first where the condition holds, and the second elsewhere: numbers, or eight at a time."""
    several = condition is TRUTHS

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        condition, *both = given
        return builder.select(condition, *(_alike(builder, one) if several else one for one in both))

    kinds = (one if one is NUMBERS else NUMBER for one in (first, second))
    return (NUMBERS if several else NUMBER)(TRUTHS if several else types.boolean, *kinds), generate


@instruction
def count_of(typing: Any, truths: Any) -> Any:
    """Return how many of eight comparisons hold."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.zext(builder.ctpop(builder.bitcast(given[0], ir.IntType(WIDTH))), ir.IntType(64))

    return types.int64(TRUTHS), generate


@instruction
def some(typing: Any, truths: Any) -> Any:
    """Return whether one of eight comparisons holds."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.icmp_unsigned("!=", builder.bitcast(given[0], ir.IntType(WIDTH)), ir.IntType(WIDTH)(0))

    return types.boolean(TRUTHS), generate


@instruction
def sum_of_eight(typing: Any, numbers: Any) -> Any:
    """Return the sum of eight numbers: those four apart are added first, then neighbours."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        numbers = [builder.extract_element(given[0], ir.IntType(32)(k)) for k in range(WIDTH)]
        a, b, c, d = (builder.fadd(one, two) for one, two in zip(numbers[:4], numbers[4:], strict=True))
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    return NUMBER(NUMBERS), generate


@instruction
def rounded_reciprocal_root(typing: Any, x: Any) -> Any:
    """Return 1 / √x of a number, or of eight, in single precision."""
    several = x is NUMBERS

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        single = ir.VectorType(ir.FloatType(), WIDTH) if several else ir.FloatType()
        name, one = ("llvm.sqrt.v8f32", [1.0] * WIDTH) if several else ("llvm.sqrt.f32", 1.0)
        root = _named(builder, name, builder.fptrunc(given[0], single))
        return builder.fpext(builder.fdiv(ir.Constant(single, one), root), given[0].type)

    kind = NUMBERS if several else NUMBER
    return kind(kind), generate
