import asyncio
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect as connect_later
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

import gamesim
from gamesim import equilibrium, figures, record
from gamesim.cli.main import main
from gamesim.figures import curves
from gamesim.formatting import number
from gamesim.lab import address, choices, limits, server, web, workers
from gamesim.learner import PLAIN_REGRETS
from gamesim.scenario import Scenario, read, shipped
from gamesim.views import equilibria, frames
from tests.chromium import wait
from tests.lab_server import Lab, running_lab

pytestmark = pytest.mark.slow

CHICKEN = {
    "rounds": 10_000,
    "game": {"name": "chicken"},
    "players": [{"learner": "hedge"}, {"learner": "wavelet"}],
}
TABLE: dict[str, Any] = {  # neither square nor symmetric, so that a transposed table fails
    "rounds": 500,
    "seed": 5,
    "game": {"payoffs": [[[1, 0, 3], [0, 2, -1]], [[0, 2, 1], [5, 0, 0.5]]]},
    "players": [{"learner": "hedge", "perturb": 0.4}, {"learner": "regret-matching", "opening": [0.5, 0.25, 0.25]}],
}
THREE = {
    "rounds": 300,
    "game": {"name": "uniform", "settings": {"players": 3, "actions": [2, 3, 4], "seed": 1}},
    "players": [{"learner": "hedge"}, {"learner": "wavelet"}, {"learner": "fictitious-play"}],
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with running_lab() as running:
        yield running


def simulated(scenario: Any) -> gamesim.Record:
    made = Scenario.from_dict(scenario)
    return made.simulation().run(made.rounds)


# Frames and messages.


@pytest.mark.parametrize("scenario", [CHICKEN, TABLE, THREE], ids=["chicken", "table", "three"])
def test_a_page_is_sent_what_the_command_line_measures(lab: Lab, scenario: Any) -> None:
    expected = simulated(scenario)
    with lab.page() as page:
        page.begin(scenario)
        (state,) = page.play_out()
        while page.nearest[0] is None or page.nearest[0]["rounds"] < expected.rounds:
            page.receive()
        nearest = page.nearest[0]
    assert state["rounds"] == expected.rounds
    for kind in ("ce", "cce"):
        assert state[f"gap_{kind}"] == pytest.approx(expected.gap(kind), rel=1e-12, abs=1e-15)
        assert number(state[f"gap_{kind}"]) == number(expected.gap(kind))
        assert nearest["distance"][kind] == pytest.approx(expected.distance(kind), abs=1e-7)
    assert number(state["gap_nash"]) == number(expected.nash_gap())
    np.testing.assert_allclose(state["payoffs"], expected.payoffs, rtol=1e-6)
    assert expected.joint is not None
    np.testing.assert_allclose(state["joint"], expected.joint.ravel(), rtol=1e-6)
    np.testing.assert_allclose(state["average"], np.concatenate(expected.average), rtol=1e-6)
    for regret in PLAIN_REGRETS:
        np.testing.assert_allclose(state[regret], expected.regret(regret), rtol=1e-6)
    profiles = [expected.profile(i) for i in range(len(expected.game.players))]
    np.testing.assert_allclose(state["together"], np.concatenate([together for together, _ in profiles]), rtol=1e-6)
    np.testing.assert_allclose(state["alone"], np.concatenate([alone for _, alone in profiles]), rtol=1e-6)
    checkpoints = expected.arrays["checkpoints"]
    np.testing.assert_array_equal([row["round"][0] for row in page.curves[0]], checkpoints)
    curve = expected.curve.regret("swap")[: len(checkpoints)]
    np.testing.assert_allclose([row["swap"] for row in page.curves[0]], curve, rtol=1e-6)
    strategies = expected.trajectory[1]
    assert page.paths[0][0] == expected.arrays["continue_kept"][0, 0]
    np.testing.assert_allclose(np.array(page.paths[0][1]), np.concatenate(strategies, axis=1), rtol=1e-6)
    np.testing.assert_allclose(state["strategy"], _last_strategies(scenario), rtol=1e-6, atol=1e-9)
    target = np.array(nearest["joint"]).reshape(expected.game.sizes)
    assert equilibrium.gap(expected.game, target, "ce") < 1e-7


def _last_strategies(scenario: Any) -> Any:
    """Return the strategies of the last round, from averages one round apart."""
    made = Scenario.from_dict(scenario)
    simulation = made.simulation()
    before = simulation.run(made.rounds - 1)
    after = simulation.run(1)
    sums = [np.concatenate(one.average) * one.rounds for one in (before, after)]
    return sums[1] - sums[0]


def test_the_numbers_do_not_depend_on_how_the_rounds_are_requested(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(TABLE)
        assert page.states()[0]["rounds"] == 0
        for after in (1, 6, 19, 3):
            page.send("seek", round=after)
            while (state := page.states()[0])["rounds"] != after or state["status"] == frames.SEEKING:
                pass
        page.send("play", speed=200_000)
        while state["status"] != 2:
            state = page.states()[0]
    assert state["gap_ce"] == pytest.approx(simulated(TABLE).gap("ce"), rel=1e-12)


def test_two_runs_side_by_side_share_the_game_and_the_seed(lab: Lab) -> None:
    beside = [{"learner": "wavelet", "perturb": 0.4}, {"learner": "hedge", "opening": [0.5, 0.25, 0.25]}]
    with lab.page() as page:
        page.begin(TABLE, beside)
        assert [run["learners"] for run in page.shape["runs"]] == [["hedge", "regret-matching"], ["wavelet", "hedge"]]
        states = page.play_out()
        page.send("toml")
        texts = page.expect("toml")["texts"]
    for state, text, scenario in zip(states, texts, [TABLE, {**TABLE, "players": beside}], strict=True):
        assert state["gap_ce"] == pytest.approx(simulated(scenario).gap("ce"), rel=1e-12)
        assert simulated(tomllib.loads(text)).gap("ce") == simulated(scenario).gap("ce")
    first = [curve[0]["joint"] for curve in page.curves]
    np.testing.assert_allclose(first[0], first[1], atol=0.2)  # their initial strategies are drawn from one seed


def test_the_equilibrium_sets_of_a_small_game_are_sent(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(CHICKEN)
        sets = page.expect("sets")
    game = gamesim.games.make("chicken")
    vertices = equilibrium.polytope(game, "ce").vertices().reshape(-1, 4)
    np.testing.assert_allclose(sets["ce"]["vertices"], vertices)
    np.testing.assert_allclose(sets["cce"]["vertices"], vertices, atol=1e-9)  # in 2×2 games, CE = CCE
    totals = np.sum(sets["ce"]["payoffs"], axis=1)
    assert (totals.min(), totals.max()) == pytest.approx(equilibrium.welfare_range(game, "ce"))


def test_bounds_are_in_payoff_units_and_count_a_given_start(lab: Lab) -> None:
    with lab.page() as page:
        page.begin(TABLE)
        row, column = page.shape["runs"][0]["bounds"]
    made = Scenario.from_dict(TABLE).simulation()
    for bound, player, size, scale in zip((row, column), made.learners, (2, 3), (2.0, 2.5), strict=True):
        assert bound["regret"] == "external" and bound["rounds"][-1] == 500
        assert bound["values"][-1] == pytest.approx(scale * (player.guarantee().bound(500, size) + 2))


# Own games.


def test_a_game_is_read_from_text(lab: Lab) -> None:
    with lab.page() as page:
        page.send("read", files=[["Ours", "\tL\tR\nT\t3,1\t1/2,0"]])
        found = page.expect("game")
        assert found["asked"] == {
            "payoffs": [[[3, 0.5]], [[1, 0]]],
            "players": ["Row", "Column"],
            "actions": [["T"], ["L", "R"]],
        }
        assert found["game"]["name"] == "Ours"
        wrong = {
            "files must be a list of pairs": "3,1",
            "expected from 1 to 12 files, got 0": [],
            "at most 131,072 characters of text, got 200,000": [["a", "1" * 200_000]],
            "at most 64 actions per player, got 65": [["a", "\n".join(["1,2\t3,4"] * 65)]],
            "expected a .csv, .nfg or .gam file": [["a.exe", "1"]],
            "expected the payoffs of both players in each cell": [["a", "1\t2\n3\t4"]],
            "a.csv: a game for 2 players has one CSV file per player": [["a.csv", "1,2\n3,4"]],
            "expected one .nfg file, got 2 files": [["a.nfg", "NFG 1"], ["b.nfg", "NFG 1"]],
            "a.nfg, line 1, column 8: expected the title": [["a.nfg", "NFG 1 R"]],
        }
        for words, files in wrong.items():
            page.send("read", files=files)
            assert words in page.expect("error")["message"]


def test_equilibria_of_a_game_are_those_of_a_hand_solved_one() -> None:
    game = gamesim.games.from_payoffs(np.array([[3, 0, 0.5], [0, 1, 0]]), [[1, 0, -1], [0, 3, 2]])
    sets = equilibria.sets(game)
    assert sets is not None
    assert [one["payoffs"] for one in sets["nash"]["profiles"]] == [[3, 1], [pytest.approx(0.75)] * 2, [1, 3]]
    mixed = sets["nash"]["profiles"][1]["strategies"]
    np.testing.assert_allclose(np.concatenate(mixed), [0.75, 0.25, 0.25, 0.75, 0], atol=1e-12)
    for kind in ("ce", "cce"):
        best = [
            equilibrium.polytope(game, kind).payoffs(equilibrium.polytope(game, kind).optimum(one)) for one in np.eye(2)
        ]
        assert [high for _, high in sets[kind]["range"]] == pytest.approx([best[0][0], best[1][1]])
    three = equilibria.sets(gamesim.games.make("jordan"))
    assert three is not None and three["nash"]["profiles"] == []  # its equilibrium is mixed: everyone plays 1/2
    assert all(low <= 0 <= high for low, high in three["ce"]["range"])


# Saving.


def test_the_saved_scenario_and_the_record_repeat_the_run(
    lab: Lab, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "figure_functions", lambda: {"gaps": curves.gaps})  # one suffices; drawing is slow
    with lab.page() as page:
        page.begin(CHICKEN)
        assert get(lab, f"/runs/{page.session}/0/record.zip")[0] == 404  # no rounds played yet
        (state,) = page.play_out()
        page.send("toml")
        (tmp_path / "saved.toml").write_text(page.expect("toml")["texts"][0], encoding="utf-8")
        status, content = get(lab, f"/runs/{page.session}/0/record.zip")
        report_status, html = get(lab, f"/runs/{page.session}/0/report.html")
        assert get(lab, f"/runs/{page.session}/1/record.zip")[0] == 404
    assert (status, report_status) == (200, 200)
    run = ["run", str(tmp_path / "saved.toml"), "--json", "--quiet", "--no-figures", "--out", str(tmp_path / "out")]
    assert main(run) == 0
    repeated = json.loads(capsys.readouterr().out)
    assert {kind: number(state[f"gap_{kind}"]) for kind in ("ce", "cce")} == {
        kind: number(value) for kind, value in repeated["gap"].items()
    }
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "zip")
    kept, again = gamesim.load(tmp_path / "zip" / "record"), gamesim.load(tmp_path / "out" / "record")
    for name, part in again.arrays.items():
        np.testing.assert_array_equal(kept.arrays[name], part)
    assert (tmp_path / "zip" / "scenario.toml").read_text() == (tmp_path / "saved.toml").read_text()
    assert b"10,000 rounds" in html and b"<svg" in html


def test_every_lesson_can_be_begun_and_every_shipped_scenario_that_fits_is_one() -> None:
    offered = choices.choices(None)
    names = {lesson["name"] for lesson in offered["lessons"]}
    for name, path in shipped().items():
        scenario = read(path).model_copy(update={"replicas": None})
        try:
            limits.refuse_beyond(scenario)
        except gamesim.InputError:
            assert name not in names
            continue
        assert name in names
    assert len(names) >= 10
    for lesson in offered["lessons"]:
        asked = limits.asked_scenario(json.loads(json.dumps(lesson["scenario"])))
        original = read(shipped()[lesson["name"]])
        assert asked.changed(rounds=20).simulation().run(20).gap("ce") == pytest.approx(
            np.mean(original.changed(rounds=20).model_copy(update={"replicas": None}).simulation().run(20).gap("ce"))
        )


def test_a_scenario_with_a_game_file_opens_with_its_payoffs(tmp_path: Path) -> None:
    gamesim.games.save(gamesim.games.from_payoffs(*TABLE["game"]["payoffs"]), tmp_path / "mine.nfg")
    (tmp_path / "mine.toml").write_text(
        'rounds = 5\n[game]\nfile = "mine.nfg"\n[everyone]\nlearner = "hedge"\nperturb = 0.5\n', encoding="utf-8"
    )
    scenario = read(tmp_path / "mine.toml")
    data = choices.as_data(scenario)
    assert "file" not in data["game"]
    asked = limits.asked_scenario(json.loads(json.dumps(data)))
    assert asked.simulation().run(5).gap("ce") == scenario.simulation().run(5).gap("ce")
    assert choices.choices(scenario)["scenario"] == choices.choices(scenario)["lessons"][0]["scenario"] == data


# Invalid requests.


HEDGES = [{"learner": "hedge"}] * 13


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


def changed(**update: Any) -> dict[str, Any]:
    return {**TABLE, **update}


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (None, "a scenario must be a table"),
        ([1], "a scenario must be a table"),
        (changed(game={"file": "/etc/passwd"}), "does not open files"),
        (changed(game={"name": "polymatrix", "settings": {"graph": "/etc/passwd"}}), "payoff table"),
        (changed(game={"name": "os.system"}), "unknown game 'os.system'"),
        (changed(game={"name": "uniform", "settings": {"players": 2, "actions": 10**9}}), "reduce actions"),
        (changed(game={"name": "uniform", "settings": {"players": 4, "actions": 100}}), "at most 524,288 are allowed"),
        (changed(game={"name": "uniform", "settings": {"actions": 65}}, players=HEDGES[:2]), "at most 64 actions"),
        (changed(game={"name": "el-farol", "settings": {"players": 13}}, players=HEDGES), "12 players"),
        (
            changed(game={"name": "uniform", "settings": {"players": 3, "actions": 17}}, players=HEDGES[:3]),
            "4,096 action profiles",
        ),
        (changed(rounds=10**10), "at most 1,000,000,000"),
        (changed(rounds="many"), "rounds: expected an integer"),
        (changed(replicas=3), "a single replica"),
        (changed(players=[{"learner": "hegde"}, {"learner": "hedge"}]), "did you mean 'hedge'?"),
        (changed(game={"payoffs": [[[1, "x"]], [[1, 2]]]}), "game.payoffs[1][1][2]: expected a number, got 'x'"),
        (changed(game={"payoffs": [[[1, float("inf")]], [[1, 2]]]}), "expected a finite number"),
        (changed(game={"payoffs": [[[1, 2], [3]], [[1, 2], [3, 4]]]}), "ragged"),
        (changed(game={"payoffs": nested(900)}), ""),
        (changed(game={"payoffs": [[[10**400, 2]], [[1, 2]]]}), ""),
        (changed(seed=10**4000, rounds=-1), "rounds"),
    ],
)
def test_an_invalid_scenario_is_rejected_and_the_run_continues(lab: Lab, scenario: Any, expected: str) -> None:
    with lab.page() as page:
        page.begin(CHICKEN)
        page.send("begin", scenario=scenario)
        assert expected in page.expect("error")["message"]
        page.send("seek", round=1)
        while page.states()[0]["rounds"] < 1:
            pass


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", "must be valid JSON"),
        ("{", "must be valid JSON"),
        ("[" * 100_000, "must be valid JSON"),
        ('{"do": 1' + "0" * 5000 + "}", "must be valid JSON"),
        ("null", 'with a key "do"'),
        ('{"do": null}', 'with a key "do"'),
        ('{"do": "__init__"}', "unknown command"),
        (b"\x00\xff", "must be JSON text, got 2 bytes"),
        ('{"do": "play", "speed": 1e400}', "speed must be positive"),
        ('{"do": "play", "speed": true}', "speed must be positive"),
        ('{"do": "play", "speed": 5, "growth": -1}', "growth must be a number from 0 to 100"),
        ('{"do": "play", "until": {"event": "cycles"}}', "did you mean"),
        ('{"do": "play", "until": ["cycle"]}', "until must be null or have an event"),
        ('{"do": "play", "until": {"event": "cycle", "value": 1}}', "cycle takes event, got event, value"),
        ('{"do": "play", "until": {"event": "ce-gap", "value": "0"}}', "until.value must be a number"),
        ('{"do": "play", "until": {"event": "round", "value": 1' + "0" * 400 + "}}", "until.value must be a number"),
        ('{"do": "seek"}', "round must be an integer from 0 to 10,000, got None"),
        ('{"do": "seek", "round": 1.5}', "round must be an integer"),
        ('{"do": "seek", "round": -1}', "round must be an integer"),
        ('{"do": "seek", "round": 10001}', "round must be an integer"),
        ('{"do": "pause", "self": 1}', "pause takes no arguments"),
        ('{"do": "begin", "scenario": {}, "beside": 3}', "has 3 errors"),
        ('{"do": "game", "game": 7}', "game: expected a table [game]"),
        (json.dumps({"do": "game", "game": {"payoffs": [[0] * 400_000]}}), "at most 1,048,576 characters"),
    ],
)
def test_an_invalid_message_gets_an_error(lab: Lab, message: str | bytes, expected: str) -> None:
    with lab.page() as page:
        page.begin(CHICKEN)
        page.connection.send(message)
        assert expected in page.expect("error")["message"]
        page.send("toml")
        assert page.expect("toml")["texts"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**20) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def nearly_right(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a valid message with one value replaced by an arbitrary one."""
    message: dict[str, Any] = {"do": "begin", "scenario": json.loads(json.dumps({**TABLE, "rounds": 5}))}
    play = {"do": "play", "speed": 5, "growth": 0.5, "until": {"event": "ce-gap", "value": 0.01}}
    message = draw(st.sampled_from([message, play, {"do": "seek", "round": 1}]))
    place: Any = message
    while isinstance(place, dict | list) and place:
        key = draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not isinstance(place[key], dict | list) or not place[key] or draw(st.integers(0, 2)) == 0:
            place[key] = draw(ANYTHING)
            break
        place = place[key]
    return message


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=nearly_right() | ANYTHING)
def test_fuzzed_messages_never_end_a_session(fuzzed: Any, message: Any) -> None:
    fuzzed.connection.send(json.dumps(message))
    fuzzed.send("are you there")
    while "are you there" not in fuzzed.expect("error")["message"]:
        pass


@pytest.fixture(scope="module")
def fuzzed(lab: Lab) -> Iterator[Any]:
    with lab.page() as page:
        page.begin(TABLE)
        yield page


def get(lab: Lab, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", lab.address.port, timeout=60)
    host = headers.pop("Host", f"127.0.0.1:{lab.address.port}")
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": host, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_foreign_hosts_and_origins_are_refused(lab: Lab) -> None:
    port = lab.address.port
    assert get(lab, "/")[0] == 200
    assert get(lab, "/", Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"127.0.0.1.evil:{port}",
    ):
        assert get(lab, "/", Host=host)[0] == 403, host
    for origin in (
        "http://evil.example",
        f"https://127.0.0.1:{port}",
        "null",
        f"http://127.0.0.1:{port}.evil",
        "file://",
    ):
        assert get(lab, "/choices.json", Origin=origin)[0] == 403, origin
        with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{port}/live", origin=Origin(origin)):
            pass
    with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{port}/live"):  # a browser always sends its origin
        pass


def test_nothing_but_the_page_can_be_read(lab: Lab) -> None:
    for path in (
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static//etc/passwd",
        "/etc/passwd",
        "/runs/x/0/record.zip",
    ):
        assert get(lab, path)[0] == 404, path
    for path in ("/", "/lab.js", "/static/main.js", "/static/views/solid.js", "/static/style.css"):
        status, content = get(lab, path)
        assert status == 200
        assert b"https://" not in content and b"//cdn" not in content


def test_other_machines_need_the_token() -> None:
    with running_lab(token="only-for-friends") as guarded:
        assert get(guarded, "/")[0] == 403
        assert get(guarded, "/?token=wrong")[0] == 403
        assert get(guarded, "/?token=only-for-friends")[0] == 200
        assert get(guarded, "/choices.json", Cookie=f"{web.COOKIE}=only-for-friends")[0] == 200
        assert get(guarded, "/choices.json", Cookie=f"{web.COOKIE}=wrong")[0] == 403
        assert get(guarded, "/?token=only-for-friends", Host=f"evil.example:{guarded.address.port}")[0] == 403
        assert get(guarded, "/?token=only-for-friends", Host=f"192.0.2.7:{guarded.address.port}")[0] == 200
        with pytest.raises(InvalidStatus), guarded.connection(None):
            pass


def test_the_links_of_a_public_lab_have_its_addresses_and_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [(2, 1, 6, "", (one, 0)) for one in ("127.0.1.1", "192.0.2.7", "169.254.1.1", "2001:db8::7", "192.0.2.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: known)
    monkeypatch.setattr(address, "FAR", {})
    name = f"http://{socket.gethostname()}:8765/?token=token"
    everywhere = address.Address("0.0.0.0", 8765, "token")
    assert everywhere.links == ["http://192.0.2.7:8765/?token=token", name]
    assert address.Address("::", 8765, "token").links[1:] == ["http://[2001:db8::7]:8765/?token=token", name]
    for link in everywhere.links:  # every link that is shown is accepted
        assert everywhere.is_meant(urlsplit(link).netloc)
    assert address.Address("::1", 8765).links == ["http://[::1]:8765/"]
    assert address.Address("192.0.2.7", 80, "t").code_text("ascii") == ""
    assert address.Address("192.0.2.7", 80, "t").code_text("utf-8").count("\n") > 10


def test_the_code_of_a_public_lab_opens_a_lesson() -> None:
    assert address.Address("192.0.2.7", 80, "t").code_svg() != address.Address("192.0.2.7", 80, "t").code_svg("shapley")
    with running_lab(token="only-for-friends") as guarded:
        assert get(guarded, "/code.svg")[0] == 403
        status, drawn = get(guarded, "/code.svg?lesson=shapley&token=only-for-friends")
        assert status == 200 and drawn == guarded.address.code_svg("shapley")
        assert get(guarded, "/code.svg?lesson=%22%3E&token=only-for-friends")[0] == 404
        links = json.loads(get(guarded, "/choices.json?token=only-for-friends")[1])["links"]
        assert links == guarded.address.links
    with running_lab() as local:  # nobody can join it
        assert get(local, "/code.svg")[0] == 404
        assert json.loads(get(local, "/choices.json")[1])["links"] == []


def test_a_failing_simulation_is_reported_and_stopped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ArithmeticError("no fixed point was found")

    with lab.page() as page:
        page.begin(TABLE)
        monkeypatch.setattr(gamesim.Simulation, "advance", fail)
        page.send("play")
        assert page.expect("error")["message"] == "no fixed point was found"
        monkeypatch.undo()
        page.play_out()


# Many pages.


def test_fifty_pages_ten_of_them_killed(lab: Lab) -> None:
    before, others = {thread.ident for thread in threading.enumerate()}, set(lab.workers.sessions)
    memory = resident()
    asyncio.run(_fifty(lab))
    wait(lambda: set(lab.workers.sessions) <= others, "sessions of closed pages are still open", 30)
    assert resident() - memory < 150e6
    left = [one for one in threading.enumerate() if one.ident not in before and not one.name.startswith("lab-")]
    assert left == []
    pools = [one for one in threading.enumerate() if one.name.startswith("lab-")]
    assert len(pools) <= workers.cores() + 6


async def _fifty(lab: Lab) -> None:
    address = f"ws://127.0.0.1:{lab.address.port}/live"
    async with AsyncExitStack() as open_pages:
        opened = [connect_later(address, origin=lab.origin, max_size=None) for _ in range(50)]
        pages = [await open_pages.enter_async_context(one) for one in opened]
        await _watch_fifty(pages)


async def _watch_fifty(pages: list[Any]) -> None:
    scenario = {**TABLE, "rounds": 10**9}
    for page in pages:
        await page.send(json.dumps({"do": "begin", "scenario": scenario}))
        await page.send('{"do": "play"}')
    silent = pages[:5]  # they never report a frame as drawn

    async def watch(page: Any, frames: int, answer: bool = True) -> int:
        """Receive `frames` frames of a running simulation and return the last round."""
        rounds, seen = 0, 0
        while seen < frames:
            message = await asyncio.wait_for(page.recv(), 60)
            if isinstance(message, bytes):
                numbers = np.frombuffer(message, "<f4")
                rounds, seen = int(numbers[7]) + int(numbers[8]), seen + 1
                if answer:
                    await page.send('{"do": "drawn"}')
        return rounds

    await asyncio.gather(*(watch(page, 2, answer=False) for page in silent))
    rounds = await asyncio.gather(*(watch(page, 3) for page in pages[5:]))
    for page in pages[-10:]:
        page.transport.abort()
    after = await asyncio.gather(*(watch(page, 5) for page in pages[5:-10]))
    assert all(later > earlier for later, earlier in zip(after, rounds[:-10], strict=True))
    for page in silent:  # they get two frames and messages, then nothing
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_next_frame(page), 0.3)


async def _next_frame(page: Any) -> bytes:
    while not isinstance(message := await page.recv(), bytes):
        pass
    return message


def resident() -> int:
    return (
        int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if sys.platform == "linux"
        else 0
    )


def test_too_many_pages_get_an_error(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PAGES", 1 + len(lab.workers.sessions))
    with lab.page() as page, connect(f"ws://127.0.0.1:{lab.address.port}/live", origin=lab.origin) as extra:
        assert "pages at once" in json.loads(extra.recv(timeout=30))["message"]
        with pytest.raises(ConnectionClosed):
            extra.recv(timeout=30)
        page.begin(TABLE)


# The command.


def test_invalid_options_are_rejected(tmp_path: Path, capsys: Any) -> None:
    assert main(["lab", "--host", "0.0.0.0", "--no-browser"]) == 2
    assert "--allow-network" in capsys.readouterr().err
    assert main(["lab", "--port", "99999", "--no-browser"]) == 2
    assert "port" in capsys.readouterr().err
    large = tmp_path / "large.toml"
    large.write_text(
        'rounds = 5\ngame = { name = "uniform", settings = { actions = 99 } }\neveryone.learner = "hedge"\n'
    )
    assert main(["lab", str(large), "--no-browser"]) == 2
    assert "at most 64 actions" in capsys.readouterr().err
    assert main(["lab", "no-such-scenario", "--no-browser"]) == 2
    assert "unknown scenario 'no-such-scenario'" in capsys.readouterr().err


def test_the_command_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "gamesim", "lab", "shapley", "--no-browser", "--port", "0"]
    command += ["--allow-network"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stderr is not None
        link = urlsplit(process.stdout.readline().split()[5])
        assert link.hostname not in address.LOCAL
        assert link.query.startswith("token=") and len(link.query) > 30
        connection = http.client.HTTPConnection("127.0.0.1", link.port or 0, timeout=60)
        connection.request("GET", f"/choices.json?{link.query}")
        offered = json.loads(connection.getresponse().read())
        assert offered["scenario"]["game"] == {"name": "shapley"}
        connection.close()
        with socket.create_connection(("127.0.0.1", link.port or 0), timeout=60) as stray:
            stray.sendall(b"no HTTP\r\n\r\n")
            assert b"400" in stray.recv(1000)
        live, origin = f"ws://127.0.0.1:{link.port}/live?{link.query}", f"http://127.0.0.1:{link.port}"
        with connect(live, origin=Origin(origin), max_size=None) as page:
            page.send(json.dumps({"do": "begin", "scenario": {**CHICKEN, "rounds": 10**9}}))
            page.send('{"do": "play"}')
            while not isinstance(page.recv(timeout=60), bytes):
                pass
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        # communicate() would miss what was read ahead for the first line.
        printed, errors = process.stdout.read(), process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert "█▀" in printed  # the QR code
    assert errors.startswith("Warning: anyone who can reach this machine")
    assert "Traceback" not in errors and "Invalid HTTP" not in errors


def test_a_missing_dependency_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "gamesim.lab.server")
    assert main(["lab"]) == 2
    assert "pip install 'gamesim[lab]'" in capsys.readouterr().err


def test_the_record_contains_no_machine_paths(lab: Lab, tmp_path: Path) -> None:
    with lab.page() as page:
        page.begin(TABLE)
        page.play_out()
        _, content = get(lab, f"/runs/{page.session}/0/record.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert all(not name.startswith("/") and ".." not in name for name in archive.namelist())
        archive.extractall(tmp_path)
    assert record.load(tmp_path / "record").rounds == 500
