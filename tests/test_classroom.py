"""The room of a class: rules, log, learners in seats, results; all without a server."""

from typing import Any

import numpy as np
import pytest

from gamesim import games
from gamesim.classroom import devices, projector, results, views
from gamesim.classroom import room as rooms
from gamesim.classroom.log import Log
from gamesim.classroom.room import LONGEST_NAME, Room, Settings
from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.observation import observed, payoffs_in_seat

pytestmark = pytest.mark.slow


def room_of(game: str = "chicken", **given: Any) -> Any:
    chosen: Any = {"matching": "groups", "rounds": 10, "seconds": 10.0, "learner": "hedge", "seed": 1}
    return Room(games.make(game), Settings(**(chosen | given)))


def join(room: Any, *names: Any) -> Any:
    for name in names:
        room.apply(room.join(name, f"secret of {name}"))


def play(room: Any, moves: Any, now: Any = 100.0) -> Any:
    room.apply(room.open_round(now))
    for student, action in moves.items():
        room.apply(room.move(student, room.round, action, now + 1))
    room.apply(room.close_round())


def test_two_students_by_hand() -> None:
    """Chicken out is 0 and dare 1; payoffs 6, 2, 7, 0."""
    room = room_of()
    join(room, "Ada", "Bob")
    for a, b in [(0, 1), (1, 1), (1, 0)]:
        play(room, {0: a, 1: b})
    assert [one.score for one in room.students] == [2 + 0 + 7, 7 + 0 + 2]
    found = results.of_student(room, 0)
    assert found is not None
    assert found.rounds == 3 and found.payoff == 3
    assert found.swap == pytest.approx(1 / 3)  # in rounds 2 and 3 chickening out pays 2 + 6, daring 0 + 7
    assert found.deviation == "Whenever you played dare (2 rounds), chicken out would have paid 0.5 more."
    record: Any = results.record_of(room)
    assert record.joint.tolist() == pytest.approx(np.array([[0, 1 / 3], [1 / 3, 1 / 3]]))
    assert record.payoffs.tolist() == pytest.approx([3, 3])


def test_what_students_must_not_do() -> None:
    room = room_of()
    join(room, "Ada", "Bob")
    with pytest.raises(InputError, match="is over"):
        room.move(0, 1, 0, 100)  # before the first round
    room.apply(room.open_round(100))
    room.apply(room.move(0, 1, 1, 105))
    for student, round, action, now, why in [
        (0, 1, 0, 106, "chosen already"),
        (1, 2, 0, 106, "is over"),
        (1, 1, 0, 111, "time is up"),
        (1, 1, 2, 106, "unknown action"),
        (1, 1, True, 106, "unknown action"),
        (1, 1, "dare", 106, "unknown action"),
        (7, 1, 0, 106, "next round"),
    ]:
        with pytest.raises(InputError, match=why):
            room.move(student, round, action, now)
    assert room.moves == {0: 1}


@pytest.mark.parametrize("name", ["", "   ", "\x00\x1b", "x" * (LONGEST_NAME + 1), "ada", " ADA "])
def test_names_are_limited_and_differ(name: Any) -> None:
    room = room_of()
    join(room, "Ada")
    with pytest.raises(InputError):
        room.join(name, "secret")


def test_a_pause_stops_the_clock() -> None:
    room = room_of(seconds=10)
    join(room, "Ada")
    room.apply(room.open_round(100))
    room.apply(room.pause(104))
    with pytest.raises(InputError, match="paused"):
        room.move(0, 1, 0, 105)
    room.apply(room.resume(1000))
    assert room.deadline == 1006
    room.apply(room.move(0, 1, 0, 1005))


def test_absent_students_are_played_by_learners_and_do_not_score() -> None:
    room = room_of()
    join(room, "Ada", "Bob")
    play(room, {0: 1})
    assert room.played[0].by_learner.tolist() == [[False, True]]
    assert room.students[1].score == 0 and results.of_student(room, 1) is None


@pytest.mark.parametrize("matching", ["learner", "groups", "reshuffled"])
@pytest.mark.parametrize("game", ["chicken", "jordan"])
def test_every_student_has_one_seat_and_keeps_the_role(matching: Any, game: Any) -> None:
    room = room_of(game, matching=matching)
    join(room, *"ABCDEFG")
    roles = []
    for _ in range(4):
        play(room, {})
        seats = [room.place_of(one) for one in range(7)]
        assert len(set(seats)) == 7
        roles.append([role for _, role in seats])
    assert roles == [roles[0]] * 4 and roles[0] == [room.role_of(one) for one in range(7)]


def test_reshuffled_groups_differ_between_rounds() -> None:
    room = room_of(matching="reshuffled")
    join(room, *"ABCDEFGHIJ")
    seen = []
    for _ in range(5):
        play(room, {})
        seen.append(tuple(map(tuple, room.groups)))
    assert len(set(seen)) > 1


