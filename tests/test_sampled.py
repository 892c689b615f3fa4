"""Test that drawn actions and the strategies they are drawn from are distinguished: both regrets, and their bounds."""

import json
from collections.abc import Sequence
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from gamesim import InputError, Simulation, figures, games, players, simulate
from gamesim.cli.main import main
from gamesim.engine import checkpoints, tracks
from gamesim.engine.sums import lengths
from gamesim.formatting import number
from gamesim.game import Table
from gamesim.learner import PLAIN_REGRETS, REGRETS_OF, Feedback, Learner, PlainRegret, RegretOf
from gamesim.measure.bounds import draw_excess
from gamesim.record import Record, load
from gamesim.report import html, summary, terminal
from gamesim.scenario import Scenario
from gamesim.views import frames
from tests.lab_server import running_lab

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]

TWO_BY_THREE = games.from_payoffs([[1.0, 0.0, 3.0], [0.0, 2.0, -1.0]], [[0.0, 2.0, 1.0], [5.0, 0.0, 0.5]])
THREE_PLAYERS = games.make("uniform", players=3, actions=[3, 2, 4], seed=4)
NEW = "strategy_counterfactuals"


# A literal transcription: draws by inverse transform, losses looked up in the tables, regrets by brute force.


def replayed(
    game: Table, learners: Sequence[Learner], rounds: int, seed: int, feedback: Feedback
) -> tuple[list[Floats], list[Floats], Floats]:
    """Return each player's strategies and losses, one row per round, and the drawn actions."""
    uniforms = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed).spawn(2)[1]))
    running = [learner.start(size) for learner, size in zip(learners, game.sizes, strict=True)]
    strategies = [np.zeros((rounds, size)) for size in game.sizes]
    losses = [np.zeros((rounds, size)) for size in game.sizes]
    drawn = np.zeros((rounds, len(learners)), dtype=int)
    for t in range(rounds):
        u = uniforms.random(len(learners))
        for i, learner in enumerate(learners):
            if not learner.informed:
                strategies[i][t] = running[i].play()
                drawn[t, i] = np.searchsorted(strategies[i][t].cumsum(), u[i], side="right")
        for i, learner in enumerate(learners):
            if learner.informed:
                others = [
                    np.eye(game.sizes[k])[drawn[t, k]] if learner.sees_draws else strategies[k][t]
                    for k in range(len(learners))
                ]
                expected = against(game, i, others)
                best = expected <= expected.min() + 1e-12
                strategies[i][t] = best / best.sum()
                drawn[t, i] = np.searchsorted(strategies[i][t].cumsum(), u[i], side="right")
        for i, learner in enumerate(learners):
            losses[i][t] = against(game, i, [np.eye(size)[a] for size, a in zip(game.sizes, drawn[t], strict=True)])
            if not learner.informed:
                unseen = (feedback == "bandit") & (np.arange(game.sizes[i]) != drawn[t, i])
                running[i].observe(np.where(unseen, np.nan, losses[i][t]))
    return strategies, losses, drawn


def against(game: Table, player: int, profile: Sequence[Floats]) -> Floats:
    """Return the losses of a player's actions if the others play these strategies."""
    result = np.zeros(game.sizes[player])
    for cell in product(*map(range, game.sizes)):
        weight = np.prod([profile[k][a] for k, a in enumerate(cell) if k != player])
        result[cell[player]] += weight * game.losses[player][cell]
    return result


def brute_force(played: Floats, losses: Floats, kind: PlainRegret) -> float:
    """Return the regret of strategies (or point masses), as the maximum over all deviations of this kind."""
    size = played.shape[1]
    maps: list[tuple[int, ...]] = list(product(range(size), repeat=size))
    if kind == "external":
        maps = [(j,) * size for j in range(size)]
    if kind == "internal":
        maps = [phi for phi in maps if sum(phi[a] != a for a in range(size)) <= 1]
    return max(float((played * (losses - losses[:, phi])).sum()) for phi in maps)


