"""The report: bounds in payoff units, trends, verdicts and what is left out, against answers worked out by hand."""

import json
from dataclasses import replace
from functools import partial
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gamesim
from gamesim import players
from gamesim.formatting import number
from gamesim.game import Table
from gamesim.learner import PLAIN_REGRETS, Guarantee, PlainRegret
from gamesim.measure import distance
from gamesim.measure.trend import Power, Trend
from gamesim.measure.trend_words import in_words
from gamesim.report import summary as report
from gamesim.report.verdict import verdict

Array = NDArray[np.float64]

# Non-square and asymmetric, with payoff ranges of 4 and 10: a unit of loss is worth 2 and 5.
GAME = Table.from_payoffs([[[0, 4, 1], [2, 0, 3]], [[5, 0, 10], [0, 7, 1]]], name="uneven")


def test_bounds_are_in_payoff_units_and_a_given_start_costs_two_losses() -> None:
    learners = [players.make("hedge", rate=0.1), players.make("wavelet")]
    record = gamesim.simulate(GAME, learners, 200, opening=[[0.9, 0.1], None])
    first, second = report.summarise(record).players
    assert first.bound["external"] == pytest.approx(2 * (log(2) / 0.1 + 0.1 * 200 / 2 + 2))
    promise = learners[1].guarantee()
    assert promise is not None and promise.regret == "swap"
    for kind in PLAIN_REGRETS:
        assert second.bound[kind] == pytest.approx(5 * (promise.bound_on(kind, 200, 3) or 0))
    assert second.bound["swap"] == pytest.approx(5 * promise.bound(200, 3))
    assert first.settings == {"rate": 0.1}


def maps(kind: str, actions: int) -> list[tuple[int, ...]]:
    """Return the deviations of a kind as maps of actions to actions, by their names in the textbook."""
    every = list(product(range(actions), repeat=actions))
    if kind == "external":
        return [one for one in every if len(set(one)) == 1]
    return [one for one in every if kind == "swap" or sum(i != j for i, j in enumerate(one)) <= 1]


def largest_regret(strategies: Array, losses: Array, kind: str) -> float:
    """Return the regret against the worst deviation, tried one after another and summed round by round."""
    rounds = list(zip(strategies, losses, strict=True))
    return max(
        sum(float(p[i] * (loss[i] - loss[j])) for p, loss in rounds for i, j in enumerate(one))
        for one in maps(kind, losses.shape[1])
    )


def cost_of_a_start(one: tuple[int, ...]) -> float:
    """Return the most that <p - q, l - φl> can be: it is at a corner of all that p, q and l may be."""
    corners = range(len(one))
    return max(
        float((loss[i] - loss[one[i]]) - (loss[j] - loss[one[j]]))
        for loss in product([-1, 1], repeat=len(one))
        for i, j in product(corners, repeat=2)
    )


@pytest.mark.parametrize("actions", [1, 2, 3, 4])
def test_what_a_promise_implies_of_other_regrets_holds_and_could_not_be_less(actions: int) -> None:
    random = np.random.default_rng(actions)
    runs = [(random.dirichlet(np.full(actions, 0.3), size=6), random.uniform(-1, 1, (6, actions))) for _ in range(100)]
    runs.append((np.eye(actions), np.eye(actions)))  # each action once, the only one that loses then
    least: dict[tuple[str, str], float] = {}
    for strategies, losses in runs:
        regrets = {kind: largest_regret(strategies, losses, kind) for kind in PLAIN_REGRETS}
        for promised, asked in product(PLAIN_REGRETS, repeat=2):
            most = max(regrets[promised], 0.0)
            promise = Guarantee(promised, "as measured", partial(lambda most, T, d: most, most))
            bound = promise.bound_on(asked, 6, actions)
            assert (bound is None) == (promised == "external" != asked and actions > 2)
            if bound is not None:
                assert regrets[asked] <= bound + 1e-9, (promised, asked)
                least[promised, asked] = min(least.get((promised, asked), np.inf), bound - regrets[asked])
    for asked in ("external", "swap"):
        assert least["internal", asked] == pytest.approx(0, abs=1e-9)


def test_a_learner_of_internal_regret_has_bounds_on_external_and_swap_regret() -> None:
    record = gamesim.simulate(GAME, ["hedge", "internal-regret-matching"], 200)
    internal = 5 * 2 * sqrt(2 * 200)  # three actions
    bound = report.summarise(record).players[1].bound
    assert bound == pytest.approx({"external": 2 * internal, "internal": internal, "swap": 3 * internal})


