"""Limits of time and size: certified bounds on distances, and what is reported when something is not computed."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import gamesim
from gamesim import equilibrium, figures, games, scenario
from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.measure import distance, linear_programs, measure, registry, total_variation
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, Incentives
from gamesim.measure.total_variation import DistanceBounds
from gamesim.record import Record
from gamesim.report.html import report_html
from gamesim.report.run_folder import write_report
from gamesim.report.summary import summarise
from tests.exact_reference import Equilibria, as_fractions
from tests.test_equilibrium import random_game, random_joint

pytestmark = pytest.mark.slow

BRACKET = DistanceBounds(0.125, 0.5, None)


def uniform_record(actions: int) -> Record:
    return gamesim.simulate(games.make("uniform", actions=actions), "hedge", rounds=10, perturb=0.3)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("solved", range(6))
def test_bounds_bracket_the_distance_whenever_time_runs_out(
    kind: EquilibriumKind, solved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let all linear programs after the first few fail, as they do after the deadline."""
    solve: Callable[..., Any] = linear_programs.minimise
    for sizes, seed in (((5, 7), 0), ((9, 4), 1), ((3, 4, 2), 2)):
        game, joint = random_game(sizes, seed), random_joint(sizes, seed)
        incentives = Incentives(game, kind)
        expected = total_variation.direct(incentives, joint).distance
        left = [solved]

        def fail_later(*arguments: Any, left: list[int] = left, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise ArithmeticError("its time limit was reached")
            return solve(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(total_variation, "minimise", fail_later)
            patch.setattr(total_variation, "central", lambda *_: total_variation.NOTHING_KNOWN)
            found = total_variation.Search(incentives).nearest(joint)
            if not found.solved:
                found = total_variation.bracketed(incentives, joint, found, deadline=np.inf)
        assert found.lower <= expected + 1e-12 and expected <= found.upper + 1e-9
        assert found.lower > 0 and found.nearest is not None
        assert np.abs(found.nearest - joint).sum() / 2 == pytest.approx(found.upper, abs=1e-9)
        assert incentives.gains(found.nearest).max() <= 1e-9


def test_a_search_in_a_game_with_eliminated_profiles_needs_no_second_method(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30):
        game, joint = random_game((5, 7), seed), random_joint((5, 7), seed)
        incentives = Incentives(game, "ce")
        expected = total_variation.direct(incentives, joint).distance
        with monkeypatch.context() as patch:
            patch.setattr(total_variation, "central", None)
            assert total_variation.Search(incentives).nearest(joint).distance == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_the_lower_bound_holds_after_rounding(kind: EquilibriumKind) -> None:
    """Compute the bound of given multipliers in exact arithmetic; the floating-point one must not exceed it."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        game = Table.from_payoffs(random.integers(-9, 10, (2, 3, 4)) / 2**4)
        joint = random.multinomial(64, np.full(12, 1 / 12)) / 64
        incentives = Incentives(game, kind)
        incentives.__dict__["live"] = np.ones(12, dtype=bool)  # the bound holds on all profiles as well
        y = random.exponential(size=incentives.starts[-1]) * 10.0 ** random.integers(-2, 7)
        low, high = game.range
        pressure = [Fraction(0)] * 12
        for i, (start, size) in enumerate(zip(incentives.starts, game.sizes, strict=False)):
            for k in range(12):
                profile = np.unravel_index(k, (3, 4))
                for b in range(size):
                    number = start + (int(profile[i]) * size + b if kind == "ce" else b)
                    other = [*map(int, profile)]
                    other[i] = b
                    gain = Fraction(game.payoffs[(i, *other)]) - Fraction(game.payoffs[(i, *profile)])
                    pressure[k] += Fraction(y[number]) * gain / Fraction(high[i] - low[i])
        least = min(pressure)
        exact = least + sum(Fraction(q) * min(p - least, Fraction(1)) for q, p in zip(joint, pressure, strict=True))
        assert Fraction(total_variation.dual_bound(incentives, joint.reshape(3, 4), y)) <= max(exact, Fraction(0))


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_the_bound_of_the_best_deviation_is_valid_and_not_trivial(kind: EquilibriumKind) -> None:
    found = []
    for seed in range(30):
        game, joint = random_game((2, 3), seed), random_joint((2, 3), seed)
        bound = total_variation.deviation_bound(Incentives(game, kind), joint)
        found.append((bound, equilibrium.distance(game, joint, kind)))
        assert found[-1][0] <= found[-1][1] + 1e-12
    bounds, distances = np.sum(found, axis=0)
    assert bounds > 0.4 * distances > 1
    dominated = Incentives(Table.from_payoffs([[0, 1, 0.5]]), kind)  # all mass on the first and last action must move
    assert total_variation.deviation_bound(dominated, np.array([0.25, 0.5, 0.25])) == pytest.approx(0.5)


def test_time_limits_hold_and_unsolved_distances_are_nan_with_bounds_in_the_warning() -> None:
    game = games.make("zero-sum", actions=24, seed=1)
    joint = gamesim.simulate(game, "hedge", rounds=100, perturb=0.3).joint
    assert joint is not None
    bounds = equilibrium.distance_bounds(game, joint, "ce", seconds=1e-3)
    assert not bounds.solved and 0 < bounds.lower < bounds.upper <= 1 and np.isnan(bounds.distance)
    with pytest.warns(RuntimeWarning, match=r"not solved within 0.001 s: it is between 0\.\d+ and"):
        assert np.isnan(equilibrium.distance(game, joint, "ce", seconds=1e-3))
    with pytest.raises(InputError, match="seconds must be positive, got -1"):
        equilibrium.distance(game, joint, "ce", seconds=-1)


def test_the_size_limit_is_the_same_in_python_and_in_a_summary() -> None:
    record, joint = uniform_record(64), np.full((64, 64), 1 / 64**2)
    why = summarise(record).distance_left_out
    assert why is not None and "linear programs over 4,096 cells are slow" in why and "always=True" in why
    calls: list[Callable[[EquilibriumKind], object]] = [
        record.distance,
        record.distance_bounds,
        record.curve.distance,
        lambda kind: equilibrium.distance(record.game, joint, kind),
        lambda kind: equilibrium.distances(record.game, [joint], kind),
        lambda kind: equilibrium.distance_bounds(record.game, joint, kind),
        lambda kind: record.measure(f"{kind}-distance"),
    ]
    for call in calls:
        with pytest.raises(InputError) as caught:
            call("ce")
        assert str(caught.value) == f"distances in uniform are not computed: {why}"


def test_the_size_limit_can_be_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    record = gamesim.simulate("chicken", "hedge", rounds=10, replicas=3, perturb=0.3)
    expected = record.distance("ce")
    monkeypatch.setattr(distance, "QUICK_ENTRIES", 16)  # 8 entries per replica
    with pytest.raises(InputError, match="linear programs over 4 cells for 3 replicas are slow"):
        record.distance("ce")
    assert record.distance("ce", always=True) == pytest.approx(expected)
    assert record[0].distance("ce") == pytest.approx(expected[0])
    with pytest.raises(InputError, match="the record has 3 replicas: choose one"):
        record.distance_bounds("ce")


def test_a_summary_shows_bounds_of_unsolved_distances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    record = gamesim.simulate("chicken", "hedge", rounds=10, perturb=0.3)
    solved = Record.distance_bounds
    monkeypatch.setattr(
        Record, "distance_bounds", lambda self, kind, **_: BRACKET if kind == "ce" else solved(self, kind)
    )
    summary = summarise(record)
    assert summary.distance["ce"] is None and summary.distance["cce"] == record.distance("cce")
    assert summary.as_json()["distance_bounds"] == {"ce": [0.125, 0.5]}
    assert "between 0.125 and 0.5" in report_html(record, summary, [], "")
    assert main(["run", "chicken", "--rounds", "10", "--no-figures", "--out", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance_bounds"] == {"ce": [0.125, 0.5]}


def test_a_solved_summary_has_no_bounds() -> None:
    assert "distance_bounds" not in summarise(gamesim.simulate("chicken", "hedge", rounds=10)).as_full_json()


@pytest.mark.parametrize("kinds", [("ce",), ("ce", "cce")])
def test_show_reports_ranges_that_are_not_computed(
    kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    solve = equilibrium.welfare_range

    def fail(game: Table, kind: EquilibriumKind) -> tuple[float, float]:
        if kind in kinds:
            raise ArithmeticError("a linear program was not solved: its time limit was reached")
        return solve(game, kind)

    monkeypatch.setattr(equilibrium, "welfare_range", fail)
    assert main(["show", "prisoners-dilemma"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    what = " and ".join(kinds).upper().replace(" AND ", " and ")
    assert f"Its range in {what} is not computed: a linear program was not solved: its time limit was" in shown
    assert ("in CCE 2 to 2" in shown) == ("cce" not in kinds) and "maximum possible 6" in shown


def test_show_says_why_a_large_game_has_no_ranges(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "large.npz"
    games.save(games.make("uniform", actions=64), path)
    assert main(["show", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Its range in CE and CCE is not computed: linear programs over 4,096 cells are slow" in shown


def test_measures_and_figures_that_fail_cost_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @measure("broken", unit="probability")
    def broken(_: object) -> float:
        raise LookupError("nothing to measure")

    def undrawable(_: Record) -> Figure | None:
        raise ValueError("nothing to draw")

    try:
        record = gamesim.simulate("chicken", "hedge", rounds=10, perturb=0.3)
        summary = summarise(record)
        assert summary.missing == {"broken": "nothing to measure"}
        assert summary.measures and "broken" not in summary.measures
    finally:
        del registry._known["broken"]
    drawn = figures.figure_functions()
    monkeypatch.setattr(figures, "figure_functions", lambda: {**drawn, "tetrahedron": undrawable})
    failed = write_report(tmp_path, scenario.read(scenario.find("chicken")), record, summary)
    assert failed == {"tetrahedron": "nothing to draw"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The figure tetrahedron is not drawn: nothing to draw." in page
    assert "broken is not computed: nothing to measure." in page
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert "gaps" in names and "tetrahedron" not in names


def test_distances_do_not_change_if_payoffs_are_divided_by_ten() -> None:
    """Rounded payoffs tie as the written ones do; here the last row is the mean of the others."""
    integers = np.array([[[2, 8], [4, 2], [3, 5]], [[1, 7], [5, 3], [6, 2]]])
    joint = np.array([[6, 10], [4, 12], [16, 16]]) / 64
    exact = Equilibria(as_fractions(np.vectorize(Fraction, otypes=[object])(integers.tolist())), (3, 2), "ce")
    expected = float(exact.distance([Fraction(q) for q in joint.ravel().tolist()]))
    for divisor in (1, 10, 30, 1000):
        game = Table.from_payoffs(integers / divisor)
        assert equilibrium.distance(game, joint, "ce") == pytest.approx(expected, abs=1e-12)
        polytope = equilibrium.polytope(game, "ce")
        assert (polytope.dimension, len(polytope.vertices())) == (exact.dimension, len(exact.vertices))


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
def test_the_equilibria_at_hand_are_distributions_without_mass_outside_of_the_support(kind: EquilibriumKind) -> None:
    reduced = 0
    for seed in range(12):
        game, joint, target = random_game((3, 4), seed), random_joint((3, 4), seed), random_joint((3, 4), seed + 1)
        incentives = Incentives(game, kind)
        interior = incentives.interior()
        *_, mixed = found = list(total_variation._equilibria_at_hand(incentives, joint, target, np.inf))
        for one in found:
            assert one.min() >= 0 and one.sum() == pytest.approx(1, abs=1e-12)
        assert (mixed.ravel()[~interior.support] == 0).all()
        if not interior.tight.size:
            assert incentives.gains(mixed).max() <= 1e-9
        reduced += not interior.support.all()
    assert reduced >= 2