def test_a_room_read_from_its_log_is_the_same_room(tmp_path: Any) -> None:
    room, log = room_of(matching="learner", rounds=20), Log(tmp_path / "room.sqlite")
    random = np.random.default_rng(0)

    def act(event: Any) -> Any:
        log.append(event)
        room.apply(event)

    for name in ("Ada", "Bob", "Cleo"):
        act(room.join(name, name))
    for _ in range(12):
        act(room.open_round(0))
        for student in range(3):
            if random.random() < 0.8:
                act(room.move(student, room.round, int(random.integers(2)), 1))
        act(room.close_round())
    act(room.open_round(0))
    act(room.move(2, 13, 1, 1))
    log.close()
    again, log = room_of(matching="learner", rounds=20), Log(tmp_path / "room.sqlite")
    for event in log:
        again.apply(event)
    log.close()
    assert again.close_round() == room.close_round()  # learners have the same states and draw the same actions
    assert [vars(a)["score"] for a in again.students] == [vars(b)["score"] for b in room.students]
    assert again.moves == room.moves
    for a, b in zip(again.played, room.played, strict=True):
        assert all(np.array_equal(vars(a)[part], vars(b)[part]) for part in vars(a))


def test_a_log_is_open_once_and_recognised(tmp_path: Any) -> None:
    log = Log(tmp_path / "room.sqlite")
    with pytest.raises(InputError, match="another server"):
        Log(tmp_path / "room.sqlite")
    log.close()
    (tmp_path / "other.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 40)
    with pytest.raises(InputError, match="not the log of a room"):
        Log(tmp_path / "other.sqlite")


def test_recommendations_follow_the_device_and_obedience_is_counted() -> None:
    """A traffic light: one goes, the other waits."""
    room = room_of(matching="groups", rounds=200, device=(0.0, 0.5, 0.5, 0.0))
    join(room, "Ada", "Bob")
    drawn = []
    for _ in range(100):
        room.apply(room.open_round(0))
        advice = room.advice[0]
        drawn.append(tuple(advice))
        room.apply(room.move(0, room.round, advice[0], 1))
        room.apply(room.move(1, room.round, 1, 1))  # Bob always dares
        room.apply(room.close_round())
    assert set(drawn) == {(0, 1), (1, 0)} and 30 < drawn.count((0, 1)) < 70
    by_advice = {(one.role, one.recommended): one for one in results.obedience(room)}
    assert by_advice[0, 0].obeyed == by_advice[0, 0].times == drawn.count((0, 1))
    assert by_advice[1, 0].obeyed == 0 and by_advice[1, 1].obeyed == by_advice[1, 1].times
    assert by_advice[1, 0].paid_disobeying == 0 and by_advice[1, 1].paid_obeying == 7
    # Bob dares whatever Ada is advised, so that chickening out always pays her 2 and daring 0.
    assert by_advice[0, 0].would_pay == (2, 0) and by_advice[0, 1].would_pay == (2, 0)
    assert by_advice[0, 0].promised == (2, 0) and by_advice[0, 1].promised == (6, 7)


def test_another_device_begins_with_the_next_round_and_is_counted_afresh() -> None:
    """Advised to dare by a uniform device, chickening out pays (6 + 2) / 2 and daring (7 + 0) / 2."""
    room = room_of(matching="groups", rounds=20, device=(0.0, 0.5, 0.5, 0.0), seed=2)
    join(room, "Ada", "Bob")
    play(room, {0: 0, 1: 1})
    room.apply(room.open_round(0))
    advice = room.advice
    room.apply(room.set_device([0.25] * 4))
    assert room.advice == advice
    room.apply(room.close_round())
    assert results.obedience(room) == []
    for _ in range(8):
        play(room, {0: 1, 1: 1})
    found = {(one.role, one.recommended): one for one in results.obedience(room)}
    assert sum(one.times for one in found.values()) == 16
    assert found[0, 1].promised == (4, 3.5) and found[0, 0].promised == (4, 3.5)
    room.apply(room.set_device([]))
    room.apply(room.open_round(0))
    assert room.advice is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,0.5,0.5", "got 3 values"),
        ("0,0.5,0.5,0.5", "must sum to 1, got 1.5"),
        ("-0.5,0.5,0.5,0.5", "from 0 to 1, got -0.5"),
        ("nan,0,0,1", "got nan"),
        ("bets", "unknown device 'bets'"),
    ],
)
def test_devices_that_are_not_distributions_are_refused(text: Any, words: Any, tmp_path: Any, capsys: Any) -> None:
    log = tmp_path / "room.sqlite"
    assert main(["class", "chicken", f"--device={text}", "--no-browser", "--log", str(log)]) == 2
    assert words in capsys.readouterr().err and not log.exists()
    with pytest.raises(InputError):
        room_of().set_device([1, "x", 0, 0])


