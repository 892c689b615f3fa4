import shutil
from collections.abc import Callable
from functools import cache
from math import log, sqrt
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

import gamesim
from gamesim import Record, Table, figures, games
from gamesim.equilibrium import polytope
from gamesim.errors import InputError
from gamesim.figures import curves, style, surface
from gamesim.figures.animation import Animation
from gamesim.figures.joint import matrix
from gamesim.figures.payoff_space import equilibrium_payoffs
from gamesim.figures.profile import _cut_off
from gamesim.figures.study import study
from gamesim.figures.tetrahedron import edges, flat, seen
from gamesim.figures.triangles import CORNERS
from gamesim.learner import PLAIN_REGRETS, Feedback
from gamesim.measure.trend import power
from gamesim.measure.trend_words import in_words
from gamesim.report import summary as report
from gamesim.study.axes import AxisSummary
from gamesim.study.description import Description
from gamesim.study.results import Results
from gamesim.study.store import Row

pytestmark = pytest.mark.slow

ODD = Table.from_payoffs(
    np.array([[[1, 2, 3], [2, 1, 0.5]], [[0, 1, 30], [3, 1, 2]]]),
    name="A $very$ long name of a game_with <odd> & letters 鶏",
    players=["_Somebody with a long name", "Ünß"],
    actions=[["cooperate with all the neighbours in town", "$x^2$"], ["a", "_b", "鶏のゲーム"]],
)


@cache
def run(game: str, learner: str = "hedge", rounds: int = 300, replicas: int | None = None, **settings: Any) -> Record:
    made = ODD if game == "odd" else games.make(game, **settings)
    feedback: Feedback = "expected" if replicas is None else "sampled"
    return gamesim.simulate(made, learner, rounds=rounds, perturb=0.3, seed=1, replicas=replicas, feedback=feedback)


@style.styled
def drawn(figure: Figure | None) -> Figure:
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def data(axes: Axes, index: int) -> np.ndarray[Any, Any]:
    return np.asarray(axes.lines[index].get_ydata(), dtype=float)


def corners_of(line: Line2D) -> list[tuple[float, float]]:
    x, y = (np.asarray(part, dtype=float).tolist() for part in line.get_data())
    return list(zip(x, y, strict=True))