CASES: dict[str, tuple[Table, list[str], Feedback]] = {
    "two by three": (TWO_BY_THREE, ["hedge", "regret-matching"], "sampled"),
    "three players": (THREE_PLAYERS, ["blum-mansour", "hedge", "regret-matching"], "sampled"),
    "an adversary": (THREE_PLAYERS, ["hedge", "adversary", "regret-matching"], "sampled"),
    "a clairvoyant": (THREE_PLAYERS, ["hedge", "clairvoyant", "regret-matching"], "sampled"),
    "bandits": (THREE_PLAYERS, ["exp3", "tsallis-inf", "adversary"], "bandit"),
    "bandits seen": (TWO_BY_THREE, ["clairvoyant", "exp3-ix"], "bandit"),
}


@pytest.mark.parametrize("case", CASES)
def test_both_regrets_are_those_of_a_literal_replay(case: str) -> None:
    game, names, feedback = CASES[case]
    rounds, seed = 250, 7
    learners = [players.make(name).with_horizon(rounds) for name in names]
    record = simulate(game, learners, rounds, seed=seed, feedback=feedback)
    strategies, losses, drawn = replayed(game, learners, rounds, seed, feedback)
    for mixed, kept in zip(strategies, record.trajectory[1], strict=True):
        np.testing.assert_allclose(kept, mixed, atol=1e-9)
    assert record.curve.rounds[-2] == 200
    for i, scale in enumerate(game.scale):
        masses = np.eye(game.sizes[i])[drawn[:, i]]
        both: tuple[tuple[RegretOf, Floats], ...] = (("play", masses), ("strategies", strategies[i]))
        for kind in PLAIN_REGRETS:
            for of, played in both:
                expected = [scale * brute_force(played[:t], losses[i][:t], kind) for t in (200, 250)]
                np.testing.assert_allclose(record.curve.regret(kind, of=of)[-2:, i], expected, atol=1e-8)
                assert record.regret(kind, of=of)[i] == pytest.approx(expected[1], abs=1e-8)
                assert np.asarray(record.measure(f"{kind}-regret", of=of))[i] == pytest.approx(expected[1], abs=1e-8)
                phi = record.best_deviation(i, kind, of=of)
                gain = scale * (played * (losses[i] - losses[i] @ phi.T)).sum()
                assert gain == pytest.approx(expected[1], abs=1e-8)
        lost = (strategies[i] * losses[i]).sum()
        worst = scale * (lost - losses[i].sum(axis=0).max())
        assert record.regret("quantile", of="strategies", epsilon=1.0)[i] == pytest.approx(worst, abs=1e-8)
        together, alone = record.profile(i, of="strategies")
        swap = scale * brute_force(strategies[i], losses[i], "swap")
        np.testing.assert_allclose([together[-1], alone[-1]], swap, atol=1e-8)
    assert not np.allclose(record.regret("swap"), record.regret("swap", of="strategies"))
    cells = np.zeros(game.sizes)
    np.add.at(cells, tuple(drawn.T), 1 / rounds)
    assert record.joint is not None
    np.testing.assert_allclose(record.joint, cells, atol=1e-12)


def test_with_expected_feedback_both_are_the_same_and_nothing_is_added() -> None:
    record = simulate(THREE_PLAYERS, "hedge", 100, perturb=0.3)
    for kind in PLAIN_REGRETS:
        np.testing.assert_array_equal(record.regret(kind, of="strategies"), record.regret(kind))
        np.testing.assert_array_equal(record.curve.regret(kind, of="strategies"), record.curve.regret(kind))
        assert record.bound(0, kind, of="strategies") == record.bound(0, kind)
    assert record.bound_holds(0) == record.bound_holds(0, of="strategies") == "surely"
    assert not [name for name in record.arrays if NEW in name]


