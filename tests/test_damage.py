"""Damage stored results: it is refused with a message that names the file, or changes nothing that is read.

GAMESIM_FLIPS sets the number of flipped bits per kind of result.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import gamesim
from gamesim import InputError, sealed
from gamesim.cli.checkpoints import LOCK_FILE, UnfinishedRun, checkpoints, unfinished_run
from gamesim.cli.main import main
from gamesim.record import Record
from gamesim.scenario import read
from gamesim.study.description import Description
from gamesim.study.jobs import Outcome
from gamesim.study.model import Study
from gamesim.study.results import read_results
from gamesim.study.store import FILE, Store

pytestmark = pytest.mark.slow

FLIPS = int(os.environ.get("GAMESIM_FLIPS", "60"))
SCENARIO = """
title = "Café"
rounds = 300
feedback = "sampled"
game = { file = "mine.npz" }
everyone = { learner = "hedge", perturb = 0.5 }
"""
STUDY = {
    "base": {"rounds": 9, "game": {"payoffs": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]}, "everyone": {"learner": "hedge"}},
    "seeds": 8,
    "measures": ["ce-gap", "welfare"],
    "grid": {"rounds": [9, 10], "everyone.learner": ["hedge", "regret-matching"]},
}

Content = Any  # whatever can be compared
Get = Callable[[Path], Content]


@dataclass(frozen=True)
class Kind:
    """A kind of stored result: how to write one into an empty folder, and how to read it back."""

    write: Callable[[Path], None]
    get: Get
    unread: tuple[str, ...] = ()  # files and folders that have no checksums, because results are not read from them

    def reads(self, path: Path) -> bool:
        return not set(path.parts) & set(self.unread)


# The kinds.


def record_content(record: Record) -> Content:
    """Return all that a record consists of."""
    game = record.game
    arrays = {**record.arrays, **{f"game {name}": part for name, part in game.arrays().items()}}
    return (
        [repr(learner) for learner in record.learners],
        (type(game), game.name, game.players, game.actions),
        (record.rounds, record.seed, record.feedback, record.started, record.single, record.settings),
        {name: (part.dtype.str, part.shape, part.tobytes()) for name, part in arrays.items()},
    )


def run_content(run: UnfinishedRun | None) -> Content:
    assert run is not None and run.record is not None
    return run.scenario.to_toml(), run.name, run.interval, record_content(run.record)


def write_scenario(folder: Path) -> Path:
    gamesim.games.save(gamesim.games.make("uniform", actions=[2, 3], seed=1), folder / "mine.npz")
    (folder / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    return folder / "mine.toml"


def write_record(folder: Path) -> None:
    gamesim.simulate("shapley", ["hedge", "uniform"], rounds=50, seed=3).save(folder / "record")


def write_run(folder: Path) -> None:
    """Write a run that was stopped, and can therefore be resumed."""
    path = write_scenario(folder)
    assert main(["run", str(path), "--out", str(folder / "run"), "--quiet", "--rounds", "200", "--no-figures"]) == 0
    (folder / "run" / "figures").mkdir()
    for unread in ("figures/gaps.svg", "report.html"):
        (folder / "run" / unread).write_text("not read")
    document = sealed.examine(folder / "run" / "summary.json")
    scenario = (folder / "run" / "scenario.toml").read_text(encoding="utf-8")
    (folder / "run" / "scenario.toml").write_text(scenario.replace("rounds = 200", "rounds = 300"), encoding="utf-8")
    sealed.write(document.path, {**document.content, "stopped": True}, document.checksums or ())


def write_partial(folder: Path) -> None:
    scenario = read(write_scenario(folder))
    with checkpoints(folder / "run", UnfinishedRun(scenario, "mine"), 5.0) as keep:
        assert keep is not None
        keep.write(scenario.simulation().run(200))


def write_study(folder: Path) -> None:
    study = Study.from_dict(STUDY, comment="façade")
    with Store(folder / FILE, write=True) as store:
        store.register(study.points(), study.description)
        for k, job in enumerate(store.todo()):
            found = {"ce-gap": k / 7, "welfare": None if k == 5 else -k / 3}
            if k < 30:
                store.finish([Outcome(job.key, None if k == 11 else found, "no €" if k == 11 else None, 0.1 * k)])


def write_killed_study(folder: Path) -> None:
    """Write a study as a killed sweep leaves it: with a log that has not been moved into the store."""
    with Store(folder / "kept" / FILE, write=True) as store:
        study = Study.from_dict(STUDY)
        store.register(study.points(), study.description)
        for job in list(store.todo())[:20]:
            store.finish([Outcome(job.key, {"ce-gap": 0.5, "welfare": 1.0}, None, 0.1)])
        for path in (folder / "kept").glob(f"{FILE}*"):
            shutil.copy(path, folder / path.name)
    shutil.rmtree(folder / "kept")
    assert (folder / f"{FILE}-wal").stat().st_size > 100_000


def study_content(folder: Path) -> Content:
    with Store(folder / FILE) as store:
        return read_results(store), store.counts(), store.finished()


def sweep_content(folder: Path) -> Content:
    """Return what a sweep reads, which writes, too."""
    study = Study.from_dict(STUDY)
    with Store(folder / FILE, write=True) as store:
        store.register(study.points(), study.description)
        return read_results(store), store.counts(), list(store.todo())


KINDS = {
    "record": Kind(write_record, lambda folder: record_content(gamesim.load(folder / "record"))),
    "run": Kind(write_run, lambda folder: run_content(unfinished_run(folder / "run")), ("figures", "report.html")),
    "checkpoint": Kind(write_partial, lambda folder: run_content(unfinished_run(folder / "run"))),
    "study": Kind(write_study, study_content, (f"{FILE}.lock",)),
    "study, for writing": Kind(write_study, sweep_content),
    "killed study": Kind(write_killed_study, study_content, (f"{FILE}.lock", f"{FILE}.lock-journal")),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that returns an intact folder of a kind, which is written once."""
    written: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in written:
            written[kind] = tmp_path_factory.mktemp("whole")
            KINDS[kind].write(written[kind])
            for source in ("mine.toml", "mine.npz"):  # not part of the results
                (written[kind] / source).unlink(missing_ok=True)
        return written[kind]

    return get