@pytest.mark.parametrize("kind", PLAIN_REGRETS)
def test_a_given_start_adds_what_it_can_cost(kind: PlainRegret) -> None:
    own, given = (gamesim.simulate(GAME, ["hedge", "wavelet"], 50, opening=[None, one]) for one in (None, [0, 0, 1]))
    added = (given.bound(1, kind) or 0) - (own.bound(1, kind) or 0)
    assert added == pytest.approx(5 * max(cost_of_a_start(one) for one in maps(kind, 3)))
    state = given.arrays["continue_state"][0, -given.learners[1].first_state(3).size :]
    for one in maps(kind, 3):
        phi = np.eye(3)[list(one)]
        proved = given.learners[1].certificate(state, phi) + cost_of_a_start(one)
        assert given.certificate(1, phi) == pytest.approx(5 * proved)


def test_certificates_are_for_all_deviations_of_a_kind() -> None:
    record = gamesim.simulate("shapley", ["hedge", "wavelet-continuous"], 2000, opening=[[0.5, 0.3, 0.2], None])
    shown = report.summarise(record).players[1]
    for exact, proved in ((False, shown.certificate), (True, shown.exact_certificate)):
        for kind in PLAIN_REGRETS:
            each = [record.certificate(1, np.eye(3)[list(one)], exact=exact) or 0 for one in maps(kind, 3)]
            assert max(each) <= (proved[kind] or 0) + 1e-9
            assert shown.regret[kind] <= (proved[kind] or 0) <= (shown.bound[kind] or 0)
    assert set(report.summarise(record).players[0].certificate.values()) == {None}
    assert report.summarise(record).players[0].profile is None


def test_the_profile_of_a_summary_has_every_k() -> None:
    records = gamesim.simulate("ordered-action", ["hedge", "wavelet-continuous"], 300, replicas=2, perturb=0.3)
    shown = report.summarise(records).players[1]
    assert shown.profile is not None
    for family in ("together", "alone"):
        one = shown.profile[family]
        assert one.bound is not None and len(one.bound) == 16
        lines = np.array([one.regret, one.exact_certificate, one.certificate, one.bound])
        assert (np.diff(lines, axis=0) >= -1e-9).all()
        means = [np.mean([run.profile(1)[family == "alone"] for run in records], axis=0)]
        np.testing.assert_allclose(one.regret, means[0])
    assert shown.certificate["swap"] == pytest.approx(shown.profile["together"].certificate[-1])
    assert shown.certificate["internal"] == shown.profile["alone"].certificate[0]


@pytest.mark.parametrize("protocol", [{"delay": 20}, {"noise": 0.5}, {"order": "alternating"}])
def test_losses_that_were_observed_otherwise_certify_nothing(protocol: dict[str, Any]) -> None:
    record = gamesim.simulate("shapley", "wavelet-continuous", 100, perturb=0.3, **protocol)
    assert record.certificate(0, np.eye(3)) is None
    assert record.profile_certificate(0) is None and record.profile_bound(0) is None
    assert set(report.summarise(record).players[0].certificate.values()) == {None}


def test_the_measures_are_the_records() -> None:
    record = gamesim.simulate(GAME, ["hedge", "regret-matching"], 300, replicas=3, perturb=0.5)
    summary = report.summarise(record, title="x")
    assert summary.gap["ce"] == pytest.approx(np.mean([one.gap("ce") for one in record]))
    assert summary.distance["cce"] == pytest.approx(np.mean([one.distance("cce") for one in record]))
    assert summary.nash_gap == pytest.approx(np.mean([one.nash_gap() for one in record]))
    assert summary.replicas is not None
    assert [one["seed"] for one in summary.replicas] == [0, 1, 2]
    assert summary.replicas[1]["players"][1]["regret"]["swap"] == pytest.approx(record[1].regret("swap")[1])
    assert summary.optimum == 11
    assert "of 3 replicas" in summary.verdict


def test_distances_are_not_computed_if_disabled_or_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    record = gamesim.simulate(GAME, "hedge", 20)
    assert report.summarise(record).distance_left_out is None
    never = report.summarise(record, distance="never")
    assert never.distance == {"ce": None, "cce": None} and never.welfare_range == {"ce": None, "cce": None}
    assert never.distance_left_out == 'the scenario sets distance = "never"'
    monkeypatch.setattr(distance, "QUICK_ENTRIES", 17)  # the CE constraints of a 2×3 game: (1 + 2) · 6 entries
    assert "linear programs over 6 cells are slow" in (report.summarise(record).distance_left_out or "")
    assert report.summarise(record, distance="always").distance["ce"] is not None
    monkeypatch.setattr(distance, "QUICK_ENTRIES", 18)
    assert report.summarise(record).distance_left_out is None