def labels(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def written_on(axis: Axis) -> list[str]:
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [text.get_text() for place, text in ticks if low <= place <= high]


def note_under(figure: Figure) -> str:
    (legend,) = figure.legends
    return legend.get_title().get_text()


def curve_in(axes: Axes, values: np.ndarray[Any, Any]) -> bool:
    return any(
        len(line.get_xdata()) == len(values) and np.allclose(np.asarray(line.get_ydata(), dtype=float), values)  # type: ignore[arg-type]
        for line in axes.lines
    )


# Every figure, of every kind of run.

SHAPES: dict[str, Callable[[], Record]] = {
    "2x2": lambda: run("chicken"),
    "one round": lambda: run("chicken", rounds=1),
    "odd labels": lambda: run("odd", rounds=50),
    "no regret": lambda: gamesim.simulate("rock-paper-scissors", "uniform", rounds=20),
    "three players": lambda: run("jordan"),
    "twenty actions": lambda: run("uniform", actions=(3, 20)),
    "eight players": lambda: run("el-farol", players=8),
    "replicas": lambda: run("chicken", "regret-matching", replicas=3),
    "one player": lambda: gamesim.simulate(Table.from_payoffs([[1.0, 2.0, 3.0]]), "hedge", rounds=20),
    "one action": lambda: gamesim.simulate(Table.from_payoffs([[[1.0]], [[2.0]]]), "hedge", rounds=20),
    "network": lambda: run("network-coordination"),
    "larger network": lambda: run("polymatrix", rounds=40),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_figure_has_a_sentence_and_labelled_axes(shape: str) -> None:
    record = SHAPES[shape]()
    before = dict(matplotlib.rcParams)
    for name, draw in figures.figure_functions().items():
        figure = draw(record)
        if figure is None:
            continue
        assert len(figures.title_of(figure).split()) >= 4, name
        shown = [axes for axes in figure.axes if axes.axison and axes.get_label() != "<colorbar>"]
        for axes in shown:
            shared = [other.get_xlabel() for other in axes.get_shared_x_axes().get_siblings(axes)]
            assert any(shared), name
    assert dict(matplotlib.rcParams) == before


def test_a_run_is_drawn_as_vectors_and_pixels_and_always_the_same(tmp_path: Path) -> None:
    record = run("odd", rounds=50)
    paths = figures.draw_run(record, tmp_path)
    fitting = {
        name: figure for name, draw in figures.figure_functions().items() if (figure := draw(record)) is not None
    }
    assert [path.name for path in paths] == [f"{name}.{kind}" for name in fitting for kind in ("svg", "png")]
    for path in paths:
        if path.suffix == ".svg":
            root = ElementTree.fromstring(path.read_text())
            assert root.findtext("{http://www.w3.org/2000/svg}title") == figures.title_of(fitting[path.stem])
            assert "dc:date" not in path.read_text()
        else:
            with Image.open(path) as picture:
                assert picture.width > 500
    (tmp_path / "again").mkdir()
    for name in ("strategies", "joint"):
        for again in figures.write(fitting[name], tmp_path / "again" / name):
            assert again.read_bytes() == (tmp_path / again.name).read_bytes()


def test_a_wide_sentence_is_broken_into_lines_of_like_length() -> None:
    figure, _ = surface.canvas("one two three four " * 6)
    lines = figure.get_suptitle().split("\n")
    assert len(lines) == 2
    assert abs(len(lines[0]) - len(lines[1])) < 12


# Gaps and regrets.


def test_gaps_show_what_the_record_measures() -> None:
    record = run("shapley", rounds=2000)
    figure = drawn(curves.gaps(record))
    gap, distance = figure.axes
    for axes, measure, words in (
        (gap, record.curve.gap, "{} gap"),
        (distance, record.curve.distance, "distance to {}"),
    ):
        for kind in ("ce", "cce"):
            values = measure(kind)
            assert curve_in(axes, values)
            fitted = power(record.curve.rounds, values)
            assert (fitted is None) == (measure == record.curve.distance and kind == "ce")
            slope = (
                "" if fitted is None else f": slope {fitted.exponent:.2f}".replace("-0.00", "0.00").replace("-", "−")
            )
            assert words.format(kind.upper()) + slope in labels(axes)
        assert axes.get_xscale() == axes.get_yscale() == "log"
    assert f"CE gap is {record.gap('ce'):.3g}" in figures.title_of(figure)


def test_gaps_say_why_distances_are_left_out() -> None:
    figure = drawn(curves.gaps(run("network-coordination")))
    assert len(figure.axes) == 1
    assert "Distances not computed" in note_under(figure)


def test_distances_of_many_replicas_are_those_of_the_first() -> None:
    record = run("chicken", "regret-matching", rounds=200, replicas=12)
    figure = drawn(curves.gaps(record))
    assert "replica 1 of 12" in note_under(figure)
    first = record[0].curve.distance("ce")
    assert curve_in(figure.axes[1], np.where(first > curves.ZERO, first, np.nan)) or (first <= curves.ZERO).any()


def test_regrets_show_totals_and_declared_bounds_in_payoff_units() -> None:
    record = run("odd", rounds=200)
    figure = drawn(curves.regrets(record))
    rounds = record.curve.rounds
    for axes, kind in zip(figure.axes, PLAIN_REGRETS, strict=True):
        for i in range(2):
            assert curve_in(axes, record.curve.regret(kind)[:, i])
    # Hedge's bound with T rounds, d actions and losses of range 2, and once a loss of 2 for the perturbed start;
    # Column's payoffs range over 30 and it has 3 actions.
    column = [15 * (2 * (sqrt(2 * t * log(3)) + sqrt(log(3) / 8)) + 2) for t in rounds]
    assert curve_in(figure.axes[0], np.array(column))
    assert "bound of Ünß" in labels(figure.axes[0])
    assert not any("bound of Ünß" in labels(axes) for axes in figure.axes[1:])
    # Row has two actions, so that its internal regret is external, its swap regret twice that; its start may cost 4.
    row = np.array([2 * (sqrt(2 * t * log(2)) + sqrt(log(2) / 8)) for t in rounds])
    for axes, bound in zip(figure.axes[1:], (row + 2, 2 * row + 4), strict=True):
        assert curve_in(axes, ODD.scale[0] * bound)


def test_a_bound_has_the_look_of_its_player_in_every_panel() -> None:
    learners = ["hedge", "wavelet-continuous"]  # the first has no internal and no swap bound
    figure = drawn(curves.regrets(gamesim.simulate("shapley", learners, rounds=100, perturb=0.1)))
    for axes in figure.axes:
        legend = axes.get_legend()
        assert legend is not None
        handles = dict(zip(labels(axes), legend.get_lines(), strict=True))
        for i, name in enumerate(("Row", "Column")):
            bound = handles.get(f"bound of {name}")
            assert (bound is None) == (i == 0 and not axes.get_title().startswith("external"))
            assert bound is None or bound.get_color() == style.COLOURS[i]
    shared = drawn(curves.regrets(run("chicken"))).axes[0]
    (bound,) = [line for line in shared.lines if line.get_marker() == "_"]
    assert "declared bound" in labels(shared)
    assert bound.get_color() not in style.COLOURS[: style.FEW]


def test_thin_lines_and_hollow_marks_are_named() -> None:
    figure = drawn(
        curves.regrets(gamesim.simulate("shapley", ["hedge", "wavelet-continuous"], rounds=300, perturb=0.1))
    )
    for axes in figure.axes:
        drawn_marks = {str(line.get_label()) for line in axes.lines} & {curves.FITTED, curves.NOTHING}
        assert {*labels(axes)} & {curves.FITTED, curves.NOTHING} == drawn_marks
    assert {curves.FITTED, curves.NOTHING} <= {label for axes in figure.axes for label in labels(axes)}


def test_the_title_of_regrets_says_what_was_measured() -> None:
    record = run("shapley", rounds=2000)
    words = in_words(report.summarise(record).trends["ce"], since=True)
    title = figures.title_of(drawn(curves.regrets(record)))
    assert title == f"In shapley, the largest swap regret per round {words}".replace("^-", "^−")


@pytest.mark.parametrize(("least", "most", "plain"), [(1e-4, 20_000, True), (1e-6, 2000, False), (1, 200_000, False)])
def test_the_ticks_of_a_figure_have_one_notation(least: float, most: int, plain: bool) -> None:
    figure, panels = surface.canvas("two panels of different lengths", 2)
    for panel, low, last in zip(panels, (0.1, least), (100, most), strict=True):
        rounds = np.array([1, 10, last])
        curves.line(panel, rounds, np.array([[1.0, 0.5, low]]), 0)
        curves.log_axes(panel, rounds, "gap")
    drawn(figure)
    written = [text for panel in panels for axis in (panel.xaxis, panel.yaxis) for text in written_on(axis)]
    assert len(written) > 8
    assert {text[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" for text in written} == {not plain}
    assert not any("e" in text for text in written)


@pytest.mark.parametrize(
    ("measure", "values", "scale"),
    [
        ("ce-gap-slope", [[-0.5, -0.7], [-0.6, -0.9]], "linear"),
        ("external-regret", [[0.1, 3.0], [1.0, 2.0]], "linear"),  # only an interval reaches below 0
        ("external-regret", [[1.0, 1.01], [1.0, 1.02]], "log"),
        ("ce-gap-share", [[0.0, 0.1], [0.01, 0.02]], "log"),
    ],
)
def test_a_study_of_what_can_be_negative_has_linear_axes(measure: str, values: list[list[float]], scale: str) -> None:
    rows = [
        Row(f"{T} {seed}", {"rounds": T}, seed, "done", {measure: value}, None, 1.0)
        for T, each in zip((10, 1000), values, strict=True)
        for seed, value in enumerate(each)
    ]
    rounds: AxisSummary = {"name": "rounds", "role": "rounds", "values": [10, 1000]}
    description = Description("mine", "A study of my own", measures=(measure,), axes=(rounds,))
    results = Results(description, rows)
    along, spread = drawn(study(results, measure)).axes
    assert (along.get_xscale(), along.get_yscale(), spread.get_xscale()) == ("log", scale, scale)
    np.testing.assert_allclose(data(along, 0), np.mean(values, axis=1))
    low, high = along.get_ylim()
    assert low < min(data(along, 0)) and max(data(along, 0)) < high
    for axis in (along.xaxis, along.yaxis, spread.xaxis, spread.yaxis):
        assert len(written_on(axis)) >= 2
    assert along.get_ylabel() == measure.replace("ce-", "CE ").replace("-", " ") + ", mean"


def test_a_crowd_is_shown_by_its_largest_and_its_median() -> None:
    record = run("el-farol", players=8)
    figure = drawn(curves.regrets(record))
    regret = record.curve.regret("swap")
    assert curve_in(figure.axes[2], regret.max(axis=1))
    assert curve_in(figure.axes[2], np.median(regret, axis=1))
    assert any("largest of 8" in label for label in labels(figure.axes[2]))


def test_zeros_are_marked_on_the_edge_of_a_logarithmic_axis() -> None:
    figure, panels = surface.canvas("zeros and others")
    rounds = np.array([1, 10, 100, 1000, 10_000])
    _, fitted = curves.line(panels[0], rounds, np.array([[0.5, 0.0, -2.0, 0.25, 0.125]]), 0)
    curves.log_axes(panels[0], rounds, "gap")
    drawn(figure)
    assert fitted is None
    np.testing.assert_array_equal(data(panels[0], 0), [0.5, np.nan, np.nan, 0.25, 0.125])
    assert np.asarray(panels[0].lines[1].get_xdata()).tolist() == [10, 100]
    low, high = panels[0].get_ylim()
    assert low < 0.125
    assert high > 0.5


def test_a_run_without_any_regret_says_so() -> None:
    figure = drawn(curves.gaps(gamesim.simulate("rock-paper-scissors", "uniform", rounds=30)))
    assert all("0 at every checkpoint" in [text.get_text() for text in axes.texts] for axes in figure.axes)


def test_the_fitted_line_is_the_power_that_the_verdict_tells() -> None:
    _, panels = surface.canvas("a late power")
    rounds = np.unique(np.geomspace(1, 10_000, 41).astype(int))
    values = np.where(rounds < 1000, 0.5, 30 * rounds**-0.5)
    curves.line(panels[0], rounds, values[None], 0)
    (fitted,) = [line for line in panels[0].lines if line.get_label() == curves.FITTED]
    assert np.asarray(fitted.get_xdata()).tolist() == [1000, 10_000]
    np.testing.assert_allclose(np.asarray(fitted.get_ydata()), [30 / np.sqrt(1000), 0.3])
    _, none = curves.line(panels[0], rounds, np.where(rounds < 3000, 0.5, 0.1)[None], 1)
    assert none is None


def test_the_band_is_the_confidence_interval_of_the_mean() -> None:
    mean, low, high = curves.band(np.array([[1.0, 4.0], [3.0, 4.0]]))
    np.testing.assert_allclose(mean, [2, 4])
    np.testing.assert_allclose(high - mean, [12.7062047, 0], rtol=1e-6)  # t(0.975, 1) times sqrt(2) / sqrt(2)
    np.testing.assert_allclose(mean - low, high - mean)


def test_compare_draws_each_run_with_its_slope_and_band() -> None:
    records = {"plain": run("chicken"), "_many": run("chicken", "regret-matching", replicas=3)}
    figure = drawn(figures.compare(records))
    (axes,) = figure.axes
    assert curve_in(axes, records["plain"].curve.gap("ce"))
    assert curve_in(axes, records["_many"].curve.gap("ce").mean(axis=0))
    assert len(axes.collections) == 1
    assert [label.strip().split(":")[0] for label in labels(axes)][:2] == ["plain", "_many"]
    best = min(records, key=lambda label: float(np.mean(records[label].gap("ce"))))
    assert best in figures.title_of(figure)


# Profile, strategies, joint.


def test_profiles_show_both_families_of_each_player() -> None:
    record = run("odd", rounds=200)
    figure = drawn(figures.figure_functions()["profile"](record))
    for i, axes in enumerate(figure.axes):
        together, alone = record.profile(i)
        assert curve_in(axes, together)
        assert curve_in(axes, alone)
        k = np.arange(1, record.game.sizes[i] + 1)
        assert curve_in(axes, max(together[0], alone[0]) * np.sqrt(k))
        assert np.asarray(axes.lines[0].get_xdata()).tolist() == k.tolist()


def test_a_profile_tells_the_bounds_that_it_draws() -> None:
    for game, near in (("shapley", True), ("chicken", False)):  # in chicken there is hardly any regret
        for axes in drawn(figures.figure_functions()["profile"](run(game, rounds=10_000))).axes:
            assert ("declared bound" in [line.get_label() for line in axes.lines]) == near
            assert ("guarantee: external regret ≤" in axes.get_title()) == near


def test_what_is_far_below_no_regret_is_told_at_the_edge_of_a_profile() -> None:
    panel = surface.canvas("two families")[1][0]
    families = [np.array([-1200.0, 3.0, 10.0]), np.array([2.0, 6.0, 10.0])]
    for family in families:
        panel.plot([1, 2, 3], family)
    _cut_off(panel, np.array([1, 2, 3]), families)
    assert panel.get_ylim()[0] == pytest.approx(-6)
    assert [text.get_text() for text in panel.texts] == ["↓ −1,200"]
    assert panel.texts[0].xy == (1, pytest.approx(-6))  # type: ignore[attr-defined]
    nothing = surface.canvas("no regret")[1][0]
    nothing.plot([1, 2], [-150.0, 0.0])
    _cut_off(nothing, np.array([1, 2]), [np.array([-150.0, 0.0])])
    assert nothing.get_ylim()[0] < -150


@pytest.mark.parametrize(("game", "scale"), [("chicken", "log"), ("shapley", "linear")])
def test_time_is_logarithmic_where_all_moves_are_early(game: str, scale: str) -> None:
    figure = drawn(figures.figure_functions()["strategies"](run(game, rounds=10_000)))
    assert {axes.get_xscale() for axes in figure.axes} == {scale}
    assert len(written_on(figure.axes[-1].xaxis)) >= 3


def test_cells_are_rounded_once() -> None:
    panel = surface.canvas("a joint distribution")[1][0]
    actions = (("a", "b"), ("c", "d"))
    matrix(panel, np.array([[0.24352, 0.24349], [4e-5, 0.51295]]), ("Row", "Column"), actions, 0.6)
    assert [text.get_text() for text in panel.texts] == ["0.244", "0.243", "0", "0.513"]


def test_strategies_are_those_of_the_trajectory() -> None:
    record = run("odd", rounds=100)
    rounds, played = record.trajectory
    row, column = drawn(figures.figure_functions()["strategies"](record)).axes
    assert len(row.lines) == 1  # of two actions the second says all
    assert curve_in(row, played[0][:, 1])
    assert all(curve_in(column, played[1][:, a]) for a in range(3))
    assert np.asarray(row.lines[0].get_xdata()).tolist() == rounds.tolist()


def test_many_actions_and_crowds_are_images() -> None:
    record = run("uniform", actions=(3, 20))
    row, column, *_ = drawn(figures.figure_functions()["strategies"](record)).axes
    np.testing.assert_array_equal(np.asarray(column.images[0].get_array()), record.trajectory[1][1].T)
    assert not row.images
    crowd = run("el-farol", players=8)
    axes = drawn(figures.figure_functions()["strategies"](crowd)).axes[0]
    np.testing.assert_array_equal(
        np.asarray(axes.images[0].get_array()), np.stack([part[:, 1] for part in crowd.trajectory[1]])
    )
    mixed = run("polymatrix", rounds=40)
    axes = drawn(figures.figure_functions()["strategies"](mixed)).axes[0]
    assert curve_in(axes, np.mean([part[:, 2] for part in mixed.trajectory[1]], axis=0))


def test_the_joint_is_not_transposed() -> None:
    record = run("odd", rounds=100)
    axes = drawn(figures.figure_functions()["joint"](record)).axes[0]
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), record.joint)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cooperate wit…", "$x^2$"]
    assert [text.get_text().strip() for text in axes.get_xticklabels()] == ["a", "_b", "鶏のゲーム"]
    assert record.joint is not None
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert float(written[2, 0]) == pytest.approx(record.joint[0, 2], abs=5e-3)


def test_the_joint_of_three_players_is_cut_by_the_third() -> None:
    record = run("uniform", players=3, actions=(2, 3, 4))
    axes = drawn(figures.figure_functions()["joint"](record)).axes
    assert record.joint is not None
    for a in range(4):
        np.testing.assert_array_equal(np.asarray(axes[a].images[0].get_array()), record.joint[:, :, a])


def test_the_joint_of_a_crowd_is_its_likeliest_profiles() -> None:
    record = run("el-farol", players=8)
    axes = drawn(figures.figure_functions()["joint"](record)).axes[0]
    assert record.joint is not None
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, np.sort(record.joint.ravel())[::-1][: len(widths)])
    profile = np.unravel_index(record.joint.argmax(), record.joint.shape)
    likeliest = ", ".join(("stay", "go")[a] for a in profile)
    assert axes.get_yticklabels()[0].get_text() == likeliest


# Triangles and networks.


def test_triangles_follow_the_strategies() -> None:
    record = run("shapley", rounds=2000)
    figure = drawn(figures.figure_functions()["triangles"](record))
    for i, axes in enumerate(figure.axes[:2]):
        (path,) = [part for part in axes.collections if isinstance(part, LineCollection)]
        points = np.array([segment[0] for segment in path.get_segments()] + [path.get_segments()[-1][1]])
        played = np.array([record.trajectory[1][i][0], record.last[i]]) @ CORNERS
        np.testing.assert_allclose(points[[0, -1]], played)
        nearest = np.hypot(*(played[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1)
        assert nearest.max() < 0.0021
        places = {text.get_text(): text.xy for text in axes.texts if text.get_text()}  # type: ignore[attr-defined]
        for label, corner in zip(record.game.actions[i], CORNERS, strict=True):
            np.testing.assert_array_equal(places[label], corner)
    assert figures.figure_functions()["triangles"](run("chicken")) is None


def test_networks_show_the_last_strategies() -> None:
    record = run("network-coordination")
    axes = drawn(figures.figure_functions()["network"](record)).axes[0]
    (dots,) = [part for part in axes.collections if isinstance(part, PathCollection)]
    np.testing.assert_array_equal(np.asarray(dots.get_array()), [part[-1, 1] for part in record.trajectory[1]])
    (edges,) = [part for part in axes.collections if isinstance(part, LineCollection)]
    assert len(edges.get_segments()) == 10
    lengths = [np.hypot(*(segment[0] - segment[1])) for segment in edges.get_segments()]
    np.testing.assert_allclose(lengths, lengths[0], rtol=0.05)  # a cycle looks like one
    assert figures.figure_functions()["network"](run("chicken")) is None


def test_a_network_of_many_actions_shows_the_likeliest() -> None:
    record = run("polymatrix", rounds=40)
    axes = drawn(figures.figure_functions()["network"](record)).axes[0]
    counts = np.bincount([int(part[-1].argmax()) for part in record.trajectory[1]])
    sizes = [len(part.get_offsets()) for part in axes.collections if isinstance(part, PathCollection)]  # type: ignore[arg-type]
    assert sizes == [count for count in counts if count]


# The sets of equilibria.


def test_the_tetrahedron_shows_the_equilibria_and_the_path_of_chicken() -> None:
    record = run("chicken")
    axes = drawn(figures.figure_functions()["tetrahedron"](record)).axes[0]
    joints = record.curve.joint()
    assert joints is not None
    (path,) = [part for part in axes.collections if isinstance(part, LineCollection) and part.get_array() is not None]
    points = np.array([segment[0] for segment in path.get_segments()] + [path.get_segments()[-1][1]])
    np.testing.assert_allclose(points, seen(flat(joints))[:, :2])
    # The correlated equilibria of Chicken have five corners: two pure, one mixed Nash, and two that are correlated.
    nash = [np.outer([2 / 3, 1 / 3], [2 / 3, 1 / 3]), np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]])]
    correlated = [np.array([[2, 1], [1, 0]]) / 4, np.array([[0, 2], [2, 1]]) / 5]
    expected = seen(flat(np.array([*nash, *correlated])))[:, :2]
    shown = {tuple(np.round(point, 6)) for line in axes.lines for point in corners_of(line)}
    assert {tuple(np.round(point, 6)) for point in expected} <= shown
    (stars,) = [line for line in axes.lines if line.get_marker() == "*"]
    places = {tuple(np.round(place, 6)) for place in corners_of(stars)}
    assert places == {tuple(np.round(point, 6)) for point in expected[:3]}
    said = [str(part.get_label()) for part in (*axes.lines, *axes.patches)]
    assert "CE and CCE (the same set)" in said
    (last,) = [line for line in axes.lines if line.get_marker() == "s"]
    assert last.get_label() == "all rounds"  # the joint distribution of all rounds


