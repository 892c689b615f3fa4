"""Sentences are claims: each is checked against every round of runs built to falsify it, by brute force."""

import inspect
import os
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

import gamesim
from gamesim import Record, Table, figures, games, players
from gamesim.cli.catalogue import list_learners
from gamesim.figures.movement import movement, omitted
from gamesim.formatting import number
from gamesim.games.nash import pure_equilibria
from gamesim.games.varying import Varying
from gamesim.learner import Learner
from gamesim.measure.rounding import gap_rounding
from gamesim.measure.trend import Trend, trend
from gamesim.measure.trend_words import in_words
from gamesim.report import compare
from gamesim.report import summary as report
from gamesim.report.html import comparison_html, report_html
from gamesim.scenario import Scenario

pytestmark = pytest.mark.slow

Array = NDArray[Any]
ROADS = Table.from_payoffs([[[-2, -1], [-1, -2]]] * 2, name="two roads")


def grid(last: int) -> NDArray[np.int64]:
    """Return ten checkpoints per power of ten, and the last round."""
    steps = 10 ** (np.arange(61) / 10)
    return np.unique([*(round(t) for t in steps if t <= last), last])


# Curves with known tails.

Shape = Callable[[Array], Array]


def exponent_at(curve: Shape, rounds: Array) -> Array:
    """Return the local exponent of a curve, d log(gap) / d log(rounds)."""
    step = 1e-4
    ahead, behind = curve(rounds * np.exp(step)), curve(rounds * np.exp(-step))
    return np.asarray((np.log(ahead) - np.log(behind)) / (2 * step))


def slope_of(rounds: Array, values: Array) -> float:
    return float(np.polyfit(np.log(rounds), np.log(values), 1)[0])


def check_curve(curve: Shape, last: int, rounding: float = 0.0) -> Trend:
    """Check the sentence on a smooth curve against the curve between the checkpoints; return the trend."""
    rounds = grid(last)
    values = curve(rounds.astype(float))
    found = trend(rounds, values, rounding)
    window = np.geomspace(found.first, last, 400)
    dense, exponents = curve(window), exponent_at(curve, window)
    words = in_words([found], since=True)
    if match := re.fullmatch(r"(falls|falls slowly|grows) like T\^(\S+) at the checkpoints from round (\S+) on", words):
        claimed = float(match[2])
        whole, early, late = (slope_of(window[part], dense[part]) for part in (slice(400), slice(200), slice(200, 400)))
        assert whole == pytest.approx(claimed, abs=0.03), words
        assert abs(early - late) <= max(0.45 * abs(claimed), 0.1), words
        law = dense / window**whole
        assert law.max() <= 2 * law.min(), words
        assert (dense[-1] < dense[0]) == match[1].startswith("falls")
        assert (match[1] == "falls") == (found.power is not None and found.power.exponent <= -1 / 4)
    elif found.word == "stays":
        assert dense.max() <= 2 * dense.min(), words
        assert f"{number(values[rounds >= found.first].max())}" in words
    elif found.word == "levels off":
        assert found.floor is not None and found.floor <= dense.min()
        assert exponents[-1] > exponents[0] and dense[-1] < dense[0]
    elif found.word == "falls":
        assert exponents.max() < 0 and words == f"falls from {number(values[rounds == found.first][0])} at round " + (
            f"{found.first:,} to {number(values[-1])}"
        )
    return found


@pytest.mark.parametrize("last", [100, 3000, 10_000, 300_000])
@pytest.mark.parametrize("approach", [0.25, 0.4, 0.5, 0.75, 1.0, 1.5])
def test_a_fall_towards_a_floor_is_no_power_law(approach: float, last: int) -> None:
    for share in (0.0, 0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99):  # the floor as a share of the last gap
        size = (1 - share) * last**approach
        found = check_curve(lambda T, share=share, size=size: 0.1 * (share + size * T**-approach), last)  # type: ignore[misc]
        assert (found.power is None or found.word == "stays") == (share >= 0.3), (share, found)
        if found.word == "levels off":
            assert found.floor == pytest.approx(0.1 * share, rel=0.05)


def test_a_floor_of_a_tenth_is_named_and_not_called_a_slow_fall() -> None:
    rounds = grid(10_000)
    words = in_words([trend(rounds, 0.1 + 2 / np.sqrt(rounds))], since=True)
    assert words == "falls at the checkpoints from round 100 on, but a floor near 0.1 fits better than a power law"