def test_memory_and_checkpoints_count_the_further_sum() -> None:
    sizes = [30, 40]
    further = lengths(sizes, drawn=True, tabled=True)[NEW]
    assert further == 30**2 + 40**2
    drawn, expected = (checkpoints.checkpoint_numbers(sizes, one, tabled=True) for one in (True, False))
    assert drawn == expected + further
    more = tracks.bytes_needed(sizes, 10, True, True) - tracks.bytes_needed(sizes, 10, False, True)
    assert more == 8 * further * (2 + 10 * checkpoints.DECADES)


# Reproducibility.


class Wrapped:
    """Hedge, run as a learner written in Python."""

    def __init__(self, actions: int) -> None:
        self.learner = players.make("hedge").start(actions)

    def play(self) -> Floats:
        return self.learner.play()

    def observe(self, loss: Floats) -> None:
        self.learner.observe(loss)


def assert_same(one: Record, other: Record, names: Sequence[str] = ()) -> None:
    assert one.arrays.keys() == other.arrays.keys()
    for name in names or one.arrays:
        assert np.array_equal(one.arrays[name], other.arrays[name], equal_nan=True), name


@pytest.mark.parametrize("learner", ["regret-matching", "adversary", "clairvoyant"])
def test_pieces_threads_and_replicas_give_the_same_bits(learner: str, tmp_path: Path) -> None:
    def made(**given: Any) -> Simulation[Any]:
        return Simulation(THREE_PLAYERS, ["hedge", learner, "blum-mansour"], feedback="sampled", perturb=0.3, **given)

    whole = made(seed=5).run(100)
    pieces = made(seed=5)
    for rounds in (1, 7, 29):
        record = pieces.run(rounds)
    resumed = Simulation.resume(load(record.save(tmp_path / "record")))
    assert_same(resumed.run(63), whole)
    for threads in (0, 2):
        together = made(seed=3, replicas=4).run(100, threads=threads)
        assert_same(together[2], whole)


def test_learners_written_in_python_give_the_same_bits() -> None:
    compiled = simulate(THREE_PLAYERS, ["adversary", "hedge", "regret-matching"], 100, feedback="sampled", seed=2)
    python = simulate(THREE_PLAYERS, ["adversary", Wrapped, "regret-matching"], 100, feedback="sampled", seed=2)
    names = ("average", "joint", NEW, f"checkpoint_{NEW}", f"continue_{NEW}", "trajectory")
    assert_same(python, compiled, names)


# Informed players.


@pytest.mark.parametrize("feedback", ["expected", "sampled", "bandit"])
def test_the_adversary_reacts_to_strategies_whatever_the_feedback(feedback: Feedback) -> None:
    other = "exp3" if feedback == "bandit" else "hedge"
    record = simulate(TWO_BY_THREE, [other, "adversary"], 500, feedback=feedback, opening=[[0.9, 0.1], None])
    _, (strategies, replies) = record.trajectory
    losses = strategies @ TWO_BY_THREE.losses[1]
    np.testing.assert_allclose((replies * losses).sum(axis=1), losses.min(axis=1), atol=1e-12)
    replies_to_draws = TWO_BY_THREE.losses[1].argmin(axis=1)
    assert (losses.argmin(axis=1) != replies_to_draws[strategies.argmax(axis=1)]).any(), "else a test of nothing"


def test_hedge_keeps_its_promise_against_the_adversary_and_loses_every_round_to_a_clairvoyant() -> None:
    rounds = 10_000
    record = simulate("matching-pennies", ["hedge", "adversary"], rounds, feedback="sampled")
    promised, drawn = (record.bound(0, "external", of=of) or 0 for of in ("strategies", "play"))
    assert promised == pytest.approx(236.07, abs=0.01)
    assert 0 < record.regret("external", of="strategies")[0] <= promised
    assert record.regret("external")[0] <= drawn == pytest.approx(promised + np.sqrt(2 * rounds * np.log(100)))
    seen = simulate("matching-pennies", ["hedge", "clairvoyant"], rounds, feedback="sampled")
    assert seen.payoffs.tolist() == [-1, 1]
    assert seen.regret("external")[0] >= rounds
    assert seen.bound(0, "external") is None and seen.bound_holds(0) is None
    assert 0 < seen.regret("external", of="strategies")[0] <= (seen.bound(0, "external", of="strategies") or 0)
    assert seen.bound_holds(0, of="strategies") == "surely"