def files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != LOCK_FILE)


def checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Check what is in a folder, or in its only folder, with the command."""
    inside = [path for path in folder.iterdir() if path.is_dir()]
    code = main(["check", str(inside[0] if inside else folder)])
    caught = capsys.readouterr()
    return code, caught.out + caught.err


def refused(kind: Kind, folder: Path, expected: Content, path: Path) -> bool:
    """Return whether results are refused because of this file, or read unchanged; all else fails the test."""
    try:
        found = kind.get(folder)
    except InputError as error:
        assert path.name in str(error), f"the message does not name {path}: {error}"
        return True
    assert found == expected, f"a change in {path} goes unnoticed"
    return False


def flip(path: Path, chance: random.Random, first: int | None = None) -> None:
    """Flip a random bit of a file, or of its first bytes."""
    data = bytearray(path.read_bytes())
    data[chance.randrange(min(first or len(data), len(data)))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def flipped(original: Path, copy: Path, chance: random.Random, count: int) -> Iterator[Path]:
    """Yield each file of a folder in turn, with a copy of the folder in which one bit of that file is flipped."""
    parts = [path for path in files(original) if (original / path).stat().st_size]
    for k in range(count):
        shutil.copytree(original, copy)
        path = parts[k % len(parts)]
        flip(copy / path, chance, first=None if k % 3 else 100)  # headers are the most delicate part
        yield path
        shutil.rmtree(copy)


@pytest.mark.parametrize("name", KINDS)
def test_a_flipped_bit_changes_no_result(name: str, whole: Callable[[str], Path], tmp_path: Path) -> None:
    kind = KINDS[name]
    shutil.copytree(whole(name), tmp_path / "expected")
    expected = kind.get(tmp_path / "expected")
    refusals = 0
    for path in flipped(whole(name), tmp_path / "copy", random.Random(name), FLIPS):
        noticed = refused(kind, tmp_path / "copy", expected, path)
        if not path.name.startswith(FILE):  # in which not every bit is in use
            assert noticed == kind.reads(path), path
        refusals += noticed
    print(f"{name}: {refusals} of {FLIPS} refused, the others unchanged")
    assert refusals > FLIPS / 6


@pytest.mark.parametrize("name", ["record", "run", "checkpoint", "study", "killed study"])
def test_check_notices_what_is_refused(
    name: str, whole: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in flipped(whole(name), tmp_path / "copy", random.Random(name), FLIPS // 4):
        shutil.copytree(tmp_path / "copy", tmp_path / "checked")
        code, said = checked(tmp_path / "checked", capsys)
        shutil.rmtree(tmp_path / "checked")
        try:
            KINDS[name].get(tmp_path / "copy")
        except InputError:
            assert code == 1 and path.name in said
        else:
            assert code == 0, said


def test_a_sweep_runs_the_points_of_a_damaged_log_again(whole: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(whole("killed study"), tmp_path / "expected")
    expected = {row.key: row for row in study_content(tmp_path / "expected")[0].done}
    for path in flipped(whole("killed study"), tmp_path / "copy", random.Random(1), FLIPS // 4):
        with suppress(InputError), Store(tmp_path / "copy" / FILE) as store:
            assert not path.name.endswith("-wal") and len(store.finished()) == len(expected)
        found = sweep_content(tmp_path / "copy")[0]  # the refusal has not removed the log
        assert all(row == expected[row.key] for row in found.done)
        assert path.name.endswith("-wal") or len(found.done) == len(expected)


def damaged(data: bytes) -> Iterator[bytes]:
    """Yield truncated and overwritten contents."""
    yield b""
    yield data[:1]
    yield data[: len(data) // 2]
    yield data[:-1]
    yield data + b"\0"
    yield bytes(len(data))
    yield b"{}"


@pytest.mark.parametrize("name", ["record", "run", "checkpoint", "study"])
def test_a_truncated_or_missing_file_is_named(name: str, whole: Callable[[str], Path], tmp_path: Path) -> None:
    kind = KINDS[name]
    for path in filter(kind.reads, files(whole(name))):
        for content in (None, *damaged((whole(name) / path).read_bytes())):
            shutil.copytree(whole(name), tmp_path / "copy")
            if content is None:
                (tmp_path / "copy" / path).unlink()
            else:
                (tmp_path / "copy" / path).write_bytes(content)
            if content is not None and content.startswith((whole(name) / path).read_bytes()) and path.name == FILE:
                assert kind.get(tmp_path / "copy")  # SQLite ignores what follows the last page
            else:
                with pytest.raises(InputError, match=path.name):
                    kind.get(tmp_path / "copy")
            shutil.rmtree(tmp_path / "copy")


@pytest.mark.parametrize("name", ["record", "run", "checkpoint"])
def test_swapped_files_are_noticed(name: str, whole: Callable[[str], Path], tmp_path: Path) -> None:
    kind, chance = KINDS[name], random.Random(1)
    covered = list(filter(kind.reads, files(whole(name))))
    for _ in range(40):
        shutil.copytree(whole(name), tmp_path / "copy")
        one, other = (tmp_path / "copy" / path for path in chance.sample(covered, 2))
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
        if first != second:
            with pytest.raises(InputError, match=rf"{one.name}|{other.name}"):
                kind.get(tmp_path / "copy")
        shutil.rmtree(tmp_path / "copy")


def test_the_record_of_another_run_is_noticed(whole: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copytree(whole("run"), tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "run" / "record")
    shutil.copytree(whole("record") / "record", tmp_path / "copy" / "run" / "record")
    with pytest.raises(InputError, match=r"record/manifest\.json is damaged"):
        KINDS["run"].get(tmp_path / "copy")


def test_all_damages_are_listed(
    whole: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(whole("run"), tmp_path / "copy")
    folder = tmp_path / "copy" / "run"
    (folder / "record" / "average.npy").unlink()
    (folder / "record" / "joint.npy").write_bytes(b"")
    (folder / "scenario.toml").write_text("")
    code, said = checked(tmp_path / "copy", capsys)
    assert code == 1
    assert "average.npy is missing" in said
    assert "joint.npy is damaged or was edited: its checksum is e3b0c44298fc1c14…, manifest.json says" in said
    assert "scenario.toml is damaged" in said
    shutil.copy(whole("study") / FILE, tmp_path / FILE)
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE points SET seed = seed + 100 WHERE position IN (2, 5)")
        db.execute("""UPDATE study SET value = '"other"' WHERE key = 'title'""")
        db.execute("UPDATE cells SET labels = replace(labels, 'hedge', 'Hedge') WHERE labels LIKE '%hedge%'")
    db.close()
    assert main(["check", str(tmp_path / FILE)]) == 1
    said = capsys.readouterr().out
    assert said.count("does not match its checksum") == 3
    assert said.count("does not match its hash") == 2


@pytest.mark.parametrize("name", ["record", "run", "checkpoint", "study", "killed study"])
def test_check_states_what_it_verified(
    name: str, whole: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(whole(name), tmp_path / "copy")
    before = {path: (tmp_path / "copy" / path).read_bytes() for path in files(tmp_path / "copy")}
    code, said = checked(tmp_path / "copy", capsys)
    assert code == 0
    expected = {
        "record": "record/manifest.json and its 22 files are intact",
        "run": "run/summary.json and its 3 files are intact",
        "checkpoint": "run.partial/settings.json and its 2 files are intact",
        "study": f"{FILE} and its 32 points are intact",
        "killed study": f"{FILE} and its 32 points are intact",
    }
    assert expected[name] in said
    assert ("not covered: figures and report.html" in said) == (name == "run")
    if "study" not in name:
        assert {path: (tmp_path / "copy" / path).read_bytes() for path in files(tmp_path / "copy")} == before


def test_check_finds_the_checkpoints_of_a_killed_run(
    whole: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(whole("checkpoint") / "run")]) == 0
    assert "record-0000000000000200/manifest.json" in capsys.readouterr().out


def test_damage_in_the_text_of_an_sqlite_error(whole: Callable[[str], Path], tmp_path: Path) -> None:
    """SQLite quotes the text of a damaged schema, and Python fails to decode that quotation."""
    data = (whole("study") / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data.replace(b"CREATE INDEX", b"CREATE I\xc1DEX"))
    for write in (False, True):
        with pytest.raises(InputError, match=rf"{FILE} is damaged"):
            Store(tmp_path / FILE, write=write)


def test_check_of_a_folder_without_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path)]) == 2
    assert "holds no run, record, checkpoints or study" in capsys.readouterr().err


# Results of earlier versions, without checksums.


def without_checksums(folder: Path) -> None:
    for path in folder.rglob("*.json"):
        content = json.loads(path.read_bytes())
        if "checksums" in content:
            del content["checksum"], content["checksums"]
            path.write_text(json.dumps(content), encoding="utf-8")


def in_format(path: Path, number: int) -> None:
    """Rewrite a store in an earlier format."""
    text = "scenario" if number == 1 else "text"
    with sqlite3.connect(path) as db:
        db.executescript(
            f"""
            CREATE TABLE earlier (key TEXT PRIMARY KEY, position INTEGER, labels TEXT NOT NULL, {text} TEXT NOT NULL,
                seed INTEGER NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL, measures TEXT, error TEXT,
                seconds REAL) WITHOUT ROWID;
            INSERT INTO earlier SELECT key, position, labels, text, seed, version, status, measures, error, seconds
                FROM points JOIN cells ON cell = hash;
            DROP TABLE points;
            DROP TABLE cells;
            DELETE FROM study WHERE key = 'checksum';
            ALTER TABLE earlier RENAME TO points;
            CREATE INDEX by_position ON points (position, status);
            PRAGMA user_version = {number};
            """
        )
    db.close()


@pytest.mark.parametrize("name", ["record", "run", "checkpoint"])
def test_folders_without_checksums_load(
    name: str, whole: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, chance = KINDS[name], random.Random(name)
    shutil.copytree(whole(name), tmp_path / "old")
    expected = kind.get(tmp_path / "old")
    without_checksums(tmp_path / "old")
    assert kind.get(tmp_path / "old") == expected
    code, said = checked(tmp_path / "old", capsys)
    assert code == 0 and "has no checksums: it was written by an earlier version" in said
    for path in chance.choices(files(tmp_path / "old"), k=FLIPS):
        kept = (tmp_path / "old" / path).read_bytes()
        flip(tmp_path / "old" / path, chance, first=150)
        with suppress(InputError):  # damage may go unnoticed, but no other exception is raised
            kind.get(tmp_path / "old")
        (tmp_path / "old" / path).write_bytes(kept)


@pytest.mark.parametrize("number", [1, 2])
def test_stores_without_checksums_are_read_and_upgraded(
    number: int, whole: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(whole("study") / FILE, tmp_path / FILE)
    expected = study_content(tmp_path)
    in_format(tmp_path / FILE, number)
    assert study_content(tmp_path) == expected
    code, said = checked(tmp_path, capsys)
    assert code == 0 and "has no checksums" in said and "its 32 points can be read" in said
    kept, chance = (tmp_path / FILE).read_bytes(), random.Random(number)
    for _ in range(FLIPS):
        flip(tmp_path / FILE, chance)
        with suppress(InputError):
            study_content(tmp_path)
        (tmp_path / FILE).write_bytes(kept)
    Store(tmp_path / FILE, write=True).close()
    assert study_content(tmp_path) == expected
    assert "32 points are intact" in checked(tmp_path, capsys)[1]
    assert (tmp_path / FILE).stat().st_size <= len(kept)  # in whole pages


def test_points_that_share_labels_and_text_store_them_once(tmp_path: Path) -> None:
    write_study(tmp_path)
    with Store(tmp_path / FILE, write=True) as store:
        assert store._db.execute("SELECT count(*) FROM cells").fetchone() == (4,)
        store.forget(row.key for row in store.rows())
        store.register([], Description("empty"))
        assert store._db.execute("SELECT count(*) FROM cells").fetchone() == (0,)


def test_documents_keep_their_content_and_the_checksums_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    sealed.write(tmp_path / "list.json", {"name": "Café"}, ["a.txt"])
    assert sealed.read(tmp_path / "list.json") == {"name": "Café"}
    listed = json.loads((tmp_path / "list.json").read_bytes())["checksums"]
    assert listed == {"a.txt": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}  # FIPS 180
