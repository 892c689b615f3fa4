"""The room of a class: rules, log, learners in seats, results; all without a server."""

from typing import Any

import numpy as np
import pytest

from gamesim import games
from gamesim.classroom import results
from gamesim.classroom.log import Log
from gamesim.classroom.room import LONGEST_NAME, Room, Settings
from gamesim.errors import InputError


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