def test_a_bound_in_expectation_is_void_if_the_draws_are_seen() -> None:
    learners = ["exp3", "clairvoyant"]
    seen = simulate("matching-pennies", learners, 2000, feedback="bandit", replicas=5)
    for of in REGRETS_OF:
        assert seen.bound(0, "external", of=of) is None and seen.bound_holds(0, of=of) is None
    fair = simulate("matching-pennies", ["exp3", "adversary"], 2000, feedback="bandit", replicas=20)
    bound = 2 * np.sqrt(2 * 2 * 2000 * np.log(2))
    for of in REGRETS_OF:
        assert fair.bound_holds(0, of=of) == "in expectation"
        assert fair.bound(0, "external", of=of) == pytest.approx(bound)
        matrix = np.mean([fair.moments(r)[-1].matrices_of(of)[0] for r in range(20)], axis=0)
        assert np.trace(matrix) - matrix.sum(axis=0).min() <= bound
    assert seen.regret("external").mean(axis=0)[0] > bound, "the bound that is void would be violated"


MESSAGE = "at most one player may observe the others before it plays, got 2"


def test_two_informed_players_are_refused_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"got 2: Matcher \(adversary\), Mismatcher \(clairvoyant\); choose another"):
        simulate("matching-pennies", ["adversary", "clairvoyant"], 10, feedback="sampled")
    base: dict[str, Any] = {"rounds": 10, "game": {"name": "matching-pennies"}}
    named = {**base, "players": [{"learner": "adversary", "name": "Ann"}, {"learner": "adversary"}]}
    for raw, key in (({**base, "everyone": {"learner": "adversary"}}, "everyone.learner"), (named, "players")):
        with pytest.raises(InputError) as refused:
            Scenario.from_dict(raw)
        assert str(refused.value).startswith(f"scenario: {key}: {MESSAGE}")
    assert "Ann (adversary), Mismatcher (adversary)" in str(refused.value)
    assert main(["compare", "matching-pennies", "--learners", "adversary,hedge", "--rounds", "10"]) == 2
    assert capsys.readouterr().err.count(MESSAGE) == 1
    Path("mine.toml").write_text(
        'base = { rounds = 9, game = { name = "chicken" }, everyone = { learner = "hedge" } }\n'
        'grid = { "everyone.learner" = ["hedge", "adversary"] }'
    )
    assert main(["sweep", "mine.toml", "--workers", "1"]) == 2
    assert capsys.readouterr().err.count(MESSAGE) == 1
    with running_lab() as lab, lab.page() as page:
        page.send("begin", scenario=named)
        assert MESSAGE in page.expect("error")["message"]


def test_the_informed_players_of_a_crowd_are_counted_and_some_are_named() -> None:
    with pytest.raises(InputError, match=r"got 12: (Player \d \(adversary\), ){4}…; choose another"):
        simulate(games.make("el-farol", players=12), "adversary", 10)


# Bounds.


def test_swap_bounds_hold_for_what_they_bound() -> None:
    """In matching pennies, 7 % of runs have draws with more swap regret than Blum and Mansour promise."""
    simulation = Simulation("matching-pennies", "blum-mansour", feedback="sampled", replicas=800)
    record = simulation.run(200, threads=0)
    promised, drawn = (record.bound(0, "swap", of=of) or 0 for of in ("strategies", "play"))
    assert promised == pytest.approx(35.498, abs=1e-3)
    assert drawn == pytest.approx(promised + draw_excess("swap", 200, 2, 0.01))
    assert record.bound_holds(0, of="strategies") == "surely"
    assert (record.regret("swap", of="strategies") <= promised).all()
    regrets = record.regret("swap")
    assert regrets[:, 0].max() == 84
    assert 0.05 < (regrets > promised).mean() < 0.09, "the wrong comparison"
    assert ((regrets > drawn).mean(axis=0) <= 0.01).all()