def test_smooth_curves_of_all_kinds_are_described_as_they_are() -> None:
    """Local exponents wander along a random path; the sentence holds between the checkpoints too."""
    random = np.random.default_rng(5)
    for _ in range(150):
        last = int(10 ** random.uniform(1.5, 5.5))
        at = np.linspace(0, np.log(last) + 1, 12)
        path = random.choice([-1.0, -0.5, -0.2, 0.0, 0.3]) + random.choice([0, 0.02, 0.1, 0.5]) * random.normal(size=12)
        fit = np.polynomial.Polynomial.fit(at, path, 4).integ()

        def curve(T: Array, fit: Any = fit) -> Array:
            return np.asarray(np.exp(fit(np.log(T)) - fit(0.0)))

        check_curve(curve, last)


@pytest.mark.parametrize("last", [1000, 100_000])
def test_slow_logarithms_and_saturation_are_described_as_they_are(last: int) -> None:
    curves: list[Shape] = [
        lambda T: 1 / np.log(T + 2),
        lambda T: np.log(T + 2) / T,
        lambda T: np.sqrt(np.log(T + 2) / T),
        lambda T: 0.5 - 0.45 * T**-0.3,
        lambda T: 1 - np.exp(-T / last),
        lambda T: np.exp(-5 * T / last),
    ]
    for curve in curves:
        assert check_curve(curve, last).word != "unknown"


def test_zero_is_zero_everywhere_and_a_billionth_is_not() -> None:
    record = gamesim.simulate("rock-paper-scissors", "uniform", 10_000)
    summary = report.summarise(record)
    assert summary.trend == summary.as_full_json()["trend"] == {"ce": "zero", "cce": "zero"}
    assert summary.as_full_json()["slope"] == {"ce": None, "cce": None}
    assert "0 up to rounding" in in_words(summary.trends["ce"])
    rounds = grid(10_000)
    rounding = gap_rounding(record.game, 10_000)
    assert rounding < 1e-10
    assert trend(rounds, np.full(len(rounds), 1e-9), rounding).word == "stays"
    pennies = games.make("matching-pennies")
    learners = [players.make("fixed", strategy=(0.5 + 1e-9, 0.5 - 1e-9))] * 2
    near = report.summarise(gamesim.simulate(pennies, learners, 10_000))
    assert near.gap["ce"] == pytest.approx(2e-9, rel=1e-3)
    assert "up to rounding" not in near.verdict and "a 2e-09-approximate correlated equilibrium" in near.verdict


# Runs of which every round is known.


def logged(make: Callable[[int], Any], log: list[tuple[Array, Array]]) -> type:
    """Return a user-defined learner that plays like another and keeps every strategy and loss."""

    class Logged:
        def __init__(self, actions: int) -> None:
            self.inner = make(actions)

        def play(self) -> Array:
            return np.array(self.inner.play(), dtype=float)

        def observe(self, loss: Array) -> None:
            log.append((self.play(), np.array(loss)))
            self.inner.observe(np.clip(loss, -1, 1))  # rounding may take a loss beyond 1

    return Logged


def started(learner: Learner, seed: int) -> Callable[[int], Any]:
    """Return a maker of running learners that have already observed a small loss, so that play is not symmetric."""

    def make(actions: int) -> Any:
        running = learner.start(actions)
        running.observe(np.random.default_rng([seed, actions]).uniform(-0.5, 0.5, actions))
        return running

    return make


class Scripted:
    """Play a strategy that depends on the round only."""

    def __init__(self, actions: int, script: Callable[[int], int]) -> None:
        self.actions, self.script, self.round = actions, script, 0

    def play(self) -> Array:
        strategy: Array = np.eye(self.actions)[self.script(self.round) % self.actions]
        return strategy

    def observe(self, loss: Array) -> None:
        self.round += 1


class Creeping(Scripted):
    """Move from the uniform strategy by a billionth per round."""

    def play(self) -> Array:
        strategy = np.full(self.actions, 1 / self.actions)
        if self.actions > 1:
            strategy[0] += 1e-9 * self.round
            strategy[1] -= 1e-9 * self.round
        return strategy


def scripted(script: Callable[[int], int]) -> Callable[[int], Any]:
    return lambda actions: Scripted(actions, script)