def test_the_corners_of_the_tetrahedron_are_named_by_their_cells() -> None:
    game = Table.from_payoffs([[[1, 2], [3, 0]], [[0, 1], [2, 5]]], actions=[["a", "b"], ["c", "d"]])
    record = gamesim.simulate(game, "hedge", rounds=10)
    axes = drawn(figures.figure_functions()["tetrahedron"](record)).axes[0]
    places = {text.get_text(): text.xy for text in axes.texts}  # type: ignore[attr-defined]
    only_b_c = np.array([[[0.0, 0.0], [1.0, 0.0]]])
    np.testing.assert_allclose(places["b,\nc"], seen(flat(only_b_c))[0, :2])


def test_tetrahedra_stand_side_by_side() -> None:
    figure = figures.tetrahedra({"one": run("chicken"), "two": run("chicken", "regret-matching")})
    assert [axes.get_title().split(":")[0] for axes in drawn(figure).axes] == ["one", "two"]
    assert figures.tetrahedra({"one": run("chicken"), "two": run("shapley", rounds=2000)}) is None


@pytest.mark.parametrize(
    ("points", "pairs"),
    [
        ([[0, 0, 0], [0, 0, 0]], 0),
        ([[0, 0, 0], [1, 1, 1]], 1),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], 4),
        ([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], 12),
    ],
    ids=["point", "line", "square", "cube"],
)
def test_edges_of_bodies_of_every_dimension(points: list[list[int]], pairs: int) -> None:
    assert len(edges(np.array(points, dtype=float))[1]) == pairs