@pytest.mark.parametrize(("kind", "actions"), [("external", 2), ("external", 3), ("internal", 3), ("swap", 3)])
def test_draws_exceed_strategies_by_the_stated_amount_with_the_stated_probability(
    kind: PlainRegret, actions: int
) -> None:
    """Losses of ±1 that depend on the past draws, and strategies on the past losses, in 2,000 runs side by side."""
    runs, rounds = 2000, 200
    random = np.random.default_rng(11)
    strategies = np.full((runs, actions), 1 / actions)
    previous = np.zeros(runs, dtype=int)
    sums = {of: np.zeros((runs, actions, actions)) for of in ("play", "strategies")}
    for _ in range(rounds):
        losses = np.where(random.random((runs, actions)) < 0.5, 1.0, -1.0)
        losses[np.arange(runs), previous] *= -1
        drawn = (random.random(runs)[:, None] > strategies.cumsum(axis=1)[:, :-1]).sum(axis=1)
        sums["play"] += np.eye(actions)[drawn][:, :, None] * losses[:, None, :]
        sums["strategies"] += strategies[:, :, None] * losses[:, None, :]
        strategies = np.exp(-0.05 * losses) * strategies
        strategies /= strategies.sum(axis=1, keepdims=True)
        previous = drawn
    difference = sums["play"] - sums["strategies"]
    maps = np.array(list(product(range(actions), repeat=actions)))
    if kind == "external":
        maps = np.repeat(np.arange(actions)[:, None], actions, axis=1)
    if kind == "internal":
        maps = maps[(maps != np.arange(actions)).sum(axis=1) == 1]
    rows = np.arange(actions)
    excess = (np.trace(difference, axis1=1, axis2=2)[:, None] - difference[:, rows, maps].sum(axis=-1)).max(axis=1)
    for delta in (0.01, 0.1, 0.5):
        assert (excess > draw_excess(kind, rounds, actions, delta)).mean() <= delta
    assert (excess > draw_excess(kind, rounds, actions, 0.01) / 3).mean() > 0.01, "not vacuous"


def test_the_constants_are_those_of_azuma_and_hoeffding() -> None:
    assert draw_excess("external", 50, 7, 0.05) == pytest.approx(np.sqrt(2 * 50 * np.log(1 / 0.05)))
    assert draw_excess("internal", 50, 7, 0.05) == pytest.approx(np.sqrt(2 * 50 * np.log(42 / 0.05)))
    assert draw_excess("swap", 50, 7, 0.05) == pytest.approx(np.sqrt(8 * 50 * np.log(7**7 / 0.05)))
    assert draw_excess("swap", 50, 1, 0.05) == 0
    record = simulate(TWO_BY_THREE, "blum-mansour", 50, feedback="sampled", perturb=[0.0, 0.5])
    for i, (size, scale) in enumerate(zip((2, 3), (2.0, 2.5), strict=True)):
        for kind in PLAIN_REGRETS:
            added = (record.bound(i, kind, delta=0.2) or 0) - (record.bound(i, kind, of="strategies") or 0)
            assert added == pytest.approx(scale * draw_excess(kind, 50, size, 0.2))
            earlier = (record.bound(i, kind, 20) or 0) - (record.bound(i, kind, 20, of="strategies") or 0)
            assert earlier == pytest.approx(scale * draw_excess(kind, 20, size, 0.01))


