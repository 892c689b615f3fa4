"""Tests of the theorem study: drivers against literal versions, statistics by hand, the small version, and the page."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import log, sqrt
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy.stats import t as student

from gamesim.cli.main import main
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.figures.style import STYLE, WIDTH
from gamesim.learner import Learner
from gamesim.measure import regrets
from gamesim.players.adahedge import AdaHedge
from gamesim.players.aggregate import Aggregate
from gamesim.players.blum_mansour import BlumMansour
from gamesim.players.hedge import Hedge
from gamesim.players.uniform import Uniform
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from gamesim.study.description import Description
from gamesim.study.jobs import Outcome
from gamesim.study.results import Results
from gamesim.study.store import Row, Store
from gamesim.study.sweep import sweep
from gamesim.wavelet_theorem import (
    adversaries,
    claims,
    comparisons,
    interpolation,
    order,
    page,
    presentation,
    quantile,
    rates,
    run,
    self_play,
)
from gamesim.wavelet_theorem.adversaries import INSTANCES, suffered, worst_signs
from gamesim.wavelet_theorem.claims import CLAIMS, Claim
from gamesim.wavelet_theorem.comparisons import BELOW, LOST, TIED, WON, compare, count, holm, p_value
from gamesim.wavelet_theorem.drivers import Matrix, play_alone, play_game
from gamesim.wavelet_theorem.instances import ADAPTIVE, OPTIMISTIC, PREDICTIVE, SEEDS, WAVELETS, rule, seed_of
from gamesim.wavelet_theorem.points import Labels, Point, Values
from tests.algorithm_one import AlgorithmOne
from tests.test_sweep import here

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"


# The drivers, against literal versions.


def drawn(actions: int, rounds: int, seed: list[int]) -> tuple[Vector, Matrix]:
    """Return the random numbers of a run that fits into one chunk."""
    random = np.random.default_rng(seed)
    return random.random(rounds), random.random(rounds * actions).reshape(rounds, actions)


def flipped(means: Vector, points: Vector) -> Vector:
    return np.where(points < (1 - means) / 2, -1.0, 1.0)


@pytest.mark.parametrize("player", [Hedge(), Wavelet(), BlumMansour(rows="adahedge")])
def test_the_game_is_the_game_played_round_by_round(player: Learner) -> None:
    actions, rounds, seed = 5, 300, [3, 1]
    means = np.random.default_rng(8).uniform(-0.8, 0.8, (actions, actions))  # not symmetric
    contexts, points = drawn(actions, rounds, seed)
    learner = player.start(actions)
    suffered_, expected = np.zeros((2, actions, actions))
    for t in range(rounds):
        strategy = learner.play()
        context = int(np.searchsorted(np.cumsum(strategy), contexts[t], side="right"))
        loss = flipped(means[context], points[t])
        suffered_ += np.outer(strategy, loss)
        expected += np.outer(strategy, means[context])
        learner.observe(loss)
    played = play_game(player, means, rounds, seed)
    phi = rule("permutation", actions, 1, 4)
    assert np.allclose(played.suffered, suffered_) and np.allclose(played.expected, expected)
    assert played.regret(phi) == pytest.approx(regrets.against(suffered_, phi))
    assert played.mean_regret(phi) == pytest.approx(regrets.against(expected, phi))


def test_alone_each_row_of_blum_mansour_is_a_separate_hedge() -> None:
    actions, rounds, seed = 6, 400, [5, 2]
    means = -0.4 * rule("permutation", actions, 1, 0)
    contexts, points = drawn(actions, rounds, seed)
    totals, seen, lost = np.zeros((actions, actions)), np.zeros(actions), 0.0
    for t in range(rounds):
        i = int(contexts[t] * actions)
        weights = np.exp(-sqrt(2 * log(actions) / (1 + seen[i])) * (totals[i] - totals[i].min()))
        loss = flipped(means[i], points[t])
        lost += weights @ loss / weights.sum()
        totals[i] += loss
        seen[i] += 1
    played = play_alone(BlumMansour(), means, rounds, seed)
    assert played.own[0] == pytest.approx(lost)
    assert np.allclose(played.suffered, totals)


@pytest.mark.parametrize("player", [Wavelet(order=(2, 7, 0, 5, 1, 6, 4, 3)), WaveletContinuous()])
def test_alone_the_wavelet_learner_is_algorithm_one_fed_the_context(player: Wavelet) -> None:
    actions, rounds, seed = 8, 250, [7, 3]
    means = -0.7 * rule("unif", actions, 2, 1)
    contexts, points = drawn(actions, rounds, seed)
    order_: list[int] = player._owners(actions).tolist()
    literal = AlgorithmOne(actions, [order_], player.clock)
    lost, rows = 0.0, list[Vector]()
    for t in range(rounds):
        literal.play()
        i = int(contexts[t] * actions)
        at = order_.index(i)
        loss = flipped(means[i], points[t])
        row = np.zeros(actions)
        row[order_] = literal.phi[0, at]
        lost += float(row @ loss)
        rows.append(row)
        literal.p_bar = np.eye(actions)[[at]]
        literal.observe(loss[None])
    assert np.ptp(rows, axis=0).max() > 0.5  # it has learnt and does not play uniformly
    assert play_alone(player, means, rounds, seed).own[0] == pytest.approx(lost, abs=1e-7)


def test_alone_a_context_needs_a_row_and_a_learner_without_a_matrix_ignores_it() -> None:
    with pytest.raises(ValueError, match="power of two"):
        play_alone(Wavelet(), np.zeros((6, 6)), 10, [0])
    means = -0.9 * rule("unif", 4, 1, 0)
    assert play_alone(AdaHedge(), means, 2000, [1]).mean_regret(rule("unif", 4, 1, 0)) < 50


@pytest.mark.parametrize("actions", [4, 16])
@pytest.mark.parametrize("seed", range(5))
def test_comparators_have_the_declared_complexity(actions: int, seed: int) -> None:
    for k in (1, 2, actions // 2, actions):
        rows = [tuple(row) for row in rule("unif", actions, k, seed)]
        assert max(map(rows.count, rows)) == actions - k + 1
        assert np.diag(rule("self", actions, k, seed)).sum() == actions - k
    blocks = rule("blocks", actions, 2, seed)
    assert (blocks[1:] != blocks[:-1]).any(axis=1).sum() == 1
    assert (rule("permutation", actions, 1, seed).sum(axis=0) == 1).all()


# The adversaries.


@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_adaptive_adversary_finds_the_worst_signs(d: int) -> None:
    random = np.random.default_rng(d)
    for _ in range(30):
        strategy, matrix, loss = random.dirichlet(np.ones(d)), random.normal(size=(d, d)), np.zeros(d)
        worst_signs(strategy, matrix.ravel().copy(), random.random(), loss)
        signs = [np.array(one) for one in product([-1.0, 1.0], repeat=d) if len(set(one)) > 1]
        worst = max(float(regrets.swap(matrix + np.outer(strategy, one))) for one in signs)
        assert float(regrets.swap(matrix + np.outer(strategy, loss))) == pytest.approx(worst)


def literal_losses(instance: str, d: int, rounds: int, seed: list[int], strategies: Callable[[int], Vector]) -> Matrix:
    """Return the losses of all rounds, written down from the description of the instance."""
    random = np.random.default_rng(seed)
    order_, points = random.permutation(d), random.random(rounds * d).reshape(rounds, d)
    losses, pair, mass = np.zeros((rounds, d)), 0, 0.0
    for t in range(rounds):
        means = np.zeros(d)
        if instance == "live pairs":
            losses[t] = 1.0
            losses[t, order_[2 * pair + (points[t, 0] < 0.5)]] = -1.0
            mass += strategies(t)[order_[2 * pair : 2 * pair + 2]].sum()
            if mass >= 2 * rounds / d and pair < d // 2 - 1:
                pair, mass = pair + 1, 0.0
            continue
        gap = sqrt(d * log(d) / rounds) if instance == "edge √(1/T)" else 0.2
        means[order_[8 * t // rounds if instance == "shifting" else 0]] = -gap
        losses[t] = flipped(means, points[t])
    return losses


@pytest.mark.parametrize("instance", [one for one in INSTANCES if one != "adaptive"])
def test_adversaries_are_what_they_are_described_to_be(instance: str) -> None:
    d, rounds, seed = 8, 200, [4, 9]
    learner, played = AdaHedge().start(d), list[Vector]()
    matrix = np.zeros((d, d))
    for t in range(rounds):  # the losses up to round t depend on the strategies up to round t
        played.append(learner.play())
        losses = literal_losses(instance, d, rounds, seed, _known(played, d))
        matrix += np.outer(played[t], losses[t])
        learner.observe(losses[t])
    assert np.allclose(suffered(AdaHedge(), instance, d, rounds, seed), matrix)


def _known(played: Sequence[Vector], d: int) -> Callable[[int], Vector]:
    """Return the strategies so far; later ones do not matter for the losses of this round."""
    return lambda t: played[t] if t < len(played) else np.zeros(d)


def test_uniform_play_shows_which_instances_can_be_learnt() -> None:
    for instance, least, most in (
        ("fixed gap", 0.9, 1.2), ("adaptive", 0.9, 1.1), ("live pairs", 0.9, 1.1), ("edge √(1/T)", 0.2, 0.8)
    ):  # fmt: skip
        short, long = (
            np.mean([float(regrets.swap(suffered(Uniform(), instance, 8, T, [seed]))) for seed in range(4)])
            for T in (1024, 16_384)
        )
        assert least < log(long / short) / log(16) < most, instance


# Statistics.


def results_of(rows: Sequence[tuple[Labels, int, Values]]) -> Results:
    """Return results with all points finished."""
    done = [Row(f"{i}", labels, seed, "done", dict(values), None, 1.0) for i, (labels, seed, values) in enumerate(rows)]
    return Results(Description("mine"), done)


def test_p_values_are_those_of_a_t_test() -> None:
    values = [1.0, 2.5, -0.5, 3.0, 1.5]
    score = np.mean(values) / (np.std(values, ddof=1) / sqrt(5))
    assert p_value(values) == pytest.approx(2 * student.sf(score, 4))
    assert p_value(values, 0.5, "greater") == pytest.approx(
        student.sf(score - 0.5 / np.std(values, ddof=1) * sqrt(5), 4)
    )
    assert p_value(values, 0.0, "less") == pytest.approx(student.cdf(score, 4))
    assert (p_value([2.0, 2.0]), p_value([0.0, 0.0]), p_value([3.0])) == (0.0, 1.0, 1.0)
    assert (p_value([2.0, 2.0], side="greater"), p_value([2.0, 2.0], side="less")) == (0.0, 1.0)


def test_holm_rejects_step_by_step() -> None:
    assert holm([0.010, 0.013, 0.026, 0.06]) == [True, True, False, False]  # 0.05/4, 0.05/3, 0.05/2
    assert holm([0.06, 0.001]) == [False, True]
    assert holm([]) == []


def test_comparisons_are_paired_corrected_and_above_noise() -> None:
    random = np.random.default_rng(0)
    rows = []
    for seed in range(20):
        shared = 100 * random.random()  # cancels in paired differences
        near = random.normal(size=4)
        rows += [
            ({"cell": "better"}, seed, {"mine": shared + 1, "rival": shared + 3 + 0.1 * near[0]}),
            ({"cell": "worse"}, seed, {"mine": shared + 3, "rival": shared + 1 + 0.1 * near[1]}),
            ({"cell": "equal"}, seed, {"mine": shared, "rival": shared + 0.1 * near[2]}),
            ({"cell": "noise"}, seed, {"mine": 1.9, "rival": 0.1 + 0.1 * near[3]}),
            ({"cell": "still"}, seed, {"mine": 50.0, "rival": 80.0}),
        ]
    found = results_of(rows)
    cells = [{"cell": name} for name in ("better", "worse", "equal", "noise", "still")]
    compared = compare(found, "mine", ["rival"], cells, leave_out=lambda _, cell: cell["cell"] == "still")
    assert [one.verdict for one in compared] == [WON, LOST, TIED, BELOW]
    assert count(compared) == {WON: 1, LOST: 1, TIED: 1, BELOW: 1} and not count(compared, "nobody")
    assert compared[0].difference.value == pytest.approx(-2, abs=0.1) and compared[0].difference.count == 20


def test_a_claim_fails_if_another_learner_takes_the_flagships_place(
    small: "Small", monkeypatch: pytest.MonkeyPatch
) -> None:
    found = small.of(interpolation)
    wins = [one.verdict for one in interpolation.simplest(found)]
    monkeypatch.setattr(interpolation, "OPTIMISTIC", PREDICTIVE)
    swapped = [one.verdict for one in interpolation.simplest(found)]
    assert wins.count(WON) > 8 and wins.count(LOST) == 0
    assert swapped.count(WON) < wins.count(WON) / 2 and not interpolation.holds(found)


# The small version of every claim.


class Small:
    """The points of the small version, run on first use; test processes share one store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def of(self, claim: Claim) -> Results:
        with self._locked() as store:
            points = [point for one in CLAIMS for point in one.points(True)]
            store.register(points, run.DESCRIPTION)
            wanted = {point.key for point in claim.points(True)}
            sweep(store, [job for job in store.todo() if job.key in wanted], claims.run, here)
            return run.of_claim(claim, True, {row.key: row for row in store.rows()})

    def _locked(self) -> Store:
        while True:
            try:
                return Store(self.path, write=True)
            except InputError as error:  # another test process holds it
                if "another sweep" not in str(error):
                    raise
                time.sleep(0.1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    return Small(shared / "theorem-small" / run.FILE)


def test_regret_stays_within_the_certificate(small: Small) -> None:
    over, runs = interpolation.exceeded(small.of(interpolation))
    assert over == 0 and runs == 3 * len(small.of(interpolation).done)


def test_slopes_tell_a_fixed_gap_from_the_control(small: Small) -> None:
    found = small.of(rates)
    for learner, instance, least, most in (
        ("uniform play", "fixed gap", 0.8, 1.2),
        ("uniform play", "edge √(1/T)", 0.3, 0.7),
        (OPTIMISTIC, "fixed gap", 0.1, 0.5),
        (ADAPTIVE, "fixed gap", -0.2, 0.3),
    ):
        slope = np.mean(list(rates.slopes(found, learner, instance).values()))
        assert least < slope < most, (learner, instance, slope)
    first = rates.first_rounds(OPTIMISTIC, 8)
    bound = rates.EVERYONE[OPTIMISTIC]().guarantee().bound  # type: ignore[union-attr]
    assert first is not None and bound(first, 8) < first and bound(first // 2, 8) >= first // 2
    assert rates.first_rounds("AdaHedge", 8) is None  # it bounds external regret only


def test_the_right_order_is_worth_something_for_blocks(small: Small) -> None:
    found = small.of(order)
    for name in WAVELETS:
        right, shuffled = (found.mean(one, rule="two blocks") for one in (name, f"shuffled {name}"))
        assert right is not None and shuffled is not None and right.value < 0.9 * shuffled.value, name


def test_the_quantile_theorem_slips_at_the_boundary(small: Small) -> None:
    found = small.of(quantile)
    for learner in WAVELETS:
        (excess,) = found.values(learner, part="slip").values()
        assert excess > 1  # and the theorem as printed has sqrt(T log 1) = 0
        assert quantile.constant(found, learner) < 3
    assert quantile.excess(Hedge(rate=1e-12)) < 1e-6  # a learner that does not learn has no excess


def test_hints_stop_the_growth_of_swap_regret_in_games(small: Small) -> None:
    found = small.of(self_play)
    for cell in self_play.cells(found):
        hinted, plain = (found.mean(name, **cell) for name in (OPTIMISTIC, "wavelet-continuous"))
        assert hinted is not None and plain is not None and hinted.value < plain.value
        gap, total = found.values(f"gap {OPTIMISTIC}", **cell), found.values(OPTIMISTIC, **cell)
        assert all(gap[seed] <= 2 * total[seed] / self_play.SMALL for seed in gap)  # payoffs have a range of at most 2


# The page.


def words(text: str) -> int:
    """Count words and numbers, without figures."""
    return sum(bool(re.search(r"\w", token)) for token in re.sub(r"!\[.*?\]\(.*?\)", " ", text).split())


def test_the_small_version_writes_page_appendix_and_figures(small: Small, tmp_path: Path) -> None:
    for claim in CLAIMS:
        small.of(claim)
    with Store(small.path) as store:
        path = run.write(store, True, tmp_path)
    text, appendix = path.read_text(encoding="utf-8"), (tmp_path / page.APPENDIX).read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[:3] == ["Abstract", "Setting", "Where it loses"] and headings[-1] == "Limits"
    assert [one for one in headings if one.startswith("Claim")] == [
        f"Claim {at}. {claim.TITLE}" for at, claim in enumerate(CLAIMS, start=1)
    ]
    for one in (text, appendix):
        assert "nan" not in one and "None" not in one and presentation.OPEN not in one
    for name in re.findall(r"\((theorem/\w+\.svg)\)", text):
        assert (tmp_path / name).stat().st_size > 1000 and (tmp_path / name).with_suffix(".png").exists()
    assert words(text) <= 1500


def test_figures_are_readable_in_print() -> None:
    sizes = [presentation.SMALLEST, *(value for key, value in STYLE.items() if key.endswith("size") and "." in key)]
    assert min(size for size in sizes if size > 6) >= 8 and WIDTH == 7.2  # points, at the width of a text column
    looks = [
        (look.get("marker"), look.get("markerfacecolor"), look.get("linestyle", "-"))
        for look in presentation.LOOKS.values()
    ]
    assert len(set(looks)) == len(looks)  # distinguishable without colours


PLANNED = {
    # in the text: years, the level of intervals, parts of formulas, Δ(d) and [−1, 1], numbers of claims and figures
    *("2025", "2023", "2020", "95", "0", "1", "2", "3", "4", "5", "0.01"),
    *("2⁴⁰",),
}


def planned(small: bool) -> set[str]:
    """Return the numbers of the plan: labels of points, constants of claims, and those of the text."""
    numbers: set[str] = set()
    for claim in CLAIMS:
        for point in claim.points(small):
            for value in (*point.labels.values(), point.seed):
                numbers |= {str(value), f"{value:,}"} if isinstance(value, int) else set(re.findall(r"\d+", str(value)))
    constants = [
        interpolation.GAP, adversaries.GAP, quantile.GAP, comparisons.NOISE, comparisons.LEVEL, self_play.EARLY,
        quantile.EXCESS_ROUNDS, *rates.SIZES,
    ]  # fmt: skip
    return numbers | {f"{one:g}" for one in constants} | PLANNED


@pytest.mark.skipif(not (DOCS / "theorem" / "points.sqlite").exists(), reason="this copy does not contain the store")
def test_every_number_on_the_page_comes_from_the_store(tmp_path: Path) -> None:
    shutil.copy(DOCS / "theorem" / "points.sqlite", tmp_path / "points.sqlite")
    with Store(tmp_path / "points.sqlite") as store:
        found = run.results_of(store, False)
    text, appendix = run.texts(found, False)
    assert presentation.unmarked(text) == (DOCS / "theorem.md").read_text(encoding="utf-8")
    assert presentation.unmarked(appendix) == (DOCS / page.APPENDIX).read_text(encoding="utf-8")
    assert words(presentation.unmarked(text)) <= 1500
    for one in (text, appendix):
        strange = {token.rstrip(".,") for token in presentation.not_generated(one)} - planned(False)
        assert not strange, f"numbers neither generated nor planned: {sorted(strange)}"
    for _, results in found:
        assert len(results.done) == len(results.rows)
        assert min(results.seeds_per_cell()) >= len(SEEDS) >= 20


@pytest.mark.skipif(not (DOCS / "theorem" / "points.sqlite").exists(), reason="this copy does not contain the store")
def test_the_numbers_of_the_page_are_those_of_independent_arithmetic(tmp_path: Path) -> None:
    shutil.copy(DOCS / "theorem" / "points.sqlite", tmp_path / "points.sqlite")
    text = (DOCS / "theorem.md").read_text(encoding="utf-8")
    with Store(tmp_path / "points.sqlite") as store:
        rows = list(store.rows("done"))
    simple = {"setting": "alone", "d": 16, "k": 1, "family": "self"}
    chosen = [row.measures[OPTIMISTIC] for row in rows if simple.items() <= row.labels.items()]
    values = np.array(chosen, dtype=float)
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values))
    assert f"{values.mean():.3g} ± {half:.2g} for a map that moves one action" in text
    slopes = []
    for seed in SEEDS:
        regret = {row.labels["T"]: row.measures[OPTIMISTIC] for row in rows
                  if row.labels.get("instance") == "fixed gap" and row.seed == seed}  # fmt: skip
        T = sorted(regret)
        slopes.append(np.polyfit(np.log(T), np.log([regret[one] for one in T]), 1)[0])  # type: ignore[arg-type]
    assert f"grows as T to the power {np.mean(slopes):.2f} ±" in text
    lost = sum(comparison.verdict == LOST for claim in CLAIMS for comparison in _compared(claim, rows))
    assert f"it loses {lost}," in text