def test_payoff_regions_have_the_corners_of_the_sets() -> None:
    chicken = games.make("chicken")
    corners = equilibrium_payoffs(chicken, "ce")
    expected = {(7.0, 2.0), (2.0, 7.0), (5.25, 5.25), (3.6, 3.6)}  # (14/3, 14/3) lies inside
    assert {tuple(np.round(corner, 6)) for corner in corners} == expected
    record = run("chicken")
    axes = drawn(figures.figure_functions()["payoff-space"](record)).axes[0]
    (path,) = [part for part in axes.collections if isinstance(part, LineCollection)]
    np.testing.assert_allclose([segment[1] for segment in path.get_segments()], record.curve.payoffs()[1:])
    assert axes.get_xlabel() == "payoff of Row (per round)"


@pytest.mark.parametrize(("game", "sets"), [("chicken", ["CE = CCE"]), ("shapley", ["CCE", "CE"])])
def test_all_in_the_payoff_space_is_named_and_seen(game: str, sets: list[str]) -> None:
    figure = drawn(figures.figure_functions()["payoff-space"](run(game)))
    (legend,) = figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["feasible", *sets, "Nash", "average so far", "first round", "all rounds"]
    (axes,) = figure.axes
    marks = {str(line.get_label()): line for line in axes.lines}
    assert marks["first round"].get_zorder() == max(one.get_zorder() for one in [*axes.lines, *axes.collections])
    assert marks["first round"].get_markerfacecolor() == "none"
    (patch,) = [patch for patch in legend.get_patches() if patch.get_label() == sets[0]]
    (area,) = [patch for patch in axes.patches if patch.get_label() == sets[0]]
    assert (patch.get_facecolor(), patch.get_hatch()) == (area.get_facecolor(), area.get_hatch())