def test_json_knows_no_nan() -> None:
    summary = replace(report.summarise(gamesim.simulate(GAME, "hedge", 5)), welfare=float("nan"))
    assert json.loads(json.dumps(summary.as_json(), allow_nan=False))["welfare"] is None
    assert json.loads(json.dumps(summary.as_full_json(), allow_nan=False))["welfare"] is None


def test_verdicts() -> None:
    shapley = report.summarise(gamesim.simulate("shapley", "hedge", 20000, perturb=0.2, seed=0))
    assert (
        "-approximate coarse correlated equilibrium, but only a 0.126-approximate correlated equilibrium: Column"
        in shapley.verdict
    )
    assert shapley.gap["ce"] > 0.05
    assert shapley.gap["cce"] < 0.005
    dilemma = report.summarise(gamesim.simulate("prisoners-dilemma", "hedge", 5000))
    assert dilemma.verdict.startswith("After 5,000 rounds, play is a")
    assert (
        "-approximate correlated equilibrium: no player would have gained more than this per round" in dilemma.verdict
    )
    away = report.summarise(gamesim.simulate("prisoners-dilemma", "uniform", 1000), stopped=True)
    # Against a uniform opponent cooperating pays 1.5 and defecting 3: half of the play gains 1.5 by defecting.
    assert away.gap == pytest.approx({"ce": 0.75, "cce": 0.75})
    assert away.verdict.startswith(
        "Stopped after 1,000 rounds: play is a 0.75-approximate correlated equilibrium and a 0.75-approximate coarse"
    )
    assert "the CE gap stays at 0.75 at the checkpoints from round 100 on" in away.verdict
    exact = report.summarise(gamesim.simulate("rock-paper-scissors", "uniform", 100))
    assert exact.verdict == (
        "After 100 rounds, play is a correlated equilibrium up to rounding: no player would have gained by "
        "swapping actions."
    )
    assert "no trend yet" in report.summarise(gamesim.simulate("chicken", "hedge", 1)).verdict


def law(word: str, exponent: float, end: float) -> Trend:
    """Return the trend of a gap that follows a power law from round 100 to 10,000."""
    begin = end * 100**-exponent
    return Trend(word, 100, begin, end, min(begin, end), max(begin, end), Power(word, exponent, 1.0, 100, 10_000))


STAYS = Trend("stays", 1000, 0.14, 0.15, 0.14, 0.16)
ZERO = Trend("zero", 1000, 0.0, 0.0, 0.0, 0.0)
FALLS = law("falls", -0.5, 0.0086)


def test_the_verdict_names_the_round_from_which_a_trend_was_seen() -> None:
    assert verdict([STAYS], [FALLS], "Row", 20_000, stopped=False) == (
        "After 20,000 rounds, play is a 0.0086-approximate coarse correlated equilibrium, but only a 0.15-approximate "
        "correlated equilibrium: Row would have gained 0.15 per round by swapping actions, and this gap stays between "
        "0.14 and 0.16 at the checkpoints from round 1,000 on, while the CCE gap falls like T^-0.50 at the checkpoints "
        "from round 100 on."
    )
    assert verdict([STAYS], [ZERO], "Row", 1, stopped=True) == (
        "Stopped after 1 round: play is a coarse correlated equilibrium up to rounding, but only a 0.15-approximate "
        "correlated equilibrium: Row would have gained 0.15 per round by swapping actions, and this gap stays between "
        "0.14 and 0.16 at the checkpoints from round 1,000 on."
    )


def test_the_verdict_of_replicas_counts_them_and_names_no_player() -> None:
    small = law("falls", -1.0, 0.002)
    assert verdict([FALLS, small], [small, small], "Row", 500, stopped=False) == (
        "After 500 rounds, in each of 2 replicas play is a 0.0086-approximate correlated equilibrium, and the CE gap "
        "falls."
    )
    unsteady = Trend("unsteady", 100, 0.1, 0.2, 0.1, 0.3)
    assert verdict(
        [small, STAYS, ZERO, FALLS, unsteady], [FALLS, ZERO, ZERO, small, STAYS], "Row", 500, stopped=True
    ) == (
        "Stopped after 500 rounds: in 1 of 5 replicas play is a correlated equilibrium up to rounding; in 2 play is a "
        "0.0086-approximate correlated equilibrium, and the CE gap falls; in 1 play is a coarse correlated equilibrium "
        "up to rounding, but the CE gap is 0.15 and stays (0.14 to 0.16); in 1 the CE gap is 0.2 and has no steady "
        "trend (0.1 to 0.3), and the CCE gap is 0.15 and stays (0.14 to 0.16)."
    )