LEARNERS: dict[str, Callable[[int], Any]] = {
    **{
        f"{name} {settings}": started(players.make(name, **settings), seed)
        for seed, (name, settings) in enumerate(
            [
                ("hedge", {}),
                ("hedge", {"rate": 3.0}),
                ("regret-matching", {}),
                ("fictitious-play", {}),
                ("optimistic-hedge", {}),
                ("blum-mansour", {}),
                ("uniform", {}),
            ]
        )
    },
    "period two": scripted(lambda t: t % 2),
    "period four": scripted(lambda t: (0, 1, 0, 2)[t % 4]),
    "blocks as long as the checkpoints": scripted(lambda t: int(10 * np.log10(t + 1))),
    "a late change": scripted(lambda t: int(t >= 600)),
    "creeping": lambda actions: Creeping(actions, lambda t: 0),
}
RANDOM = np.random.default_rng(1)
GAMES: dict[str, Table] = {
    "two roads": ROADS,
    "shapley": games.make("shapley"),
    "pennies": games.make("matching-pennies"),
    "uneven": Table.from_payoffs(RANDOM.uniform(-1, 3, (2, 2, 3)), name="uneven"),
    "three players": Table.from_payoffs(RANDOM.uniform(0, 1, (3, 2, 3, 2)), name="three players"),
    "constant": Table.from_payoffs(np.full((2, 2, 2), 7.0), name="constant"),
    "one action": Table.from_payoffs([[[1.0, 0.0]], [[2.0, 5.0]]], name="one action"),
    "nothing to choose": Table.from_payoffs([[[1.0]], [[2.0]]], name="nothing to choose"),
    "tiny": Table.from_payoffs(1e-13 * RANDOM.uniform(0, 1, (2, 2, 2)), name="tiny"),
    "far from 0": Table.from_payoffs(1e6 + RANDOM.uniform(0, 1, (2, 2, 2)), name="far from 0"),
    "ties": Table.from_payoffs([[[0, 1], [0, 1]], [[2, 2], [1, 1]]], name="ties"),
}


class Known:
    """A run with every strategy and loss, and its gaps in every round by brute force in extended precision."""

    def __init__(self, game: Table, makers: list[Callable[[int], Any]], rounds: int) -> None:
        logs: list[list[tuple[Array, Array]]] = [[] for _ in makers]
        learners = [logged(make, log) for make, log in zip(makers, logs, strict=True)]
        self.record: Record[float] = gamesim.simulate(game, learners, rounds)
        self.strategies = [np.array([strategy for strategy, _ in log]) for log in logs]
        self.regrets: dict[str, list[Array]] = {"ce": [], "cce": []}
        for i, log in enumerate(logs):
            played = np.array([strategy for strategy, _ in log], dtype=np.longdouble)
            losses = np.array([loss for _, loss in log], dtype=np.longdouble)
            sums = np.cumsum(played[:, :, None] * losses[:, None, :], axis=0) * game.scale[i]
            own = np.einsum("taa->ta", sums)
            swap = (own[:, :, None] - sums).max(axis=2).sum(axis=1)
            external = own.sum(axis=1) - sums.sum(axis=1).min(axis=1)
            each = np.arange(1, rounds + 1)
            self.regrets["ce"].append(swap / each)
            self.regrets["cce"].append(external / each)
        self.gap = {kind: np.maximum(0, np.max(found, axis=0)) for kind, found in self.regrets.items()}
        self.rounding = gap_rounding(game, rounds)


def pairs_of_learners(players_needed: int) -> Iterator[list[Callable[[int], Any]]]:
    names = list(LEARNERS)
    for k, name in enumerate(names):
        others = [names[(k + 3 * i + 1) % len(names)] for i in range(1, players_needed)]
        yield [LEARNERS[one] for one in (name, *others)]
        if players_needed == 2 and k < 2:
            yield [LEARNERS[name]] * 2


def close(claimed: str, value: float, slack: float = 0.0) -> bool:
    """Whether a printed number is a value to three significant digits."""
    return abs(float(claimed.replace(",", "")) - value) <= 0.0051 * abs(value) + slack


NUMBER = r"([0-9][0-9.,]*[0-9](?:e[-+]?\d+)?|\d(?:e[-+]?\d+)?)"


