"""Study files: their points, their mistakes, and the tables, exports and figures of the results."""

import csv
import json
from io import StringIO
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import linregress
from scipy.stats import t as student

from gamesim import games
from gamesim.cli.main import main
from gamesim.cli.study_results import show_results
from gamesim.errors import InputError
from gamesim.figures.study import draw_study
from gamesim.measure import numbers
from gamesim.report.summary import summarise
from gamesim.scenario import Scenario
from gamesim.study import model as study
from gamesim.study import worker
from gamesim.study.axes import AxisSummary
from gamesim.study.description import Description
from gamesim.study.export import write_csv, write_parquet
from gamesim.study.jobs import Job
from gamesim.study.model import Study
from gamesim.study.results import Results
from gamesim.study.statistics import mean, slope
from gamesim.study.store import Row
from gamesim.study.tables import tables

pytestmark = pytest.mark.slow

BASE: dict[str, Any] = {
    "rounds": 60,
    "game": {"name": "uniform", "settings": {"actions": [2, 3]}},
    "everyone": {"learner": "hedge", "perturb": 0.5},
}


def test_a_grid_and_a_list_of_changes_are_combined() -> None:
    raw = {
        "base": BASE,
        "seeds": {"first": 3, "count": 2},
        "grid": {"rounds": [10, 20], "start": {"even": {"everyone.perturb": 0.0}, "random": {"everyone.perturb": 1.0}}},
        "changes": [
            {"game": {"name": "chicken"}},
            {"label": "drawn", "game": {"name": "uniform"}, "grid": {"game.settings.seed": {"first": 7, "count": 3}}},
        ],
    }
    points = list(Study.from_dict(raw).points())
    assert len(points) == Study.from_dict(raw).count == 2 * 2 * (1 + 3) * 2
    assert len({one.key for one in points}) == len(points)
    last = points[-1]
    assert last.labels == {"game": "drawn", "game.settings.seed": 9, "rounds": 20, "start": "random"}
    assert last.seed == 4
    assert last.scenario["game"] == {"name": "uniform", "settings": {"seed": 9}}  # a table replaces the whole table
    assert last.scenario["everyone"] == {"learner": "hedge", "perturb": 1.0, "settings": {}}
    assert [one.role for one in Study.from_dict(raw).axes] == ["game", "other", "rounds", "other"]
    assert BASE["game"] == {"name": "uniform", "settings": {"actions": [2, 3]}}  # the input is not modified


def test_keys_refer_to_entries_of_lists_and_tables() -> None:
    players = [{"learner": "hedge"}, {"learner": "uniform"}]
    base = {"rounds": 5, "game": {"name": "chicken"}, "players": players}
    grid = {"players[2].settings.rate": [0.5], "players[2].learner": ["hedge"]}
    (one,) = Study.from_dict({"base": base, "grid": grid}).points()
    assert one.scenario["players"][1]["settings"] == {"rate": 0.5}
    assert one.scenario["players"][0]["settings"] == {}
    (one,) = Study.from_dict({"base": base, "grid": {"everyone": [{"learner": "hedge"}]}}).points()
    assert "players" not in one.scenario


def test_a_dotted_key_needs_no_quotes_in_a_grid() -> None:
    (axis,) = Study.from_dict({"base": BASE, "grid": {"game": {"settings": {"seed": [1, 2]}}}}).grid
    assert (axis.name, len(axis.choices)) == ("game.settings.seed", 2)


def test_the_key_depends_on_everything_that_determines_the_run() -> None:
    def key(**changes: Any) -> str:
        (one,) = Study.from_dict({"base": {**BASE, **changes}}).points()
        return one.key

    first = key()
    assert key() == first
    assert key(title="another title", seed=0) == first
    explicit = {"learner": "hedge", "perturb": 0.5, "settings": {}}
    assert key(everyone=explicit, feedback="expected", measure={"checkpoints": 10}) == first  # explicit defaults
    others = [key(rounds=61), key(feedback="sampled"), key(measure={"checkpoints": 5}), key(game={"name": "chicken"})]
    assert len({first, *others}) == 5


def test_another_version_has_different_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = Study.from_dict({"base": BASE}).points()
    before = one.key
    monkeypatch.setattr(study, "version_here", lambda: "9.9")
    assert one.key != before