def _compared(claim: Claim, rows: Sequence[Row]) -> list[comparisons.Comparison]:
    return claim.compared(run.of_claim(claim, False, {row.key: row for row in rows}))


def test_the_text_follows_the_numbers(small: Small) -> None:
    for claim in CLAIMS:
        found = small.of(claim)
        changed = Results(found.description, [_scaled(row) for row in found.rows])
        assert claim.paragraph(changed) != claim.paragraph(found)
        assert claim.tables(changed) != claim.tables(found)


def _scaled(row: Row) -> Row:
    """Return a row whose measures are larger, by different factors."""
    factors = {name: 1.5 + 0.1 * at for at, name in enumerate(row.measures)}
    return replace(row, measures={name: value and value * factors[name] for name, value in row.measures.items()})


def test_tables_are_markdown_and_numbers_are_marked() -> None:
    assert presentation.table("T", ["a", "b"], [["1", "2"]]) == "**T**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    marked = f"{presentation.said(3.25)} of 12 and {presentation.said(None)}"
    assert presentation.not_generated(marked) == ["12"] and presentation.unmarked(marked) == "3.25 of 12 and –"


# Running.


def only(*chosen: Point) -> Claim:
    """Return the quantile claim restricted to these points."""

    class Only:
        NAME = quantile.NAME
        TITLE = quantile.TITLE
        CAPTION = quantile.CAPTION
        points = staticmethod(lambda small: list(chosen))
        measure = staticmethod(quantile.measure)
        compared = staticmethod(quantile.compared)
        holds = staticmethod(quantile.holds)
        finding = staticmethod(quantile.finding)
        paragraph = staticmethod(quantile.paragraph)
        tables = staticmethod(quantile.tables)
        draw = staticmethod(quantile.draw)

    return cast(Claim, Only())