def check_words(words: str, gap: Array, known: Known) -> None:
    """Check what a verdict says of one gap against the gap in every round."""
    rounds = known.record.curve.rounds
    slack = 2 * known.rounding

    def since(first: str) -> Array:
        return np.asarray(gap[rounds[rounds >= int(first.replace(",", ""))] - 1], dtype=float)

    if match := re.match(rf"stays between {NUMBER} and {NUMBER} at the checkpoints from round {NUMBER} on", words):
        assert close(match[1], since(match[3]).min(), slack) and close(match[2], since(match[3]).max(), slack), words
    elif match := re.match(rf"stays at {NUMBER} at the checkpoints from round {NUMBER} on", words):
        assert all(close(match[1], value, slack) for value in since(match[2])), words
    elif match := re.match(
        rf"has no steady trend \({NUMBER} to {NUMBER} at the checkpoints from round {NUMBER}", words
    ):
        assert close(match[1], since(match[3]).min(), slack) and close(match[2], since(match[3]).max(), slack), words
    elif match := re.match(rf"(\D+) like T\^(-?[0-9.]+) at the checkpoints from round {NUMBER} on", words):
        first = int(match[3].replace(",", ""))
        seen = since(match[3])
        fitted = np.polyfit(np.log(rounds[rounds >= first]), np.log(seen), 1)[0]
        assert fitted == pytest.approx(float(match[2]), abs=0.006), words
        assert (seen[-1] < seen[0]) == match[1].startswith("falls"), words
    elif match := re.match(rf"falls from {NUMBER} at round {NUMBER} to {NUMBER}", words):
        seen = since(match[2])
        assert close(match[1], seen[0], slack) and close(match[3], seen[-1], slack) and seen[-1] < seen[0], words
    elif match := re.match(rf"falls at the checkpoints from round {NUMBER} on, but a floor near {NUMBER} fits", words):
        seen = since(match[1])
        assert seen[-1] < seen[0] and float(match[2]) <= seen.min() * 1.01, words
    elif words.startswith("is 0 up to rounding"):
        assert gap[-1] <= slack, words
    else:
        assert words.startswith("has no trend yet") and len(rounds) < 5, words


def check_verdict(known: Known) -> None:
    """Check every claim of the verdict of a run."""
    summary = report.summarise(known.record, distance="never")
    text = summary.verdict
    ends = {kind: float(gap[-1]) for kind, gap in known.gap.items()}
    slack = 2 * known.rounding
    for kind, name in (("ce", "correlated"), ("cce", "coarse correlated")):
        assert abs(summary.gap[kind] - ends[kind]) <= known.rounding
        assert (summary.trend[kind] == "zero") == (summary.gap[kind] <= known.rounding)
        if match := re.search(rf" an? {NUMBER}-approximate {name} equilibrium", text):
            assert close(match[1], ends[kind], slack), text
            assert match[1] != "0", text
        if re.search(rf"a {name} equilibrium up to rounding", text):
            assert ends[kind] <= slack, text
    if "no player would have gained by swapping" in text:
        assert ends["ce"] <= slack
    if match := re.search(rf": (?!no player)(.+) would have gained {NUMBER} per round by swapping", text):
        i = known.record.game.players.index(match[1])
        assert known.regrets["ce"][i][-1] == pytest.approx(ends["ce"]) and close(match[2], ends["ce"], slack)
    for pattern, kind in ((r"and this gap (.+)", "ce"), (r"the CE gap (.+)", "ce"), (r"the CCE gap (.+)", "cce")):
        if match := re.search(pattern, text):
            check_words(match[1], known.gap[kind], known)


def check_movement(known: Known) -> None:
    """Check the title of the strategies against the strategies of every round."""
    record = known.record
    shown = range(len(record.game.players))
    title = movement(record, shown)
    steps = [np.abs(np.diff(one, axis=0)).sum(axis=1) / 2 for one in known.strategies]
    slack = 1e-12 + 1e-15 * record.rounds
    if match := re.search(rf"move by up to {NUMBER} in all after round {NUMBER} \((.+) per round\)", title):
        late = max(float(one[int(match[2].replace(",", "")) - 1 :].sum()) for one in steps)
        assert close(match[1], late) and late > 0.01, title
    elif match := re.search(rf"hardly move after round {NUMBER} \(by at most (.+) in all\)", title):
        late = max(float(one[int(match[1].replace(",", "")) - 1 :].sum()) for one in steps)
        assert late <= 0.01 and number(late, zero=0.0, typeset=True) == match[2], title
    elif match := re.search(rf"do not move(?: after round {NUMBER})? \(up to rounding\)", title):
        first = int((match[1] or "1").replace(",", "")) - 1
        assert max(float(one[first:].sum()) for one in steps) <= slack, title
    else:
        assert record.rounds == 1, title
    if "near pure actions" in title:
        assert min(float(one[-1].max()) for one in known.strategies) >= 0.98, title
    note = omitted(record, shown)
    if record.rounds <= 1000:
        assert not note  # every round is drawn
    assert "settle" not in title and "rest" not in title.split()


