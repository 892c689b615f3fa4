"""Install the artifacts in dist into empty environments outside the checkout, and use them as a user would.

Run it as `make test-dist`, which builds them first, or as `python tests/check_dist.py [TEST ...]` to run only some test
files from the source distribution. Needs access to a package index.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PAGES = [
    (["lab", "--no-browser", "--port", "0"], "<title>gamesim lab</title>"),
    (["class", "chicken", "--no-browser", "--port", "0"], "<title>gamesim class: teacher</title>"),
]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*command: str | Path, folder: Path) -> None:
    """Run a command in a folder; stop if it fails."""
    print("+", *command, flush=True)
    subprocess.run([str(one) for one in command], cwd=folder, env=ENVIRONMENT, check=True)


def installed(artifact: Path, folder: Path) -> Path:
    """Install an artifact into an empty environment; return the folder of its commands."""
    run(sys.executable, "-m", "venv", "environment", folder=folder)
    commands = folder / "environment" / "bin"
    run(commands / "pip", "install", "--quiet", f"{artifact}[lab]", folder=folder)
    return commands


def check_run(commands: Path, folder: Path) -> None:
    """Run the main job, and look at what it writes and from where it was imported."""
    run(commands / "gamesim", "run", "chicken", "--out", "chicken", folder=folder)
    assert "<svg" in (folder / "chicken" / "report.html").read_text(encoding="utf-8")
    assert list((folder / "chicken" / "figures").iterdir())
    code = "import gamesim; print(gamesim.__file__)"
    found = subprocess.run([commands / "python", "-c", code], cwd=folder, env=ENVIRONMENT, stdout=-1, check=True)
    assert Path(found.stdout.decode()).is_relative_to(folder / "environment"), found.stdout


def check_page(commands: Path, folder: Path, arguments: list[str], expected: str) -> None:
    """Start a server, open its first page and all that this page links to."""
    print("+ gamesim", *arguments, flush=True)
    server = subprocess.Popen([commands / "gamesim", *arguments], cwd=folder, env=ENVIRONMENT, stdout=-1, text=True)
    assert server.stdout is not None
    try:
        link = re.search(r"http://\S+", server.stdout.readline())
        assert link is not None, "the server printed no link"
        page = urlopen(link[0], timeout=60).read().decode()
        assert expected in page, page
        linked = re.findall(r'(?:src|href)="([^"#:?]+)"', page)
        assert linked
        for name in linked:
            urlopen(urljoin(link[0], name), timeout=60).close()
    finally:
        server.terminate()
        server.wait()


def check_suite(source: Path, folder: Path, tests: list[str]) -> None:
    """Run the checks from the unpacked source distribution: all of them, or some test files."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.glob("gamesim-*")
    if not tests:
        run("make", "test", f"PYTHON={sys.executable}", folder=unpacked)
        return
    run("make", ".venv/test", f"PYTHON={sys.executable}", folder=unpacked)
    run(".venv/bin/python", "-m", "pytest", *tests, folder=unpacked)


def main(tests: list[str]) -> None:
    (source,), (wheel,) = (sorted((ROOT / "dist").glob(kind)) for kind in ("*.tar.gz", "*.whl"))
    for artifact in (wheel, source):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            commands = installed(artifact, folder)
            check_run(commands, folder)
            for arguments, expected in PAGES:
                check_page(commands, folder, arguments, expected)
    with tempfile.TemporaryDirectory() as name:
        check_suite(source, Path(name), tests)
    print(f"{wheel.name} and {source.name} install and work")


if __name__ == "__main__":
    main(sys.argv[1:])
