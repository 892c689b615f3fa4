"""The course: its lessons agree with the runs they are about, and do not give the answer away."""

import re
from collections.abc import Sequence
from functools import cache
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import games
from gamesim.errors import InputError
from gamesim.lab import limits, session
from gamesim.lab.course import Lesson, course, glossary
from gamesim.lab.events import EVENTS, Watch
from gamesim.record import Record
from gamesim.scenario import Scenario, read, shipped
from gamesim.simulation import Simulation

STATIC = Path(limits.__file__).parent / "static"
LESSONS = {lesson.scenario: lesson for group in course() for lesson in group.lesson}
VIEWS = {  # the words by which texts refer to views
    "strategies": ("bars", "triangles", "strategies", "filled dot"),
    "tetrahedron": ("tetrahedron",),
    "regrets": ("picture of regrets", "solid line", "dashed line", "dotted"),
    "joint": ("cell", "in the joint distribution"),
    "payoffs": ("picture of payoffs", "average payoffs"),
    "profile": ("Regret profile",),
    "portrait": ("phase portrait",),
    "cloud": ("Many runs",),
    "device": ("correlating device",),
}


def scenario(name: str) -> Scenario:
    return read(shipped()[name]).model_copy(update={"replicas": None})


def _learners(lesson: Lesson) -> Sequence[Any]:
    return scenario(lesson.scenario).simulation().learners


@cache
def played(name: str) -> Record:
    return scenario(name).simulation().run(scenario(name).rounds)


def test_the_course_is_grouped_and_ordered() -> None:
    assert [group.title for group in course()] == [
        "Regret",
        "Zero-sum games",
        "Coordination",
        "Correlated and coarse correlated equilibria",
        "Many players",
        "The wavelet learner",
    ]
    assert all(len(group.lesson) >= 2 for group in course())


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_lesson_gives_nothing_away_before_it_is_revealed(lesson: Lesson) -> None:
    known = set(re.findall(r'import \* as (\w+) from "./\w+.js"', (STATIC / "views" / "cards.js").read_text()))
    assert set(lesson.views) <= known
    answer = lesson.answers[lesson.right]
    for text in (lesson.title, lesson.watch):
        assert answer.lower() not in text.lower()
    assert not re.search(r"converge|cycle|spiral|defect|never|approach", lesson.title)
    assert len(set(lesson.answers)) == len(lesson.answers)
    for view, words in VIEWS.items():  # hints mention only what is on the page
        if any(word in lesson.watch for word in words):
            assert view in lesson.views, (view, lesson.watch)
    open_views = set(lesson.views)
    for step in ("reveal", "why", "exercise"):  # and a step opens what it talks about
        open_views |= set(lesson.opens.get(step, []))
        for view in ("portrait", "cloud", "device"):
            if any(word in getattr(lesson, step) for word in VIEWS[view]):
                assert view in open_views, (step, view)
    game = scenario(lesson.scenario).played_game
    assert "portrait" not in open_views or gamesim.portrait(game, list(_learners(lesson)), lines=0).points.size
    assert open_views <= known
    assert lesson.exercise.rstrip()[-1] in ".?" and lesson.solution


def test_technical_words_are_in_the_glossary() -> None:
    forms = [form for entry in glossary() for form in (entry.name, *entry.also)]
    assert len(forms) == len(set(map(str.lower, forms)))
    texts = " ".join(
        " ".join([one.question, one.watch, one.reveal, one.why, one.exercise, one.solution]) for one in LESSONS.values()
    )
    for word in ("external regret", "swap regret", "CE gap", "CCE gap", "Nash gap", "correlated equilibrium", "Hedge"):
        assert word in texts and word in forms
    for entry in glossary():
        assert entry.text.endswith(".") and len(entry.text) < 400


# The numbers and the words in the lessons.


def test_the_numbers_of_the_lessons_are_those_of_the_runs() -> None:
    payoffs = played("prisoners-dilemma").payoffs
    np.testing.assert_allclose(payoffs, 1, atol=0.01)
    assert "approach 1 each" in LESSONS["prisoners-dilemma"].reveal
    gaps = {
        "rock-paper-scissors": ("nash", "Nash gap is 0.002", 0.002),
        "matching-pennies": ("nash", "Nash gap ends at 0.018", 0.018),
        "shapley": ("cce", "CCE gap falls to 0.0004", 0.0004),
        "mixed-table": ("ce", "CE gap falls to 0.0009", 0.0009),
        "chicken-wavelet": ("ce", "CE gap ends at 0.002", 0.002),
        "ordered-well": ("ce", "0.025", 0.025),
        "ordered-badly": ("ce", "At 0.036", 0.036),
    }
    for name, (kind, words, value) in gaps.items():
        record = played(name)
        found = record.nash_gap() if kind == "nash" else record.gap(kind)  # type: ignore[arg-type]
        assert words in LESSONS[name].reveal
        assert float(f"{found:.1g}" if value < 0.01 else f"{found:.2g}") == value, name
    assert played("shapley-wavelet").gap("ce") < 0.002 and "CE gap is below 0.002" in LESSONS["shapley-wavelet"].reveal
    assert played("shapley").gap("ce") == pytest.approx(0.13, abs=0.005)
    assert max(played("rock-paper-scissors").regret("swap")) / 20_000 == pytest.approx(0.28, abs=0.005)
    assert sum(played("bad-rps").payoffs) == pytest.approx(-0.06, abs=0.005)
    assert played("bad-rps").gap("cce") < 0.01 and played("bad-rps").gap("ce") == pytest.approx(1, abs=0.06)
    assert played("jordan").nash_gap() > 0.3 and played("jordan").gap("ce") < 0.001
    assert sorted(np.round(played("el-farol").payoffs, 2)) == [0, 0, 0, 1, 1, 1, 1]
    assert sum(played("chicken").payoffs) == pytest.approx(9, abs=0.02)
    np.testing.assert_allclose(played("traffic-light").payoffs, [1, 0], atol=0.01)
    hider = played("ordered-well")
    assert hider.regret("external")[0] < 0 < hider.regret("swap")[0]
    with_hedge = scenario("uneven-shapley").model_dump(exclude_defaults=True) | {"everyone": {"learner": "hedge"}}
    hedge = Scenario.from_dict({**with_hedge, "everyone": {"learner": "hedge", "perturb": 0.2}}).simulation()
    found = hedge.run(100_000)
    assert found.gap("ce") > 0.1 and float(f"{found.gap('cce'):.1g}") == 0.0003
    assert "to 0.0003 after" in LESSONS["uneven-shapley"].solution
    assert [one.guarantee() is not None for one in _learners(LESSONS["random-game"])] == [True, True, False]


