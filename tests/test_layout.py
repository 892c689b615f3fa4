"""Test that layouts give the same parts in Python and in kernels, for every kind of shape."""

from typing import NamedTuple

import numpy as np
import pytest

from gamesim import players
from gamesim.engine.compiled import Integers, Vector, kernel
from gamesim.engine.layout import IntegerLayout, Layout
from gamesim.players._kernels.simplex import recall


class Inner(NamedTuple):
    left: Vector
    right: Vector


INNER = Layout(Inner, left="d", right="d // 2")


class Mixed(NamedTuple):
    length: int
    rate: float
    long: Vector
    whole: Integers
    inner: Vector
    rest: Vector


MIXED = Layout(
    Mixed, "d k", length="int", rate="float", long="2 * d + length", whole="int[k]", inner="d + d // 2", rest="rest"
)
mixed_view = MIXED.view


class Graph(NamedTuple):
    players: int
    first: Integers
    edges: Integers


GRAPH = IntegerLayout(Graph, "", players="int", first="players + 1", edges="rest")
graph_view = GRAPH.view


@kernel
def read_mixed(array: Vector, d: int, k: int, out: Vector) -> None:
    length, rate, long, whole, inner, rest = mixed_view(array, d, k)
    out[0], out[1], out[2], out[3] = length, rate, long.size, inner.size
    out[4], out[5], out[6], out[7] = long[long.size - 1], whole[k - 1], inner[0], rest[rest.size - 1]
    inner[0] = 17.0


@kernel
def read_graph(array: Integers, out: Vector) -> None:
    graph = graph_view(array)
    out[0], out[1], out[2] = graph.players, graph.first[graph.players], graph.edges[graph.edges.size - 1]


@pytest.mark.parametrize(("d", "k", "count"), [(1, 1, 0), (5, 3, 2), (8, 1, 7)])
def test_a_kernel_sees_the_parts_that_python_packs(d: int, k: int, count: int) -> None:
    long = np.arange(2.0 * d + count)
    whole = np.arange(k) + 2**60 + 1  # not representable as a float
    inner, rest = 100 + np.arange(d + d // 2), np.array([0.5, 0.25])
    array = MIXED.pack(d, k, length=count, rate=0.75, long=long, whole=whole, inner=inner, rest=rest)
    out = np.zeros(8)
    read_mixed(array, d, k, out)
    expected = [count, 0.75, long.size, inner.size, long[-1], float(whole[-1]), 100, 0.25]
    assert out.tolist() == expected
    parts = MIXED.parts(array, d, k)
    assert (parts.length, parts.rate) == (count, 0.75)
    assert parts.whole.tolist() == whole.tolist() and parts.rest.tolist() == rest.tolist()
    assert parts.inner[0] == 17.0  # what the kernel wrote


def test_whole_numbers_have_layouts_too() -> None:
    array = GRAPH.pack(players=2, first=[0, 3, 5], edges=[7, 8, 9])
    out = np.zeros(3)
    read_graph(array, out)
    assert array.dtype == np.int64 and out.tolist() == [2, 5, 9]


def test_a_layout_as_a_part_has_its_own_length() -> None:
    class Outer(NamedTuple):
        first: Vector
        inner: Vector

    assert Layout(Outer, first="1", inner=INNER).size(7) == 1 + 7 + 3


def test_mistakes_in_a_declaration_are_refused() -> None:
    with pytest.raises(TypeError, match="parts"):
        Layout(Inner, left="d")
    with pytest.raises(TypeError, match="shape may use"):
        Layout(Inner, left="d", right="size").size(3)
    with pytest.raises(ValueError, match="left of Inner needs 3 numbers"):
        INNER.pack(3, left=[1.0, 2.0])


def test_learners_that_play_from_the_front_of_their_state_keep_their_strategy_there() -> None:
    found = [kind for kind in players.available().values() if kind.kernels[0] is recall]
    assert len(found) > 10
    assert all(kind.state_layout.names[0] == "strategy" for kind in found)