@pytest.mark.parametrize("feedback", ["sampled", "expected"])
def test_certificates_bound_the_regret_of_strategies(feedback: Feedback) -> None:
    learners = ["wavelet-continuous", "adversary", "wavelet"]
    record = simulate(THREE_PLAYERS, learners, 3000, feedback=feedback, perturb=[0.5, 0, 0], seed=3)
    for i in (0, 2):
        for kind in PLAIN_REGRETS:
            phi = record.best_deviation(i, kind, of="strategies")
            regret = record.regret(
                "phi", of="strategies", phi=[np.eye(d) if k != i else phi for k, d in enumerate((3, 2, 4))]
            )
            assert regret[i] == pytest.approx(record.regret(kind, of="strategies")[i])
            certificate = record.certificate(i, phi) or 0
            assert regret[i] <= certificate <= (record.bound(i, "swap", of="strategies") or 0)
    shown = summary.summarise(record).players[0]
    if feedback == "expected":
        assert shown.strategies is None and shown.certificate["swap"] is not None
    else:
        assert shown.strategies is not None and shown.strategies.certificate["swap"] is not None
        assert set(shown.certificate.values()) == {None}, "the regret of draws is not certified"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda record: record.regret("swap", of="draws"), "unknown regret of 'draws'"),
        (lambda record: record.bound(0, "swap", of="strategy"), "did you mean 'strategies'"),
        (lambda record: record.bound(0, "swap", delta=0.0), "delta must lie strictly between 0 and 1, got 0.0"),
        (lambda record: record.bound(0, "swap", delta=1.5), "got 1.5"),
    ],
)
def test_invalid_arguments_get_one_message(call: Any, expected: str) -> None:
    record = simulate("chicken", "blum-mansour", 5, feedback="sampled")
    with pytest.raises(InputError, match=expected):
        call(record)


# Records of earlier versions.