def test_the_exercises_are_solved() -> None:
    ends = []
    for seed in range(10):
        run = scenario("battle-of-the-sexes").changed(seed=seed).simulation().run(2000)
        assert run.gap("ce") < 0.01
        ends.append(float(run.payoffs[0]) > 2.5)
    assert [seed for seed, opera in enumerate(ends) if not opera] == [3, 5, 8]
    assert pure_equilibria("el-farol", players=7, capacity=4) == 35
    assert pure_equilibria("uniform", players=3, actions=[3, 4, 5], seed=0) == 0
    assert pure_equilibria("uniform", players=3, actions=[3, 4, 5], seed=7) >= 1
    assert pure_equilibria("jordan") == 0


def pure_equilibria(name: str, **settings: object) -> int:
    game = games.make(name, **settings)
    best = [table == table.max(axis=player, keepdims=True) for player, table in enumerate(game.payoffs)]  # type: ignore[attr-defined]
    return int(np.all(best, axis=0).sum())


# Events.


def paused(simulation: Simulation, rounds: int, **until: object) -> int | None:
    watch = Watch.asked(until)
    session._advance([SimpleNamespace(simulation=simulation)], rounds, watch, inf, float)  # type: ignore[list-item]
    return simulation.rounds if watch is not None and watch.found else None


def test_the_events_of_the_lessons_happen_when_the_lessons_say() -> None:
    in_the_page = re.findall(r'^  "?([a-z-]+)"?: \["', (STATIC / "transport.js").read_text(), re.M)
    assert ["end", *EVENTS] == in_the_page
    uneven = paused(scenario("uneven-shapley").simulation(), 100_000, **LESSONS["uneven-shapley"].pause)
    assert uneven is not None and 21_000 <= uneven <= 24_000 and "21,000 to 24,000" in LESSONS["uneven-shapley"].reveal
    boundary = paused(scenario("matching-pennies").simulation(), 5000, event="boundary", value=0.01)
    assert boundary == pytest.approx(900, abs=30)
    for name in ("matching-pennies", "matching-pennies-optimistic"):
        assert paused(scenario(name).simulation(), 5000, **LESSONS[name].pause) == pytest.approx(65, abs=3)


def test_play_pauses_at_the_same_round_however_it_is_divided_into_turns() -> None:
    until, pauses = LESSONS["uneven-shapley"].pause, set()
    for length in (700, 1234, 100_000):
        simulation, watch = scenario("uneven-shapley").simulation(), Watch.asked(until)
        assert watch is not None
        while not watch.found and simulation.rounds < 100_000:
            session._advance([SimpleNamespace(simulation=simulation)], length, watch, inf, float)  # type: ignore[list-item]
        pauses.add(simulation.rounds)
    assert len(pauses) == 1, pauses


def test_a_gap_is_found_where_brute_force_finds_it() -> None:
    for kind, value in (("ce-gap", 0.05), ("cce-gap", 0.02)):
        looked = scenario("matching-pennies").simulation()
        while looked.rounds == 0 or looked.measure(kind) >= value:
            looked.advance(1)
        found = paused(scenario("matching-pennies").simulation(), 5000, event=kind, value=value)
        assert found is not None and looked.rounds <= found <= looked.rounds * 1.01 + 1


def test_a_cycle_is_a_return_to_a_profile_that_play_had_left() -> None:
    moves = scenario("matching-pennies").simulation()
    profiles: list[tuple[int, int]] = []
    while True:
        moves.advance(1)
        p, q = moves.strategies()[0], moves.strategies()[2]
        if 0.5 in (p, q):
            continue
        profile = (int(p < 0.5), int(q < 0.5))
        if profiles and profile == profiles[-1]:
            continue
        if profile in profiles:
            break
        profiles.append(profile)
    assert len(profiles) == 4
    assert paused(scenario("matching-pennies").simulation(), 5000, event="cycle") == moves.rounds
    assert paused(scenario("chicken").simulation(), 10_000, event="cycle") is None


def test_an_event_of_the_past_does_not_stop_play() -> None:
    simulation = scenario("matching-pennies").simulation()
    assert paused(simulation, 5000, event="cce-gap", value=0.02) is not None
    before = simulation.rounds
    assert paused(simulation, 5, event="cce-gap", value=0.02) is None and simulation.rounds == before + 5
    assert paused(simulation, 5, event="round", value=3) is None
    assert paused(simulation, 5, event="round", value=before + 12) == before + 12
    start = scenario("matching-pennies").simulation()  # its opening is on the boundary: it has not left the interior
    assert paused(start, 3, event="boundary", value=0.01) is None
    with pytest.raises(InputError, match="until"):
        Watch.asked({"event": "boundary"})