@pytest.mark.parametrize(
    ("article", "gaps"),
    [
        ("an", [8, 8.25, 80.5, 817, 8e-6, 11, 18.3, 11_250, 18_000]),
        ("a", [0.8, 0.11, 1.8, 7, 28, 110, 118, 1_100, 1e-8]),
    ],
)
def test_the_article_suits_the_number(article: str, gaps: list[float]) -> None:
    for gap in gaps:
        found = law("falls", -0.5, gap)
        sentence = verdict([found], [found], "Row", 5, stopped=False)
        assert f"play is {article} {number(gap)}-approximate correlated" in sentence


def with_trends(ce: Trend, cce: Trend) -> report.Summary:
    """Return a summary with these trends and the verdict that they give."""
    summary = report.summarise(gamesim.simulate("shapley", "hedge", 200, perturb=0.2))
    changed = replace(summary, gap={"ce": ce.end, "cce": cce.end}, trends={"ce": (ce,), "cce": (cce,)})
    return report._with_verdict(changed)


def test_a_slow_fall_is_called_no_equilibrium_of_either_kind() -> None:
    slow = with_trends(law("falls slowly", -0.2, 0.2), law("falls", -0.5, 0.1))
    assert "but only" not in slow.verdict and "falls slowly like T^-0.20" in slow.verdict
    at_rate = with_trends(law("falls", -0.5, 0.2), law("falls", -0.5, 0.1))
    assert "a 0.2-approximate correlated equilibrium: no player" in at_rate.verdict
    grown = with_trends(law("grows", 0.3, 0.2), law("falls", -0.5, 0.1))
    assert "but only a 0.2-approximate correlated equilibrium" in grown.verdict and "grows like T^0.30" in grown.verdict


def test_without_an_exponent_the_values_of_the_window_are_reported() -> None:
    words = {
        "falls": "falls from 0.3 to 0.1",
        "stays": "stays (0.1 to 0.3)",
        "unsteady": "has no steady trend (0.1 to 0.3)",
        "unknown": "has no trend yet",
        "levels off": "falls, but a floor near 0.08 fits better than a power law",
    }
    for word, expected in words.items():
        floor = 0.08 if word == "levels off" else None
        one = with_trends(Trend(word, 20, 0.3, 0.1, 0.1, 0.3, floor=floor), Trend("unsteady", 20, 0.0, 0.02, 0.0, 0.02))
        assert in_words(one.trends["ce"]) == expected
        assert in_words(one.trends["ce"], since=True) in one.verdict
        assert ("round 20" in one.verdict.partition("and the CCE gap")[0]) == (word != "unknown")
        assert ("-approximate correlated equilibrium: no player" in one.verdict) == (word == "falls")


def test_anytime_hedge_stays_below_the_bound_that_is_shown() -> None:
    record = gamesim.simulate(GAME, "hedge", 1000)
    for i, one in enumerate(report.summarise(record).players):
        d, scale = GAME.sizes[i], GAME.scale[i]
        assert one.bound["external"] == pytest.approx(scale * 2 * (sqrt(2 * 1000 * log(d)) + sqrt(log(d) / 8)))
        assert one.regret["external"] <= (one.bound["external"] or 0)


def test_a_measure_that_fails_is_reported_and_the_rest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> float:
        raise ArithmeticError("HiGHS failed to solve a linear program")

    record = gamesim.simulate(GAME, "hedge", 50)
    monkeypatch.setattr("gamesim.equilibrium.welfare_range", fail)
    summary = report.summarise(record)
    assert summary.welfare_range == {"ce": None, "cce": None}
    assert summary.missing == dict.fromkeys(
        ("ce-welfare-range", "cce-welfare-range"), "HiGHS failed to solve a linear program"
    )
    assert summary.distance == {kind: record.distance(kind) for kind in ("ce", "cce")}
    assert summary.gap["ce"] >= 0 and summary.verdict