def as_before(record: Record, folder: Path) -> Path:
    """Write a record as earlier versions did, without the sum of strategies."""
    record.save(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in [name for name in manifest["arrays"] if NEW in name]:
        manifest["arrays"].remove(name)
        (folder / f"{name}.npy").unlink()
    for seal in ("checksum", "checksums"):
        del manifest[seal]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("replicas", [None, 2])
def test_an_earlier_record_lacks_the_regret_of_strategies_and_says_so(replicas: int | None, tmp_path: Path) -> None:
    made: Simulation[Any] = Simulation(THREE_PLAYERS, "hedge", feedback="sampled", replicas=replicas)
    record = made.run(100)
    earlier = load(as_before(record, tmp_path / "earlier"))
    resumed = load(Simulation.resume(earlier).run(50).save(tmp_path / "resumed"))
    expected = made.run(50)
    for found, whole in ((earlier, record), (resumed, expected)):
        for kind in PLAIN_REGRETS:
            np.testing.assert_array_equal(found.regret(kind), whole.regret(kind))
            np.testing.assert_array_equal(found.curve.regret(kind), whole.curve.regret(kind))
            for measured in (found, found.curve):
                with pytest.raises(InputError, match="not in this record, which an earlier version of gamesim began"):
                    measured.regret(kind, of="strategies")
        shown = summary.summarise(found)
        assert shown.players[0].strategies is None
        assert "not in this record" in (shown.strategies_left_out or "")
        assert "Regrets of the strategies are left out" in printed(shown)
        assert "Regrets of the strategies are left out" in html.report_html(found, shown, [], "")


def test_an_earlier_record_with_expected_feedback_is_complete(tmp_path: Path) -> None:
    record = simulate(THREE_PLAYERS, "hedge", 50)
    loaded = load(record.save(tmp_path / "record"))
    assert loaded.arrays.keys() == record.arrays.keys()
    np.testing.assert_array_equal(loaded.regret("swap", of="strategies"), record.regret("swap"))


# Reports.


def printed(of: summary.Summary, width: int = 200) -> str:
    text = StringIO()
    terminal.show(of, Console(file=text, width=width))
    return " ".join(text.getvalue().split())


def test_reports_show_both_regrets_with_the_sense_of_their_bounds() -> None:
    record = simulate(TWO_BY_THREE, ["blum-mansour", "uniform"], 300, feedback="sampled", replicas=3)
    shown = summary.summarise(record)
    first = shown.players[0]
    assert first.strategies is not None
    parts: tuple[tuple[RegretOf, summary.RegretSummary], ...] = (("play", first), ("strategies", first.strategies))
    for of, part in parts:
        for kind in PLAIN_REGRETS:
            assert part.regret[kind] == pytest.approx(record.regret(kind, of=of).mean(axis=0)[0])
            assert part.bound[kind] == record.bound(0, kind, of=of)
    assert (first.bound_holds, first.strategies.bound_holds) == ("with high probability", "surely")
    data = json.loads(json.dumps(shown.as_full_json()))["players"]
    assert data[0]["strategies"]["bound_holds"] == "surely" and data[1]["bound_holds"] is None
    assert data[0]["strategies"]["regret"]["swap"] == first.strategies.regret["swap"]
    for text in (printed(shown), html.report_html(record, shown, [], "")):
        assert "≤ with probability 0.99" in text and "≤ surely" in text and "void:" not in text
        for part in (first, first.strategies):
            assert f"≤ {number((part.bound['swap'] or 0) / 300)}" in text


@pytest.mark.parametrize(("learner", "feedback"), [("hedge", "sampled"), ("exp3", "bandit")])
def test_reports_state_that_an_opponent_saw_the_draws(learner: str, feedback: Feedback) -> None:
    record = simulate("matching-pennies", [learner, "clairvoyant"], 300, feedback=feedback)
    shown = summary.summarise(record)
    assert shown.players[0].seen_by == ["Mismatcher"] and shown.players[1].seen_by == []
    for text in (printed(shown), html.report_html(record, shown, [], "")):
        assert "void: seen by Mismatcher" in text
        assert "Mismatcher (clairvoyant) saw the drawn actions before it played." in text
        assert ("≤ surely" in text) == (learner == "hedge")
        assert "in expectation</small>" not in text and "≤ in expectation" not in text
    assert json.loads(json.dumps(shown.as_full_json()))["players"][0]["bound"]["external"] is None


def test_figures_state_the_sense_of_the_bounds() -> None:
    def texts(record: Record) -> tuple[str, str]:
        figure, other = figures.regrets(record), figures.profile(record)
        assert figure is not None and other is not None
        legends = [*(axes.get_legend() for axes in figure.axes), *figure.legends]
        words = [text.get_text() for one in legends if one for text in (*one.get_texts(), one.get_title())]
        return " ".join(words), " ".join(axes.get_title() for axes in other.axes)

    labels, titles = texts(simulate("matching-pennies", "hedge", 50, feedback="sampled"))
    assert "declared bound (with probability 0.99)" in labels and "with probability 0.99" in titles
    labels, titles = texts(simulate("matching-pennies", ["exp3", "uniform"], 300, feedback="bandit", seed=1))
    assert "bound of Matcher (in expectation)" in labels
    labels, titles = texts(simulate("matching-pennies", ["hedge", "clairvoyant"], 50, feedback="sampled"))
    assert "bound of" not in labels and "saw the drawn actions" in labels and "guarantee" not in titles


def test_the_lab_draws_the_bound_on_what_it_shows() -> None:
    for other, of in (("hedge", "play"), ("clairvoyant", None)):
        simulation: Simulation[Any] = Simulation("matching-pennies", ["hedge", other], feedback="sampled")
        bounds = frames.bounds(simulation, 0, True, 1000)
        if of is None:
            assert bounds is None
            continue
        assert bounds is not None
        expected = simulate("matching-pennies", ["hedge", other], 1000, feedback="sampled", perturb=0.1)
        assert bounds["values"][-1] == pytest.approx(expected.bound(0, "external"))