SLIP = Point("quantile", {"part": "slip"}, 0)


def test_finished_points_are_kept_and_only_the_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Point("quantile", {"part": "slip"}, 1)
    monkeypatch.setattr(run, "CLAIMS", (only(SLIP, other),))
    with Store(tmp_path / "points.sqlite", write=True) as store:
        store.register([SLIP, other], run.DESCRIPTION)
        store.finish([Outcome(SLIP.key, {"Squint": 123.0}, None, 0.5)])
    said: list[str] = []
    with Store(tmp_path / "points.sqlite", write=True) as store:  # as after an interruption
        run.run_claims(store, True, 1, said.append)
        kept = {row.seed: row.measures.get("Squint") for row in store.rows("done")}
    assert said == ["2 of 2 points"]
    assert kept[0] == 123.0 and 0 < (kept[1] or 0) < 100


def test_points_that_fail_are_named_once_the_others_have_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Point("quantile", {"part": "quantile", "d": 4, "T": 10, "good": "two"}, 0)
    monkeypatch.setattr(run, "CLAIMS", (only(wrong, SLIP),))
    with Store(tmp_path / "points.sqlite", write=True) as store:
        with pytest.raises(InputError, match=r"1 points failed.*'good': 'two'.* seed 0: "):
            run.run_claims(store, True, 1, lambda _: None)
        assert store.counts()["done"] == 1