def test_devices_by_name_are_what_they_are_called() -> None:
    """The best correlated equilibrium of chicken pays 10.5 in total; copied digits are scaled to sum to 1."""
    game = games.make("chicken")
    assert devices.named(game, "best") == pytest.approx((0.5, 0.25, 0.25, 0))
    assert devices.named(game, "uniform") == (0.25,) * 4
    assert devices.named(game, "[0.3333, 0.3333, 0.3333, 0]") == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))
    offered: Any = devices.offered(game)
    assert len(offered["vertices"]) == 5 and offered["best"] == devices.named(game, "best")
    with pytest.raises(InputError, match="at most 64 action profiles"):
        devices.named(games.make("el-farol-crowd"), "uniform")


def test_seconds_per_round_can_be_changed() -> None:
    room = room_of(seconds=10)
    join(room, "Ada")
    room.apply(room.set_seconds(30))
    room.apply(room.open_round(100))
    assert room.deadline == 130
    for bad in (-1, float("nan"), 1e9, "10", True, None):
        with pytest.raises(InputError, match="seconds"):
            room.set_seconds(bad)


def test_a_student_sees_nothing_of_the_others_before_the_end_of_a_round() -> None:
    """The page of a student is the same whatever the others are recommended, whether they have moved, and how."""
    room = room_of("shapley", device=(1 / 9,) * 9)
    join(room, "Ada", "Bob")
    room.apply(room.open_round(100))
    seen = []
    for advice in range(3):
        room.advice[0][1] = advice
        for moves in ({}, {1: 0}, {1: 2}):
            room.moves = moves
            seen.append(views.of_student(room, 0, 105))
    assert all(one == seen[0] for one in seen) and seen[0]["recommendation"] == room.advice[0][0]
    assert views.of_student(room, 1, 105) != seen[0]


def test_the_room_has_a_size_limit(monkeypatch: Any) -> None:
    monkeypatch.setattr(rooms, "MOST_STUDENTS", 2)
    room = room_of()
    join(room, "Ada", "Bob")
    with pytest.raises(InputError, match="the room is full: it has 2 seats"):
        room.join("Cleo", "secret")
    population = room_of("jordan", matching="population")
    join(population, "Ada", "Bob", "Cleo")
    with pytest.raises(InputError, match="3 seats"):
        population.join("Dan", "secret")


def test_the_room_listens_on_the_network_only_if_allowed(monkeypatch: Any, tmp_path: Any, capsys: Any) -> None:
    def refuse(host: str, port: int) -> Any:
        raise InputError(f"asked for {host}")

    monkeypatch.setattr("gamesim.classroom.server.listening", refuse)
    command = ["class", "chicken", "--no-browser", "--log", str(tmp_path / "room.sqlite")]
    for flags, host in (([], "127.0.0.1"), (["--allow-network"], "0.0.0.0")):
        assert main([*command, *flags]) == 2
        assert f"asked for {host}" in capsys.readouterr().err
    assert main(["play", "chicken", "--no-browser"]) == 2
    assert "asked for 127.0.0.1" in capsys.readouterr().err


@pytest.mark.parametrize("game", ["commitment", "jordan"])
def test_the_projector_shows_the_measures_of_the_record(game: Any) -> None:
    """Reshuffled groups, some students absent; `observed` measures the same plays."""
    room = room_of(game, matching="reshuffled", rounds=20)
    join(room, *"ABCDEFG")
    random = np.random.default_rng(0)
    for _ in range(9):
        chosen = random.permutation(7)[:6]
        play(room, {int(one): int(random.integers(room.game.sizes[room.role_of(int(one))])) for one in chosen})
    record: Any = results.record_of(room)
    shown: Any = projector.of_play(room)
    now = shown["state"]
    assert now["gap_ce"] == pytest.approx(record.gap("ce")) and now["gap_cce"] == pytest.approx(record.gap("cce"))
    assert now["joint"] == pytest.approx(record.joint.ravel()) and now["payoffs"] == pytest.approx(record.payoffs)
    assert shown["nearest"]["distance"]["ce"] == pytest.approx(record.distance("ce"), abs=1e-7)
    for kind in ("external", "swap"):
        assert np.array(now[kind]) / now["rounds"] == pytest.approx(record.regret(kind) / record.rounds)
    first: Any = observed(room.game, room.played[0].actions, pool=True)
    assert shown["curve"]["gap_ce"][0] == pytest.approx(first.gap("ce"))
    assert shown["path"][0] == pytest.approx(np.concatenate(first.average))


def test_learners_in_seats_are_those_of_observed_play() -> None:
    room = room_of("commitment", rounds=12, learner="hedge")
    join(room, "Ada", "Bob")
    random = np.random.default_rng(3)
    for _ in range(12):
        play(room, {k: int(random.integers(room.game.sizes[k])) for k in range(2)})
    record = results.record_of(room)
    assert record is not None
    for role, found in enumerate(results.learners_in_seats(room)):
        assert found is not None and sum(found.strategy) == pytest.approx(1)
        assert found.payoff == pytest.approx(float(payoffs_in_seat(record, role, "hedge")[0]), abs=1e-12)