def test_a_game_from_a_file_is_read_in(tmp_path: Path) -> None:
    game = games.make("uniform", actions=[2, 4], seed=3)
    games.save(game, tmp_path / "mine.nfg")
    (tmp_path / "study.toml").write_text(
        '# Look.\nbase = { rounds = 5, game = { file = "mine.nfg" }, everyone = { learner = "hedge" } }'
    )
    read = study.read(tmp_path / "study.toml")
    (one,) = read.points()
    assert read.comment == "Look."
    played = Scenario.from_dict(one.scenario).played_game
    assert played.actions == game.actions
    assert np.array_equal(played.arrays()["payoffs"], game.arrays()["payoffs"])
    games.save(games.make("uniform", actions=[2, 4], seed=4), tmp_path / "mine.nfg")
    (changed,) = study.read(tmp_path / "study.toml").points()
    assert changed.key != one.key


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, ["base", "got nothing"]),
        ({"base": BASE, "grit": {}}, ["grit", "grid"]),
        ({"base": {**BASE, "replicas": 3}}, ["replicas", "seeds"]),
        ({"base": BASE, "seeds": 0}, ["seeds", "0"]),
        ({"base": BASE, "seeds": [1, -1]}, ["seeds"]),
        ({"base": BASE, "measures": ["ce-gab"]}, ["ce-gap"]),
        ({"base": BASE, "measures": []}, ["measures"]),
        ({"base": BASE, "grid": {"rounds": []}}, ["grid.rounds"]),
        ({"base": BASE, "grid": {"rounds": [5, 5]}}, ["rounds", "differ"]),
        ({"base": BASE, "grid": {"rounds": [5, 0]}}, ["rounds = 0"]),
        ({"base": BASE, "grid": {"seed": [1, 2]}}, ["seeds"]),
        ({"base": BASE, "grid": {"round": [1, 2]}}, ["rounds"]),
        ({"base": BASE, "grid": {"everyone.learner": ["hegde", "hedge"]}}, ["hegde", "did you mean 'hedge"]),
        ({"base": BASE, "grid": {"game.settings.actoins": [2]}}, ["actions"]),
        ({"base": BASE, "grid": {"players[3].learner": ["hedge"]}}, ["players[3].learner", "entries"]),
        ({"base": BASE, "changes": [{"gaem": {}}]}, ["changes[1].gaem", "game"]),
        ({"base": BASE, "changes": [{"rounds": 1}, {"rounds": 1}]}, ["label"]),
        ({"base": BASE, "changes": [{"rounds": 1}], "grid": {"rounds": [2]}}, ["rounds", "only once"]),
        ({"base": BASE, "seeds": {"count": 10**7}, "grid": {"rounds": [1, 2]}}, ["at most 10,000,000 points"]),
        ({"base": {**BASE, "rounds": "many"}}, ["rounds", "many"]),
    ],
)
def test_mistakes_are_reported(raw: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        Study.from_dict(raw, source="mine.toml")
    assert str(caught.value).startswith("mine.toml: ")
    for word in words:
        assert word in str(caught.value)


def test_all_mistakes_are_reported_at_once() -> None:
    raw = {"base": BASE, "grit": {}, "seeds": 0, "measures": ["ce-gab"], "grid": {"rounds": []}}
    with pytest.raises(InputError) as caught:
        Study.from_dict(raw, source="mine.toml")
    first, *others = str(caught.value).splitlines()
    assert first == "mine.toml has 4 errors:"
    assert [line.strip().partition(":")[0] for line in others] == ["grit", "seeds", "measures", "grid.rounds"]


def test_values_that_are_valid_in_some_combination_are_accepted() -> None:
    grid = {"feedback": ["expected", "bandit"], "everyone.learner": ["hedge", "exp3"]}
    assert Study.from_dict({"base": BASE, "grid": grid}).count == 4


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_consecutive_seeds_run_together(seeds: list[int]) -> None:
    jobs = [Job(str(i), "one", seed) for i, seed in enumerate(seeds)]
    series = list(worker._series(jobs))
    assert [job for one in series for job in one] == jobs
    for one in series:
        assert [job.seed for job in one] == list(range(one[0].seed, one[0].seed + len(one)))


@pytest.mark.parametrize("feedback", ["expected", "sampled"])
def test_replicas_have_the_same_measures_as_single_runs(feedback: str) -> None:
    whole = Study.from_dict({"base": {**BASE, "feedback": feedback}, "seeds": 5, "measures": list(numbers())})
    jobs = [Job(one.key, one.text, one.seed) for one in whole.points()]
    together = worker.run(jobs, whole.measures)
    for one, outcome in zip(whole.points(), together, strict=True):
        scenario = Scenario.from_dict({**one.scenario, "seed": one.seed})
        record = scenario.simulation().run(scenario.rounds)
        found = outcome.measures
        assert found is not None
        assert found["ce-gap"] == record.gap("ce")
        assert found["cce-distance"] == record.distance("cce")
        assert found["swap-regret"] == record.regret("swap").max()
        assert found["welfare"] == record.welfare
        slope = summarise(record).slope["ce"]
        assert found["ce-gap-slope"] == (None if slope is None else pytest.approx(slope, abs=1e-8))


def results_of(rows: list[tuple[dict[str, Any], int, float | None]], axes: list[AxisSummary]) -> Results:
    made = [
        Row(
            f"{i}",
            labels,
            seed,
            "failed" if value is None else "done",
            {} if value is None else {"m": value},
            None,
            1.0,
        )
        for i, (labels, seed, value) in enumerate(rows)
    ]
    return Results(Description("mine", measures=("m",), axes=tuple(axes)), made)


def test_slopes_are_fitted_per_run_with_confidence_intervals_over_runs() -> None:
    exponents = {("a", 0): -0.5, ("a", 1): -0.7, ("a", 2): -0.6, ("b", 0): -1.0}
    rows: list[tuple[dict[str, Any], int, float | None]] = [
        ({"rounds": T, "learner": name}, seed, (1 + 9 * seed) * T**exponent)  # the factor varies between runs
        for (name, seed), exponent in exponents.items()
        for T in (10, 100, 1000)
    ]
    axes: list[AxisSummary] = [
        {"name": "rounds", "role": "rounds", "values": [10, 100, 1000]},
        {"name": "learner", "role": "learner", "values": ["a", "b"]},
    ]
    found = results_of(rows, axes).slopes("m", "rounds", "learner")
    assert found["a"].value == pytest.approx(-0.6)
    assert found["a"].half == pytest.approx(student.ppf(0.975, 2) * 0.1 / np.sqrt(3))
    assert found["b"].value == pytest.approx(-1.0)
    assert found["b"].half == pytest.approx(0.0, abs=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=8))