def check_joint(known: Known) -> None:
    """Check the title of the joint distribution against the mean of the products of all strategies."""
    record = known.record
    letters = "abc"[: len(known.strategies)]
    products = np.einsum(",".join(f"t{letter}" for letter in letters) + f"->{letters}", *known.strategies)
    joint = products / record.rounds
    figure = figures.joint(record)
    assert figure is not None
    title = figures.title_of(figure)
    tied = int((joint >= joint.max() - 1e-9).sum())
    if match := re.match(r"(All )?([0-9,]+) action profiles", title):
        assert int(match[2].replace(",", "")) == tied > 1 and (match[1] is not None) == (tied == joint.size), title
    else:
        profile = ", ".join(record.game.actions[i][a] for i, a in enumerate(np.argwhere(joint == joint.max())[0]))
        assert tied == 1 and f"is ({profile})" in title, title
    assert f"{joint.max():.1%}" in title


@pytest.mark.parametrize("game", GAMES)
def test_every_sentence_of_a_run_is_true_of_all_its_rounds(game: str) -> None:
    """Each game with a sixth of the learners, or a third if short, others in the next; GAMESIM_SENTENCES=all: all."""
    table, at = GAMES[game], list(GAMES).index(game)
    every = os.environ.get("GAMESIM_SENTENCES") == "all"
    for k, makers in enumerate(pairs_of_learners(len(table.players))):
        for rounds in ([1, 2, 7] if k < 3 else []) + [[130, 1300, 700][k % 3]]:
            if not every and (k // 3 + at) % (3 if rounds < 10 else 6):
                continue
            known = Known(table, makers, rounds)
            check_verdict(known)
            check_movement(known)
            if k % 4 == 0:
                check_joint(known)


def test_the_bound_on_rounding_holds_in_exact_arithmetic() -> None:
    random = np.random.default_rng(2)
    for rounds in (3, 40, 300):
        table = Table.from_payoffs(random.uniform(-1, 1, (2, 2, 3)))
        logs: list[list[tuple[Array, Array]]] = [[], []]
        makers = [started(players.make("hedge"), 1), started(players.make("regret-matching"), 2)]
        learners = [logged(make, log) for make, log in zip(makers, logs, strict=True)]
        record = gamesim.simulate(table, learners, rounds)
        payoffs = [[[Fraction(u) for u in row] for row in own] for own in table.payoffs.tolist()]
        largest = Fraction(0)
        for i, size in enumerate(table.sizes):
            gains = [[Fraction(0)] * size for _ in range(size)]
            for (mine, _), (other, _) in zip(logs[i], logs[1 - i], strict=True):
                weights = [Fraction(x) for x in other.tolist()]
                pays = [
                    sum(w * (payoffs[i][a][b] if i == 0 else payoffs[i][b][a]) for b, w in enumerate(weights))
                    for a in range(size)
                ]
                for (a, p), b in product(enumerate(mine.tolist()), range(size)):
                    gains[a][b] += Fraction(p) * (pays[b] - pays[a])
            largest = max(largest, sum((max(row) for row in gains), Fraction(0)))
        error = abs(record.gap("ce") - float(largest / rounds))
        assert error <= gap_rounding(table, rounds), (rounds, error)


# A period of two, replicas that do not agree, and ties.


def test_a_period_of_two_is_no_rest_and_its_line_is_not_flat() -> None:
    opening = [[0.2, 0.8], [0.2, 0.8]]
    record = gamesim.simulate(ROADS, players.make("hedge", rate=3.0), 4000, opening=opening)
    assert record.gap("ce") == pytest.approx(0.737, abs=0.001)
    figure = figures.strategies(record)
    assert figure is not None
    assert re.search(r"move by up to 1,7\d\d in all after round 1,995 \(0.859 per round\)", figures.title_of(figure))
    drawn = np.asarray(figure.axes[0].lines[0].get_ydata(), dtype=float)
    assert np.ptp(drawn[len(drawn) // 2 :]) > 0.8
    assert "of all movement; the rest is in between" in figure.legends[0].get_title().get_text()


class ByReplica:
    """Defect in the first replicas of a dilemma, and cooperate half of the time in the others."""

    numbers = count()

    def __init__(self, actions: int) -> None:
        self.defects = next(self.numbers) // 2 < 3

    def play(self) -> Array:
        return np.array([0.0, 1.0] if self.defects else [0.5, 0.5])

    def observe(self, loss: Array) -> None:
        pass


def test_replicas_that_do_not_agree_are_counted() -> None:
    ByReplica.numbers = count()
    record = gamesim.simulate("prisoners-dilemma", ByReplica, 300, replicas=5)
    assert [round(gap, 2) for gap in record.gap("ce")] == [0, 0, 0, 0.75, 0.75]
    summary = report.summarise(record)
    assert summary.verdict == (
        "After 300 rounds, in 3 of 5 replicas play is a correlated equilibrium up to rounding; in 2 the CE gap is 0.75 "
        "and neither falls nor grows, and the CCE gap is 0.75 and neither falls nor grows. Of 5 runs of "
        "prisoners-dilemma, 3 end at (defect, defect) and 2 elsewhere."
    )
    assert in_words(summary.trends["ce"]) == "is 0 up to rounding in 3 of 5 replicas and neither falls nor grows in 2"
    assert summary.trend["ce"] == "mixed" and summary.slope["ce"] is None
    assert [one["trend"]["ce"] for one in summary.replicas or []] == ["zero"] * 3 + ["stays"] * 2


def test_a_verdict_over_replicas_bounds_each_of_them() -> None:
    record = gamesim.simulate("battle-of-the-sexes", "regret-matching", 2000, replicas=8, perturb=1.0)
    match = re.search(rf"in each of 8 replicas play is an? {NUMBER}-approximate", report.summarise(record).verdict)
    assert match and close(match[1], float(record.gap("ce").max()))
    assert float(match[1]) > 1.5 * record.gap("ce").mean()  # the mean would not hold in each


def test_play_of_a_game_that_varies_is_called_no_equilibrium() -> None:
    pennies = np.array([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    game = Varying.from_tables([[*pennies], [*-pennies]], every=10)
    for replicas in (None, 3):
        record = gamesim.simulate(game, "hedge", 500, perturb=0.3, replicas=replicas)
        summary = report.summarise(record)
        most = number(float(np.max(record.gap("ce"))))
        assert f"in a game that varies, no player would have gained more than {most} per round" in summary.verdict
        assert "equilibrium" not in summary.verdict and summary.nash_gap is None
        page = report_html(record, summary, [], "")
        assert "correlated (CE)" not in page and "largest swap regret" in page


def test_ties_are_named_as_ties() -> None:
    tie = gamesim.simulate("rock-paper-scissors", "uniform", 50)
    (joint, network) = (
        figures.joint(tie),
        figures.network(gamesim.simulate("network-coordination", "uniform", 20)),
    )
    assert joint is not None and network is not None
    assert figures.title_of(joint).startswith("All 9 action profiles of rock-paper-scissors are equally frequent")
    assert "1 is a most likely action of 10 of the 10 players" in figures.title_of(network)
    both = figures.compare({"one": tie, "other": tie})
    assert figures.title_of(both) == "Of 2 runs, one and other end with the smallest CE gap, 0"
    summaries = {name: report.summarise(tie) for name in ("one", "other")}
    assert "one and other end with the smallest CE gap, 0." in comparison_html("two", summaries, [])


def test_the_end_of_a_network_is_its_last_round() -> None:
    odd = scripted(lambda t: t % 2)
    learners = [logged(odd, [])] * 10
    figure = figures.network(gamesim.simulate("network-coordination", learners, 2000))
    assert figure is not None  # rounds 1, 3, 5, ... are kept; the last, 2,000, is not one of them
    assert figures.title_of(figure).startswith("At the end of network-coordination, 2 is the most likely action of 10")


def test_a_learner_that_swings_between_kept_rounds_has_moved() -> None:
    """It returns to the uniform strategy in every second round, and in the others it goes away."""
    away = [np.full(3, 1 / 3), np.eye(3)[0], np.full(3, 1 / 3), np.eye(3)[1]]

    class Swings(Scripted):
        def __init__(self, actions: int) -> None:
            super().__init__(actions, lambda t: t)

        def play(self) -> Array:
            return np.array(away[self.round % 4])

    for keep in (2, 4, "thinned", "none"):
        record = gamesim.simulate("rock-paper-scissors", Swings, 2400, trajectory=keep)
        assert keep in ("thinned", "none") or np.allclose(record.trajectory[1][0], 1 / 3)
        assert compare._moved(record, 0) > compare.HARDLY_MOVED
        figure = figures.strategies(record)
        assert figure is not None
        assert "move by up to 933 in all after round 1,000 (0.667 per round)" in figures.title_of(figure)
        assert "of all movement; the rest is in between" in figure.legends[0].get_title().get_text()


def test_the_report_of_a_stopped_run_promises_its_rounds_only() -> None:
    record = gamesim.simulate("chicken", "hedge", 50)
    page = report_html(record, report.summarise(record, stopped=True), [], "rounds = 100")
    assert "the results of the first 50 rounds, after which this run was stopped, are bit-for-bit identical" in page
    small = gamesim.simulate(GAMES["tiny"], "uniform", 50)
    assert "no player gains by any deviation" not in report_html(small, report.summarise(small), [], "")


# Texts about games, learners and files.


def teaches(name: str) -> str:
    return " ".join((inspect.getdoc(games.available()[name]) or "").partition("Teaches:")[2].split())


def pure(name: str, **settings: Any) -> list[tuple[int, ...]]:
    game = games.make(name, **settings)
    assert isinstance(game, Table)
    return [tuple(cell) for cell in pure_equilibria(game).tolist()]


def test_statements_on_games_hold_for_all_settings_or_name_theirs() -> None:
    assert all(sum(cell) == 3 for cell in pure("el-farol", players=3, capacity=5))  # not 5: all players go
    assert "If there is room for some players but not for all" in teaches("el-farol")
    assert not [cell for cell in pure("war-of-attrition", value=4.0, longest=1) if 0 in cell]
    assert "If waits of at least `value` are possible" in teaches("war-of-attrition")
    assert (4, 4) in pure("first-price-auction")  # the second bidder bids its value
    assert not teaches("first-price-auction").startswith("Bidders shade")
    generous = games.make("all-pay-auction", values=(5.0, 5.0), top=1)
    assert gamesim.equilibrium.welfare_range(generous, "ce")[0] == pytest.approx(3)  # 1.5 each
    assert "integer bids up to the value or more leave each of them at most 1" in teaches("all-pay-auction")
    assert "the bids together eat up the prize" not in teaches("all-pay-auction")
    for places in range(1, 9):
        assert bool(pure("hotelling", players=3, places=places)) == (places <= 4)
    assert "Three sellers have a pure equilibrium only if there are at most four places" in teaches("hotelling")
    second = games.make("second-price-auction", values=(6.5, 4.0)).payoffs[0]
    assert not (second[6] >= second).all() or "If the values are among the bids" in teaches("second-price-auction")
    still = gamesim.simulate("jordan", "fictitious-play", 500)
    assert still.nash_gap() == 0 and "From most starts, fictitious play does not converge" in teaches("jordan")
    large = players.make("optimistic-hedge", rate=3.0)
    out = gamesim.simulate("matching-pennies", large, 2000, opening=[[0.6, 0.4], [0.5, 0.5]])
    assert abs(out.last[0][0] - 0.5) > 0.1 and "unless its rate is large" in teaches("matching-pennies")
    passes = games.make("centipede", moves=1).payoffs[:, -1, -1]
    takes = games.make("centipede", moves=1).payoffs[:, 0, 0]
    assert not (passes > takes).all() and "if there are two or more moves" in teaches("centipede")


@pytest.mark.parametrize(
    ("game", "settings", "feedback", "expected"),
    [
        ("stag-hunt", {}, "expected", [1, 1]),
        ("cournot", {}, "expected", [4, 4]),
        ("guess-two-thirds", {}, "expected", [0, 0, 0]),
        ("minimum-effort", {"players": 2}, "expected", [3, 3]),
        ("minimum-effort", {"players": 3}, "expected", [0, 0, 0]),
        ("braess", {}, "expected", [2, 2, 2, 2]),
        ("travellers-dilemma", {}, "expected", [0, 0]),
    ],
)
def test_hedge_ends_up_where_the_texts_say(
    game: str, settings: dict[str, Any], feedback: Any, expected: list[int]
) -> None:
    record = gamesim.simulate(games.make(game, **settings), "hedge", 20_000, feedback=feedback)
    assert [int(strategy.argmax()) for strategy in record.last] == expected
    assert min(float(strategy.max()) for strategy in record.last) > 0.9


def test_hedge_sorts_players_by_sampled_feedback() -> None:
    goers = gamesim.simulate("el-farol", "hedge", 20_000, feedback="sampled").last
    assert sorted(round(float(one[1])) for one in goers) == [0, 0, 1, 1, 1]
    volunteers = gamesim.simulate("volunteers-dilemma", "hedge", 20_000, feedback="sampled").last
    assert sum(round(float(one[1])) for one in volunteers) == 1


def test_the_tutorial_names_only_games_that_take_thousands_of_players() -> None:
    text = (Path(__file__).parents[1] / "docs" / "tutorials" / "own-game.md").read_text()
    part = " ".join(text.partition("## Games with many players")[2].split())
    named = set(re.findall(r"`([a-z-]+)`", part)) & set(games.available())
    crowds = {"el-farol-crowd", "minority-crowd", "pigou-crowd", "guess-two-thirds-crowd"}
    assert named == {"routing", "polymatrix", "network-coordination", "local-public-goods"} | crowds
    for name in crowds:
        assert len(games.make(name, players=301).players) == 301
    ring = {"graph": "cycle", "graph_settings": {"n": 2000}}
    sizes: dict[str, dict[str, Any]] = {
        "routing": {"players": 2000},
        "polymatrix": {**ring, "game": "matching-pennies"},
        "network-coordination": ring,
        "local-public-goods": ring,
    }
    for name, settings in sizes.items():
        assert len(games.make(name, **settings).players) == 2000


def test_labels_that_a_file_cannot_keep_are_named(tmp_path: Path) -> None:
    kept = Table.from_payoffs(np.zeros((2, 2, 2)), name="kept", actions=[["", "b"], ["c", "d"]])
    games.save(kept, tmp_path / "game.nfg")
    assert games.load(tmp_path / "game.nfg").actions != kept.actions
    assert "cannot keep empty ones" in " ".join((inspect.getdoc(games.save) or "").split())
    games.save(kept, tmp_path / "game.npz")
    assert games.load(tmp_path / "game.npz").actions == kept.actions


def test_thresholds_are_part_of_the_texts() -> None:
    """A learner that treats a regret of up to 1e-10 as 0 plays uniformly although a regret is positive."""
    for name in ("regret-matching", "regret-matching-plus", "predictive-rm-plus", "normal-hedge"):
        learner = players.make(name)
        running = learner.start(2)
        running.observe(np.array([0.0, 5e-11]))
        assert np.allclose(running.play(), 0.5, atol=1e-6)
        assert "1e-10" in (type(learner).__doc__ or "")


def test_statements_on_convergence_name_their_conditions() -> None:
    """A step of 1/8 is too long for a large matrix, and a magnet that moves in every round does not hold."""
    losses = np.random.default_rng(0).choice([-1.0, 1.0], (32, 32))
    far = gamesim.simulate(Table.from_payoffs([-losses, losses]), players.make("optimistic-gradient", rate=0.125), 5000)
    row, column = far.last
    assert (losses.T @ row).max() - (losses @ column).min() > 0.5
    assert "at most 1 / (8 σ)" in (players.OptimisticGradient.__doc__ or "")
    opening = [[0.6, 0.4], [0.5, 0.5]]
    for period, converges in ((1, False), (100, True)):
        learner = players.make("magnetic-mirror-descent", period=period)
        record = gamesim.simulate("matching-pennies", learner, 20_000, opening=opening)
        assert (abs(record.last[0][0] - 0.5) < 0.01) == converges
    assert "a period of few rounds, they need not" in (players.MagneticMirrorDescent.__doc__ or "")


def test_a_bound_that_is_linear_in_the_rounds_is_not_called_no_regret() -> None:
    console = Console(width=120)
    with console.capture() as printed:
        list_learners(console)
    assert "replicator" in printed.get() and "no external regret" not in printed.get()


def test_a_comparison_of_scenarios_names_those_that_did_not_move() -> None:
    raw = {"rounds": 60, "game": {"name": "shapley"}, "everyone": {"learner": "hedge"}}
    (one,) = compare.compare(Scenario.from_dict(raw), compare.contenders("uniform"))
    assert one.moved == 0.0 and one.hardly_moved
