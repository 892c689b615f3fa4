"""Tests of the theorem study: drivers against literal versions, the small version of every claim, and the page."""

import json
import os
import re
import shutil
import time
from collections.abc import Sequence
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from gamesim.cli.main import main
from gamesim.engine.compiled import Vector
from gamesim.errors import InputError
from gamesim.measure import regrets
from gamesim.players.blum_mansour import BlumMansour
from gamesim.players.hedge import Hedge
from gamesim.players.wavelet import Wavelet, WaveletContinuous
from gamesim.study.description import Description
from gamesim.study.jobs import Outcome
from gamesim.study.results import Results
from gamesim.study.store import Row, Store
from gamesim.study.sweep import sweep
from gamesim.wavelet_theorem import claims, cost, interpolation, order, play, quantile, rates, run
from gamesim.wavelet_theorem.claims import CLAIMS, Claim
from gamesim.wavelet_theorem.drivers import Matrix, play_alone, play_game
from gamesim.wavelet_theorem.findings import compare, direction, mean_text, table
from gamesim.wavelet_theorem.instances import (
    FIRST_ORDER,
    HEDGE,
    OURS,
    PAPER,
    edge,
    favouring,
    rule,
    seed_of,
    uniform_regret,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from tests.algorithm_one import AlgorithmOne
from tests.test_sweep import here

DOCS = Path(__file__).parents[1] / "docs"


# The drivers, against literal versions.


def drawn(actions: int, rounds: int, seed: list[int]) -> tuple[Vector, Matrix]:
    """Return the random numbers of a run that fits into one chunk."""
    random = np.random.default_rng(seed)
    return random.random(rounds), random.random(rounds * actions).reshape(rounds, actions)


def flipped(means: Matrix, context: int, points: Vector) -> Vector:
    return np.where(points < (1 - means[context]) / 2, -1.0, 1.0)


@pytest.mark.parametrize("player", [Hedge(), Wavelet(), BlumMansour(rows="adahedge")])
def test_the_game_is_the_game_played_round_by_round(player: Hedge) -> None:
    actions, rounds, seed = 5, 300, [3, 1]
    means = np.random.default_rng(8).uniform(-0.8, 0.8, (actions, actions))  # not symmetric
    contexts, points = drawn(actions, rounds, seed)
    learner = player.start(actions)
    suffered, expected = np.zeros((2, actions, actions))
    for t in range(rounds):
        strategy = learner.play()
        context = int(np.searchsorted(np.cumsum(strategy), contexts[t], side="right"))
        loss = flipped(means, context, points[t])
        suffered += np.outer(strategy, loss)
        expected += np.outer(strategy, means[context])
        learner.observe(loss)
    played = play_game(player, means, rounds, seed)
    phi = rule("permutation", actions, 1, 4)
    assert np.allclose(played.suffered, suffered) and np.allclose(played.expected, expected)
    assert played.regret(phi) == pytest.approx(regrets.against(suffered, phi))
    assert played.mean_regret(phi) == pytest.approx(regrets.against(expected, phi))


def test_alone_each_row_of_blum_mansour_is_a_separate_hedge() -> None:
    actions, rounds, seed = 6, 400, [5, 2]
    means = favouring(rule("permutation", actions, 1, 0), rounds)
    contexts, points = drawn(actions, rounds, seed)
    totals, seen, lost = np.zeros((actions, actions)), np.zeros(actions), 0.0
    for t in range(rounds):
        i = int(contexts[t] * actions)
        weights = np.exp(-sqrt(2 * log(actions) / (1 + seen[i])) * (totals[i] - totals[i].min()))
        loss = flipped(means, i, points[t])
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
        loss = flipped(means, i, points[t])
        row = np.zeros(actions)
        row[order_] = literal.phi[0, at]
        lost += float(row @ loss)
        rows.append(row)
        literal.p_bar = np.eye(actions)[[at]]
        literal.observe(loss[None])
    assert np.ptp(rows, axis=0).max() > 0.5  # it has learnt and does not play uniformly
    assert play_alone(player, means, rounds, seed).own[0] == pytest.approx(lost, abs=1e-7)


def test_alone_a_context_needs_a_row() -> None:
    with pytest.raises(ValueError, match="power of two"):
        play_alone(Wavelet(), np.zeros((6, 6)), 10, [0])


def test_a_seed_is_a_run() -> None:
    means = favouring(rule("self", 4, 2, 0), 500)
    whole = play_game(Hedge(), means, 500, [1, 1])
    again = play_game(Hedge(), means, 500, [1, 1])
    assert np.array_equal(whole.suffered, again.suffered)
    other = play_game(Hedge(), means, 500, [2, 1])
    assert not np.array_equal(whole.suffered, other.suffered)


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


def test_the_yardsticks_regret_what_their_formulas_say() -> None:
    actions, rounds = 8, 40_000
    contexts = np.random.default_rng(5).integers(actions, size=rounds)
    for rows in (None, 1):
        phi = rule("unif", actions, 1, 3)
        means = favouring(phi, rounds, rows)
        regret = sum(means[i].mean() - means[i] @ phi[i] for i in contexts)
        assert regret == pytest.approx(uniform_regret(actions, rounds, rows), rel=1e-9)
    for k in (1, 5, 8):
        phi = rule("self", actions, k, 3)
        means = favouring(phi, rounds)
        regret = sum(means[i, i] - means[i] @ phi[i] for i in contexts)
        assert regret == pytest.approx(interpolation.staying_regret(actions, rounds, k), rel=0.05)


def results_of(rows: Sequence[tuple[Labels, int, Values]]) -> Results:
    """Return results with all points finished."""
    done = [Row(f"{i}", labels, seed, "done", dict(values), None, 1.0) for i, (labels, seed, values) in enumerate(rows)]
    return Results(Description("mine"), done)


def test_exponents_in_k_are_judged_by_their_intervals() -> None:
    powers = {0.7: False, 0.3: True, -0.2: False, 0.02: None, 0.48: None}
    for power, held in powers.items():
        rows = []
        for seed in range(4):
            for k in (1, 4, 16, 32):  # the last is d, which is excluded
                labels = {"setting": "alone", "d": 32, "T": 9, "family": "self", "k": k, "learner": PAPER}
                regret = 10.0 * k ** (power + 0.03 * (seed - 1.5)) if k < 32 else 1e6
                rows.append((labels, seed, {"regret": regret}))
        (finding,) = interpolation.powers(results_of(rows))
        assert finding.held is held, (power, finding)


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
            return run.results_of(claim, True, {row.key: row for row in store.rows()})

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


def test_interpolation_shows_and_breaks_when_hedge_takes_the_flagships_place(small: Small) -> None:
    found = small.of(interpolation)
    for flagship in (PAPER, OURS):
        asserted = interpolation.holds(found, flagship)
        assert len(asserted) == 4 and all(finding.held for finding in asserted), asserted
    swapped = interpolation.holds(found, HEDGE)
    assert sum(not finding.held for finding in swapped) >= 2
    assert "more than" in next(finding.under for finding in swapped if "moves one action" in finding.text)


def test_regret_stays_within_the_certificate_and_below_uniform_play(small: Small) -> None:
    found = small.of(interpolation)
    assert all(finding.held for finding in interpolation.certificates(found))
    cell = {"setting": "alone", "d": 32, "family": "self", "k": 1, "learner": PAPER}
    assert max(found.values("regret", **cell).values()) < 0.5 * 8000 * edge(32, 8000)


def test_the_right_order_is_worth_something_for_blocks_and_nothing_for_permutations(small: Small) -> None:
    found = small.of(order)
    for name, expected in (("two blocks", -1), ("permutation", 0)):
        cell = {"rule": name, "learner": OURS}
        difference = found.difference("regret", {**cell, "order": "right"}, {**cell, "order": "shuffled"})
        assert direction(difference) == expected, (name, mean_text(difference))


def test_rates_are_near_the_square_root_of_the_rounds(small: Small) -> None:
    found = small.of(rates)
    for learner in (PAPER, OURS, FIRST_ORDER):
        slope = np.mean(list(rates.slopes(found, "T", "alone", learner).values()))
        assert 0.3 < slope < 0.75, (learner, slope)


def test_the_quantile_theorem_fails_as_printed_and_holds_as_read(small: Small) -> None:
    found = small.of(quantile)
    for learner in (PAPER, OURS):
        (excess,) = found.values("excess", part="counterexample", learner=learner).values()
        assert excess > 1  # and the theorem as printed has sqrt(T log 1) = 0
        constants = [value for row in found.done if (value := row.measures.get("constant")) is not None]
        assert max(constants) < 4
    assert quantile.excess(Hedge(rate=1e-12)) < 1e-6  # a learner that does not learn has no excess


def test_who_keeps_playing_a_dominated_action(small: Small) -> None:
    found = small.of(play)
    assert play.keepers(found) == ["regret-matching-plus", "predictive-rm-plus", "gradient"]
    for learner in (OURS, FIRST_ORDER):
        share = found.mean("dominated", game=play.SEPARATION, learner=learner)
        gap = found.mean("ce gap", game=play.SEPARATION, learner=learner)
        assert share is not None and gap is not None and share.value < 0.01 and gap.value < 0.02
    hedge = found.mean("ce gap", game=play.SEPARATION, learner=HEDGE)
    assert hedge is not None and hedge.value > 0.1


def test_memory_grows_with_the_square_of_the_actions(small: Small) -> None:
    found = small.of(cost)
    for d in (16, 64):
        mean = found.mean("bytes", d=d, kind=PAPER)
        assert mean and 8 <= mean.value / 8 / d**2 <= 10, "numbers per pair of actions"
    assert all((row.measures["microseconds"] or 0) > 0 for row in found.done)


# The page.


def test_the_page_lists_losses_first_and_has_every_table_and_figure(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "theorem.md"
    found = {claim.NAME: small.of(claim) for claim in CLAIMS}
    with Store(small.path) as store:
        monkeypatch.setattr(run, "CLAIMS", (interpolation, cost))  # draw the figures of two claims only
        run.write_page_and_figures(store, True, page, "gamesim theorem --small")
        monkeypatch.undo()
        text = run.text(store, True, "gamesim theorem --small")
    drawn = page.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "Where the wavelet learners lose"
    assert {"Interpolation", "Order", "Rates", "Quantile regret", "Games", "Cost"} <= set(headings)
    assert "still missing" not in text and "nan" not in text and "None" not in text
    for name in re.findall(r"\((theorem/\w+\.svg)\)", drawn):
        assert (tmp_path / name).stat().st_size > 1000
        assert (tmp_path / name).with_suffix(".png").exists()
    for claim in CLAIMS:
        section = claim.section(found[claim.NAME])
        assert section.findings and section.tables and section.figures
        for finding in section.findings:  # every result is quantified
            assert re.search(r"\d", finding.text), finding
            assert finding.text in text, finding


def invented(flagship: float, rival: float) -> Results:
    rows = []
    for seed in range(4):
        for learner, value in ((PAPER, flagship), (FIRST_ORDER, rival)):
            for k, more in ((1, 0.0), (16, 50.0)):
                labels = {"setting": "alone", "d": 32, "T": 8000, "family": "self", "k": k, "learner": learner}
                rows.append((labels, seed, {"regret": value + more + 0.1 * seed * k}))
    return results_of(rows)


def test_sentences_depend_on_the_numbers() -> None:
    wins, loses = invented(10.0, 90.0), invented(90.0, 10.0)
    assert [finding.held for finding in interpolation.holds(wins)] == [True, True]
    assert [finding.held for finding in interpolation.holds(loses)] == [False, True]
    assert interpolation.holds(loses)[0].loss and "more than" in interpolation.holds(loses)[0].under
    cells = [{"setting": "alone", "d": 32, "family": "self", "k": 1}]
    (won,) = compare(wins, cells, PAPER, [FIRST_ORDER], "Here")
    (lost,) = compare(loses, cells, PAPER, [FIRST_ORDER], "Here")
    (level,) = compare(invented(5.0, 5.0), cells, PAPER, [FIRST_ORDER], "Here")
    assert (won.held, won.loss, lost.loss, level.held) == (True, False, True, None)
    assert "is smaller than" in won.under and "is larger than" in lost.under and "no cell" in level.under


def test_tables_are_markdown() -> None:
    assert table("T", ["a", "b"], [["1", "2"]]) == "**T**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def only(*chosen: Point) -> Claim:
    """Return the quantile claim restricted to these points."""

    class Only:
        NAME = quantile.NAME
        points = staticmethod(lambda small: list(chosen))
        measure = staticmethod(quantile.measure)
        section = staticmethod(quantile.section)
        draw = staticmethod(quantile.draw)

    return Only()


def test_finished_points_are_kept_and_only_the_others_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point("quantile", {"part": "counterexample", "learner": name}, 0) for name in (HEDGE, "squint")]
    timing = Point("cost", {"d": 4, "kind": PAPER}, 0)
    monkeypatch.setattr(run, "CLAIMS", (only(*points),))
    monkeypatch.setattr(run, "TIMED", only(timing))
    with Store(tmp_path / "points.sqlite", write=True) as store:
        store.register(points, run.DESCRIPTION)
        store.finish([Outcome(points[0].key, {"excess": 123.0}, None, 0.5)])
    said: list[str] = []
    with Store(tmp_path / "points.sqlite", write=True) as store:  # as after an interruption
        run.run_claims(store, True, 1, said.append)
        kept = {row.labels.get("learner"): row.measures.get("excess") for row in store.rows("done")}
    assert said == ["2 of 2 points", "1 of 1 timings"]
    assert kept[HEDGE] == 123.0 and 0 < (kept["squint"] or 0) < 100


def test_points_that_fail_are_named_once_the_others_have_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("hegde", "squint")
    points = [Point("quantile", {"part": "counterexample", "learner": name}, 0) for name in names]
    monkeypatch.setattr(run, "CLAIMS", (only(*points),))
    with Store(tmp_path / "points.sqlite", write=True) as store:
        with pytest.raises(InputError, match=r"1 points failed.*'hegde'.* seed 0: .*did you mean 'hedge"):
            run.run_claims(store, True, 1, lambda _: None)
        assert store.counts()["done"] == 1


def test_claims_that_are_named_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = Point("quantile", {"part": "counterexample", "learner": HEDGE}, 0)
    monkeypatch.setattr(run, "CLAIMS", (only(point),))
    monkeypatch.setattr(run, "TIMED", only())
    for again, said in (([], 2), ([], 1), (["quantile"], 2)):
        heard: list[str] = []
        page = run.theorem(tmp_path, True, 1, again, heard.append)
        assert len(heard) == said, heard
    assert "1 of 1 points" in page.read_text(encoding="utf-8")


def test_an_invalid_store_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "theorem").mkdir()
    (tmp_path / "theorem" / "points.sqlite").write_text("no database, but text that is long enough to be one" * 20)
    with pytest.raises(InputError, match="choose another folder"):
        run.theorem(tmp_path, True, 1, [], lambda _: None)


def test_mistakes_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["theorem", "--small", "--again", "costs", "--out", str(tmp_path)]) == 2
    assert "unknown claim 'costs'" in capsys.readouterr().err
    assert main(["theorem", "--workers", "0", "--out", str(tmp_path)]) == 2


@pytest.mark.skipif(not (DOCS / "theorem" / "points.sqlite").exists(), reason="this copy does not contain the store")
def test_the_page_in_the_docs_matches_its_store(tmp_path: Path) -> None:
    shutil.copy(DOCS / "theorem" / "points.sqlite", tmp_path / "points.sqlite")
    with Store(tmp_path / "points.sqlite") as store:
        text = run.text(store, False, "gamesim theorem")
    assert text == (DOCS / "theorem.md").read_text(encoding="utf-8")


def test_labels_survive_the_store(tmp_path: Path) -> None:
    point = Point("order", {"rule": "two blocks", "d": 16}, 3)
    assert point.key == Point("order", json.loads(json.dumps(point.labels)), 3).key
    assert point.key != Point("order", point.labels, 4).key
    assert seed_of(1, "a", 2) != seed_of(1, "a", 3)
