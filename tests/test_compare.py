"""Comparing learners, converting games and drawing a run again, from the command line."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gamesim import InputError, Table, games, load
from gamesim.cli.main import main
from gamesim.engine import loop
from gamesim.formatting import two_digits
from gamesim.report import compare
from gamesim.scenario import Scenario, read

pytestmark = pytest.mark.slow


def test_contenders_carry_their_settings() -> None:
    chosen = compare.contenders("hedge, hedge:rate=0.1,blum-mansour:rows=adahedge")
    assert [one.settings for one in chosen] == [{}, {"rate": 0.1}, {"rows": "adahedge"}]
    for text in ("", "hedge,hedge", "hedge:rate", "hedge:rate=-1", "hegde"):
        with pytest.raises(InputError):
            compare.contenders(text)


def test_a_variant_changes_the_learners_and_nothing_else() -> None:
    scenario = Scenario.from_dict(
        {
            "rounds": 50,
            "seed": 3,
            "game": {"name": "jordan"},
            "players": [
                {"learner": "hedge", "perturb": 0.5},
                {"learner": "fixed", "opening": [1, 0]},
                {"learner": "hedge"},
            ],
        }
    )
    hedge, matching = compare.contenders("hedge:rate=0.2,regret-matching")
    alone = compare.variant(scenario, hedge, None)
    assert alone.players is not None
    assert [(one.learner, one.settings, one.perturb, one.opening) for one in alone.players] == [
        ("hedge", {"rate": 0.2}, 0.5, None),
        ("hedge", {"rate": 0.2}, 0.0, [1, 0]),
        ("hedge", {"rate": 0.2}, 0.0, None),
    ]
    against = compare.variant(scenario, hedge, matching)
    assert against.players is not None
    assert [one.learner for one in against.players] == ["hedge", "regret-matching", "regret-matching"]
    assert (against.rounds, against.seed) == (50, 3)


def test_compare_ranks_writes_and_repeats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = [
        "compare",
        "shapley",
        "--learners",
        "hedge,regret-matching,internal-regret-matching",
        "--rounds",
        "3000",
    ]
    assert main([*arguments, "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)["learners"]
    gaps = [one["gap"]["ce"] for one in printed]
    assert gaps == sorted(gaps)
    assert printed[0]["learner"] == "internal-regret-matching", "the one that has no swap regret"
    assert all(one["microseconds"] > 0 for one in printed)
    assert {path.name for path in out.iterdir()} >= {"summary.json", "report.html", "ce-gaps.svg", "ce-gaps.png"}
    again = read(out / "1-internal-regret-matching" / "scenario.toml")
    assert again.simulation().run(again.rounds).gap("ce") == gaps[0]
    assert main([*arguments, "--out", str(out)]) == 2
    assert "already exists" in capsys.readouterr().err
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert main([*arguments, "--out", str(out), "--force"]) == 0
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    table = capsys.readouterr().out
    assert table.startswith("shapley · 2 players · 3,000 rounds · seed 0 · ") and "CE gap" in table


@pytest.mark.parametrize("against", [[], ["--against", "hedge"]])
def test_80_columns_break_no_name_and_no_number(
    against: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    learners = ["internal-regret-matching", "wavelet-continuous", "uniform", "blum-mansour:rows=regret-matching-plus"]
    arguments = ["compare", "shapley", "--rounds", "300", "--learners", ",".join(learners), *against]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    for part in " ".join(learners).replace(":", ": ").split():
        assert part in out.split()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    for one in summary["learners"]:
        swap = one["players"][0]["regret"]["swap"] / 300 if against else one["gap"]["ce"]
        assert {two_digits(one["gap"]["ce"]), two_digits(swap)} <= set(out.split())
    assert "…" not in out and max(map(len, out.splitlines())) <= 80


def test_who_hardly_moved_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """In Shapley's game, uniform play is an equilibrium; a learner that stays there ranks first without learning."""
    arguments = ["compare", "shapley", "--rounds", "500", "--out", str(tmp_path / "out"), "--force", "--learners"]
    assert main([*arguments, "hedge,uniform,wavelet"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    note = "uniform and wavelet stayed close to their initial strategies; a small gap is then not the result of"
    assert note in printed
    page = (tmp_path / "out" / "report.html").read_text()
    assert note in page
    for kind in ("ce", "cce"):
        figure = (tmp_path / "out" / f"{kind}-gaps.svg").read_text()
        both = r"\(hardly moved\) (uniform|wavelet) and \(hardly moved\) (uniform|wavelet) end with the smallest"
        assert re.search(rf"<title>Of 3 runs, {both}", figure)
        marked = set(re.findall(r"<!-- (\(hardly moved\) )?(hedge|uniform|wavelet)(?=:| -->)", figure))
        assert marked == {("", "hedge"), ("(hardly moved) ", "uniform"), ("(hardly moved) ", "wavelet")}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["hardly_moved"] == ["uniform", "wavelet"]
    assert main([*arguments, "hedge,best-response"]) == 0
    assert "stayed close" not in capsys.readouterr().out + (tmp_path / "out" / "report.html").read_text()
    assert (
        main([*arguments, "best-response,fixed", "--against", "best-response"]) == 0
    )  # fixed does not move, its opponent does
    assert "fixed stayed close to its initial strategies" in " ".join(capsys.readouterr().out.split())


def test_the_distance_moved_is_the_mean_over_the_run() -> None:
    """A dominant action is played from the second round on: half of the weight moves there, and stays."""
    raw = {"rounds": 9, "game": {"name": "prisoners-dilemma"}, "everyone": {"learner": "hedge", "opening": [1.0, 0.0]}}
    (one,) = compare.compare(Scenario.from_dict(raw), compare.contenders("best-response"))
    assert one.moved == 0.5 and not one.hardly_moved
    (one,) = compare.compare(Scenario.from_dict({**raw, "replicas": 2}), compare.contenders("uniform"))
    assert one.moved == 0.0 and one.hardly_moved  # also where the first strategy was given


def test_microseconds_count_neither_the_start_nor_what_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """If each piece takes 0.1 s and each of its rounds 1 ms, the time per round is little more than 1 ms."""
    clock = [0.0]
    monkeypatch.setattr("gamesim.simulation.simulation.thread_time", lambda: clock[0])
    advance = loop.advance

    def slow(setup: Any, track: Any, first: int, ends: Any, uniforms: Any, noise: Any, kept: Any) -> None:
        clock[0] += 0.1 + 0.001 * (ends[-1] - first)
        advance(setup, track, first, ends, uniforms, noise, kept)

    monkeypatch.setattr(loop, "advance", slow)
    raw = {"rounds": 2000, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    (one,) = compare.compare(
        Scenario.from_dict(raw), compare.contenders("hedge"), progress=lambda _: clock.__setitem__(0, clock[0] + 7)
    )
    assert 0.001 < one.seconds < 0.0015
    assert two_digits(1e6 * one.seconds) == f"{1e6 * one.seconds:,.0f}"


def test_convert_goes_there_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nfg, gam = str(tmp_path / "game.nfg"), str(tmp_path / "game.gam")
    assert main(["convert", "battle-of-the-sexes", nfg]) == 0
    assert main(["convert", nfg, gam]) == 0
    made = games.make("battle-of-the-sexes")
    loaded = games.load(gam)
    assert isinstance(loaded, Table) and np.array_equal(loaded.payoffs, made.payoffs)
    assert main(["convert", gam, nfg]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main(["convert", "nothing", nfg]) == 2


@pytest.mark.parametrize("target", ["game.csv", "game.1.csv", "game.CSV"])
def test_convert_overwrites_no_file_unless_forced(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.2.csv").write_text("years of work")
    arguments = ["convert", "chicken", str(tmp_path / target)]
    assert main(arguments) == 2
    assert f"{tmp_path / 'game.2.csv'} already exists" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("game.2.csv", "years of work")]
    assert main([*arguments, "--force"]) == 0
    loaded = games.load(tmp_path / target)
    assert isinstance(loaded, Table) and np.array_equal(loaded.payoffs, games.make("chicken").payoffs)


def test_figures_need_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", str(tmp_path)]) == 2
    assert f"{tmp_path} is not a run folder; `gamesim run` prints" in capsys.readouterr().err


def test_the_wavelet_is_shown_with_what_its_gradients_prove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "chicken-wavelet", "--rounds", "500", "--no-figures", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    assert "proved" in capsys.readouterr().out
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    record = load(tmp_path / "run" / "record")
    for i, one in enumerate(summary["players"]):
        for kind in ("external", "internal", "swap"):
            assert one["regret"][kind] <= one["certificate"][kind]
            phi = record.best_deviation(i, kind)
            phis = [phi if j == i else np.eye(2) for j in range(2)]
            assert record.regret("phi", phi=phis)[i] == pytest.approx(one["regret"][kind])
            assert record.certificate(i, phi) <= one["certificate"][kind] + 1e-9