def test_payoff_regions_of_a_larger_game_hold_what_the_corners_of_the_polytope_pay() -> None:
    game = games.make("uniform", actions=(2, 3), seed=5)
    for kind in ("ce", "cce"):
        pays = np.array([[np.sum(joint * own) for own in game.payoffs] for joint in polytope(game, kind).vertices()])
        for way in np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 2], [-2, 1]], dtype=float):
            assert (equilibrium_payoffs(game, kind) @ way).max() == pytest.approx((pays @ way).max(), abs=4e-3)


def test_payoffs_of_a_zero_sum_game_are_a_line() -> None:
    axes = drawn(figures.figure_functions()["payoff-space"](run("matching-pennies"))).axes[0]
    (feasible,) = [line for line in axes.lines if line.get_label() == "feasible"]
    assert sorted(map(tuple, corners_of(feasible))) == [(-1, 1), (1, -1)]


def test_the_nearest_equilibrium_stands_beside_the_joint() -> None:
    record = run("shapley", rounds=2000)
    figure = drawn(figures.figure_functions()["nearest"](record))
    played, near = (np.asarray(axes.images[0].get_array()) for axes in figure.axes[:2])
    np.testing.assert_array_equal(played, record.joint)
    assert np.abs(near - played).sum() / 2 == pytest.approx(record.distance("ce"), abs=1e-7)
    assert polytope(record.game, "ce").contains(near, tolerance=1e-7)
    assert f"{100 * record.distance('ce'):.3g}%" in figures.title_of(figure)


