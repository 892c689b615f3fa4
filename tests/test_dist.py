"""What the source distribution and the wheel contain; `make test-dist` also installs and runs them."""

import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling import build

import gamesim

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
FOLDERS = {"gamesim": "gamesim", **{name: f"gamesim/{name}" for name in ("players", "games", "scenarios")}}


def of_the_checkout() -> set[str]:
    """Return all files of the checkout that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0 or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def test_the_source_distribution_has_all_files_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {name for name in of_the_checkout() if not name.startswith(".")} | {".gitignore", "PKG-INFO"}
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build.build_sdist(str(tmp_path))) as archive:
        found = {one.name.partition("/")[2] for one in archive.getmembers() if one.isfile()}
    assert found == expected
    assert {"CHANGELOG.md", "Makefile", "tests/conftest.py", "tests/lab_server.py", "docs/conf.py"} <= found


def test_the_wheel_has_the_package_and_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with ZipFile(tmp_path / build.build_wheel(str(tmp_path))) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = archive.read(f"gamesim-{gamesim.__version__}.dist-info/METADATA").decode()
    for needed in (
        "py.typed", "report/report.css", "lab/course.toml", "lab/static/index.html", "lab/static/views/tetrahedron.js",
        "classroom/static/student.html", "scenarios/chicken.toml", "scenarios/scenario.schema.json",
        "scenarios/study.schema.json", "players/hedge.py", "players/_kernels/simplex.py", "games/io/files.py",
    ):  # fmt: skip
        assert f"gamesim/{needed}" in found
    assert f"Version: {gamesim.__version__}\n" in metadata
    assert all(f"Python :: 3.{minor}\n" in metadata for minor in (11, 12, 13))
    tops = [(name, *name.split("/", 1)) for name in of_the_checkout() if "/" in name]
    assert found == {f"{FOLDERS[top]}/{rest}" for _, top, rest in tops if top in FOLDERS}


def test_citation_has_the_version() -> None:
    assert f"\nversion: {gamesim.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