def test_claims_that_are_named_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CLAIMS", (only(SLIP),))
    monkeypatch.setattr(run, "write", lambda store, small, folder, say: folder / "theorem.md")
    for again, said in (([], 1), ([], 0), (["quantile"], 1)):
        heard: list[str] = []
        run.theorem(tmp_path, True, 1, again, heard.append)
        assert len(heard) == said, heard


def test_an_invalid_store_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "theorem").mkdir()
    (tmp_path / "theorem" / "points.sqlite").write_text("no database, but text that is long enough to be one" * 20)
    with pytest.raises(InputError, match="choose another folder"):
        run.theorem(tmp_path, True, 1, [], lambda _: None)


def test_mistakes_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["theorem", "--small", "--again", "rate", "--out", str(tmp_path)]) == 2
    assert "unknown claim 'rate'" in capsys.readouterr().err
    assert main(["theorem", "--workers", "0", "--out", str(tmp_path)]) == 2


def test_labels_survive_the_store() -> None:
    point = Point("order", {"rule": "two blocks", "d": 16}, 3)
    assert point.key == Point("order", json.loads(json.dumps(point.labels)), 3).key
    assert point.key != Point("order", point.labels, 4).key
    assert seed_of(1, "a", 2) != seed_of(1, "a", 3)


def test_the_aggregate_can_run_alone() -> None:
    phi = rule("unif", 8, 1, 0)
    played = play_alone(Aggregate(), -0.5 * phi, 2000, [3])
    assert played.mean_regret(phi) < 0.5 * play_alone(BlumMansour(), -0.5 * phi, 2000, [3]).mean_regret(phi)