# Animations.


@pytest.mark.parametrize("game", ["odd", "jordan"])
def test_an_animation_has_one_frame_per_checkpoint(game: str, tmp_path: Path) -> None:
    record = run(game, rounds=6)
    path = figures.animate(record, tmp_path / "run.gif")
    with Image.open(path) as animation:
        assert getattr(animation, "n_frames", 1) >= len(record.curve.rounds) - 2  # equal frames are merged
        assert animation.size == (792, 429)


def test_an_animation_labels_all_its_lines() -> None:
    animation = Animation(gamesim.simulate("shapley", "wavelet-continuous", rounds=300, perturb=0.3))
    right = animation.figure.axes[1]
    assert labels(right) == ["CE gap", "CCE gap", curves.NOTHING]
    gap, *rest = (line for line in right.lines if line not in (animation.now, animation.dot))
    assert len(rest) == 2, "the CCE gap and its edge, and no fits"
    assert animation.dot.get_color() == gap.get_color()
    assert corners_of(animation.dot) == corners_of(gap)[-1:]


def test_animations_require_a_supported_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"\.gif or an \.mp4"):
        figures.animate(run("chicken"), tmp_path / "run.avi")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="ffmpeg"):
        figures.animate(run("chicken"), tmp_path / "run.mp4")


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_animation_as_mp4(tmp_path: Path) -> None:
    path = figures.animate(run("chicken", rounds=20), tmp_path / "run.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"


def test_all_replicas_are_drawn_where_they_part() -> None:
    record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=500, replicas=6, start="random", seed=3)
    ends = record.payoffs
    figure = figures.payoff_space(record)
    assert figure is not None
    (drawn,) = [line for line in figure.axes[0].get_lines() if line.get_label() == "all rounds, each run"]
    np.testing.assert_allclose(np.column_stack([np.asarray(one, dtype=float) for one in drawn.get_data()]), ends)
    other = figures.tetrahedron(record)
    assert other is not None and "6 runs" in figures.title_of(other)
    strategies = figures.strategies(record)
    assert strategies is not None and "Of 6 runs" in figures.title_of(strategies)
    lines = [line for line in strategies.axes[0].get_lines() if np.size(line.get_xdata()) == len(record.curve.rounds)]
    assert len(lines) == 7  # one per run, and the median
    median = np.median(record.curve.measure("last-strategies")[..., 1], axis=0)
    np.testing.assert_allclose(np.asarray(lines[-1].get_ydata(), dtype=float), median)
    near = figures.nearest(record)
    assert near is not None and "mean of 6 replicas" in figures.title_of(near)
    three = gamesim.simulate("zeeman", "hedge", rounds=200, replicas=3, start="random")
    triangles = figures.triangles(three)
    assert triangles is not None and "3 runs" in figures.title_of(triangles)


def test_a_network_is_drawn_for_several_replicas() -> None:
    record = gamesim.simulate("network-coordination", "hedge", rounds=300, perturb=0.4, replicas=7)
    figure = figures.network(record)
    assert figure is not None and len(figure.axes) == 7  # six replicas and the colour bar
    at_the_end = [sum(last[0] >= last[1] for last in record[k].last) for k in range(7)]
    other = [10 - one for one in at_the_end]
    counts = at_the_end if sum(at_the_end) >= sum(other) else other
    assert f"of {min(counts)} to {max(counts)} of the 10 players" in figures.title_of(figure)
    assert "7 replicas, of which 6 are drawn" in figures.title_of(figure)
    shades = [np.asarray(panel.collections[-1].get_array()) for panel in figure.axes[:6]]
    for k, shade in enumerate(shades):
        np.testing.assert_allclose(shade, [last[1] for last in record[k].last])
