"""Sweep a user-defined, compiled learner on two Dask workers, and read the results from the store."""

import csv
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import LocalCluster

STUDY = Path(__file__).with_suffix(".toml")  # names learners/my_hedge.py: the workers receive its content, not its path


def gamesim(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "gamesim", *arguments], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    with TemporaryDirectory() as folder:
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(**options) as two:  # type: ignore[no-untyped-call]
            gamesim("sweep", str(STUDY), "--allow-local-code", "--cluster", two.scheduler_address, "--out", folder)
        gamesim("study", folder, "--csv", f"{folder}/points.csv")
        for point in csv.DictReader(Path(folder, "points.csv").read_text().splitlines()):
            print(f"{point['everyone.learner']}, seed {point['seed']}: CE gap {float(point['ce-gap']):.3f}")


if __name__ == "__main__":
    main()
