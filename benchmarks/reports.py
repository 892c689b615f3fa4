"""Sizes of report.html: run the shipped scenarios and weigh their reports.

    python benchmarks/reports.py [SCENARIO ...] [--rounds 20000]

Runs have at most `--rounds` rounds; the size depends little on their number, because a report thins what it contains.
The command fails if a report exceeds 3 MB: it is to be sent by mail and opened on a phone.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from time import process_time

from gamesim.report.run_folder import write_report
from gamesim.report.summary import summarise
from gamesim.scenario import read, shipped

MOST = 3.0  # MB


def places() -> dict[str, Path]:
    """Return the files of all shipped scenarios, also those of the literature, by name."""
    found = {name: Path(path) for name, path in shipped().items()}
    literature = next(iter(found.values())).parent / "literature"
    return found | {path.stem: path for path in sorted(literature.glob("*.toml"))}


def weigh(path: Path, rounds: int) -> float:
    """Return the size of a scenario's report, in MB."""
    scenario = read(path)
    scenario = scenario.model_copy(update={"rounds": min(rounds, scenario.rounds)})
    record = scenario.simulation().run(scenario.rounds)
    measured = summarise(
        record, title=scenario.title, distance=scenario.measure.distance, measures=scenario.measure.measures
    )
    with tempfile.TemporaryDirectory() as temporary:
        write_report(Path(temporary), scenario, record, measured)
        return (Path(temporary) / "report.html").stat().st_size / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=list(places()), metavar="SCENARIO")
    parser.add_argument("--rounds", type=int, default=10**9)
    chosen = parser.parse_args()
    sizes = {}
    for name in chosen.scenarios:
        began = process_time()
        sizes[name] = weigh(places()[name], chosen.rounds)
        print(f"{name:40} {sizes[name]:.2f} MB  {process_time() - began:.0f} s", flush=True)
    heavy = [name for name, size in sizes.items() if size > MOST]
    print(
        f"{len(sizes)} reports, at most {max(sizes.values()):.2f} MB; above {MOST:g} MB: {', '.join(heavy) or 'none'}"
    )
    return int(bool(heavy))


if __name__ == "__main__":
    sys.exit(main())