def test_the_slope_of_one_run_is_least_squares(noise: list[float]) -> None:
    x = [2.0**k for k in range(1, len(noise) + 1)]
    y = [a**-0.5 * np.exp(e) for a, e in zip(x, noise, strict=True)]
    found, expected = slope(x, y), linregress([log(a) for a in x], [log(b) for b in y])
    assert found is not None
    assert found.value == pytest.approx(expected.slope, abs=1e-9)
    # SciPy computes the standard error from 1 - r², which loses half its digits in a nearly perfect fit.
    assert found.half == pytest.approx(student.ppf(0.975, len(x) - 2) * expected.stderr, abs=1e-6)


def test_slopes_and_means_without_enough_values_are_none() -> None:
    assert slope([1, 10], [0.5, None]) is None
    assert slope([1, 10], [0.5, 0.0]) is None
    assert mean([None]) is None


def test_tables_exports_and_figures_agree(tmp_path: Path) -> None:
    axes: list[AxisSummary] = [
        {"name": "game", "role": "game", "values": ["g", "h"]},
        {"name": "learner", "role": "learner", "values": ["a", "b"]},
        {"name": "rounds", "role": "rounds", "values": [10, 100]},
    ]
    values = {("g", "a"): 1.0, ("g", "b"): 2.0, ("h", "a"): 3.0, ("h", "b"): None}
    rows: list[tuple[dict[str, Any], int, float | None]] = [
        ({"game": game, "learner": learner, "rounds": T}, 0, None if value is None else value / T)
        for (game, learner), value in values.items()
        for T in (10, 100)
    ]
    results = results_of(rows, axes)
    matrix = tables(results, ["m"])[-1]
    assert matrix.headings == ["game", "a", "b"]
    assert matrix.rows == [["g", "0.01", "0.02"], ["h", "0.03", "–"], ["all", "0.02 ± 0.13", "0.02"]]
    slopes = tables(results, ["m"])[0]
    assert [row[0] for row in slopes.rows] == ["a", "b"]
    assert slopes.rows[0][1].startswith("-1")

    write_csv(results, tmp_path / "mine.csv")
    with (tmp_path / "mine.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["m"]) for line in lines if line["m"]] == [row.measures["m"] for row in results.done]
    assert [line["status"] for line in lines].count("failed") == 2

    paths = draw_study(results, tmp_path / "figures")
    assert [path.suffix for path in paths] == [".svg", ".png"]
    again = draw_study(results, tmp_path / "again")
    assert paths[0].read_bytes() == again[0].read_bytes()


def test_tables_note_their_averages_and_confidence_intervals() -> None:
    axes: list[AxisSummary] = [
        {"name": "learner", "role": "learner", "values": ["a", "b"]},
        {"name": "game", "role": "game", "values": ["g", "h"]},
        {"name": "noise", "role": "other", "values": [0.1, 0.2]},
        {"name": "start", "role": "other", "values": ["even"]},  # a single value is not averaged over
    ]
    rows: list[tuple[dict[str, Any], int, float | None]] = [
        ({"learner": learner, "game": game, "noise": noise, "start": "even"}, seed, noise * 10 + seed)
        for learner, game, noise in product(("a", "b"), ("g", "h"), (0.1, 0.2))
        for seed in (0, 1)
    ]
    along, _, matrix = tables(results_of(rows, axes), ["m"])
    assert along.note.startswith("Means over game, noise, seeds.")
    assert matrix.note.startswith("Means over noise, seeds.") and "The last row also averages over game." in matrix.note
    assert all("95 %" in table.note for table in (along, matrix))
    half = student.ppf(0.975, 3) * np.std([1, 2, 2, 3], ddof=1) / 2
    assert matrix.rows[0] == ["g", *[f"2 ± {half:.2g}"] * 2]
    assert matrix.rows[-1] == ["all", *[f"2 ± {student.ppf(0.975, 7) * np.sqrt(4 / 7 / 8):.2g}"] * 2]
    (alone,) = tables(results_of([({"learner": "a"}, 0, 1.0)], [axes[0]]), ["m"])
    assert "Means" not in alone.note


@pytest.mark.parametrize("width", [80, 120])
def test_a_wide_table_is_split_without_truncation(width: int) -> None:
    learners = ["internal-regret-matching", "wavelet-continuous", "blum-mansour rows=regret-matching-plus", "hedge"]
    axes: list[AxisSummary] = [
        {"name": "learner", "role": "learner", "values": learners},
        {"name": "game", "role": "game", "values": ["rock-paper-scissors-lizard-spock", "chicken"]},
    ]
    rows: list[tuple[dict[str, Any], int, float | None]] = [
        ({"learner": learner, "game": game}, seed, 0.000123 * (i + 1) + 0.0001 * seed)
        for i, (learner, game) in enumerate(product(learners, axes[1]["values"]))
        for seed in (0, 1)
    ]
    results = results_of(rows, axes)
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    show_results(results, None, console)
    assert isinstance(console.file, StringIO)
    out = console.file.getvalue()
    assert "…" not in out and max(map(len, out.splitlines())) <= width
    for table in tables(results, ["m"]):
        assert {word for heading in table.headings for word in heading.split()} <= set(out.split())
        assert all(cell in out for row in table.rows for cell in row)


def test_parquet_has_the_same_content_as_csv(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    axes: list[AxisSummary] = [
        {"name": "x", "role": "other", "values": [1, "two"]},
        {"name": "T", "role": "rounds", "values": [5, 6]},
    ]
    rows: list[tuple[dict[str, Any], int, float | None]] = [
        ({"x": 1, "T": 5}, 0, 0.25),
        ({"x": "two", "T": 6}, 1, None),
    ]
    results = results_of(rows, axes)
    write_parquet(results, tmp_path / "mine.parquet")
    table = parquet.read_table(tmp_path / "mine.parquet").to_pydict()
    assert table["m"] == [0.25, None]
    assert table["x"] == ["1", "two"]
    assert table["T"] == [5, 6]


def test_shipped_studies_are_valid() -> None:
    assert study.shipped()
    for path in study.shipped().values():
        read = study.read(path)
        assert read.comment
        assert json.loads(next(read.points()).text)


def test_a_swept_study_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plans").mkdir()
    Path("plans/rates.toml").write_text(
        'seeds = 2\n[base]\nrounds = 20\ngame.name = "chicken"\neveryone.learner = "hedge"'
    )
    assert main(["sweep", "plans/rates.toml", "--workers", "1", "--quiet"]) == 0
    assert main(["study", "rates"]) == 0
    assert "2 points finished" in capsys.readouterr().out
    Path("rates").mkdir()  # a folder of this name without a store is ignored
    assert main(["study", "rates"]) == 0
    assert main(["study", "ratse"]) == 2
    assert "did you mean 'rates'?" in capsys.readouterr().err


def test_exports_overwrite_nothing_unless_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'seeds = 2\nmeasures = ["ce-gap"]\nbase = { rounds = 20, game.name = "chicken", everyone.learner = "hedge" }'
    Path("mine.toml").write_text(text)
    assert main(["sweep", "mine.toml", "--workers", "1", "--quiet"]) == 0
    figure = Path("mine-ce-gap.svg")
    for option, path, place in (("--csv", Path("mine.toml"), "mine.toml"), ("--figures", figure, ".")):
        path.write_text(text)
        capsys.readouterr()
        assert main(["study", "mine", "--csv", "other.csv", option, place]) == 2
        assert f"{path} already exists" in capsys.readouterr().err
        assert path.read_text() == text and not Path("other.csv").exists()
    assert main(["study", "mine", "--csv", "new/mine.csv", "--figures", ".", "--force"]) == 0
    assert Path("new/mine.csv").read_text().count("\n") == 3 and "<svg" in figure.read_text()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"mine-ce-gap.png", "mine-ce-gap.svg", "mine.toml", "new", "studies"}
    assert main(["study", "mine", "--csv", "new"]) == 2
    assert main(["study", "mine", "--csv", "none.csv", "--measure", "gap"]) == 2 and not Path("none.csv").exists()
