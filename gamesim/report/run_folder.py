"""Write a run folder: the scenario as run, the record, the summary, the figures and the report."""

from pathlib import Path

from gamesim import sealed
from gamesim.atomic import write_files
from gamesim.record import Record
from gamesim.record_files import MANIFEST_FILE
from gamesim.report.html import report_html
from gamesim.report.replay import replay_html
from gamesim.report.summary import Summary
from gamesim.scenario import Scenario

SUMMARY_FILE = "summary.json"
RECORD_FOLDER = "record"
FIGURES_FOLDER = "figures"
REPORT_FILE = "report.html"


def write_run(folder: Path, scenario: Scenario | None, record: Record, summary: Summary) -> None:
    """Write the scenario, record and summary of a run into a folder, which may hold figures and a report.

    Observed play has no scenario.

    The summary has the checksums of the other files; those of the record's arrays are in its manifest.
    """
    drawn = set(folder.iterdir())
    if scenario is not None:
        scenario.write_parts(folder)
    files = [path.name for path in folder.iterdir() if path not in drawn]
    (folder / RECORD_FOLDER).mkdir()
    record.write_parts(folder / RECORD_FOLDER)
    sealed.write(folder / SUMMARY_FILE, summary.as_full_json(), [*files, f"{RECORD_FOLDER}/{MANIFEST_FILE}"])


def write_report(
    folder: Path, scenario: Scenario | None, record: Record, summary: Summary, *, png: bool = False
) -> dict[str, str]:
    """Draw the figures of a run and write the report that contains them; return why figures are missing, by name.

    The report has the figures as SVG; with `png` they are also written as PNG. Each file is written completely or not
    at all.
    """
    from gamesim.figures import draw_run  # imports matplotlib, which is slow

    failed: dict[str, str] = {}

    def write(new: Path) -> list[Path]:
        (new / FIGURES_FOLDER).mkdir()
        drawn = draw_run(record, new / FIGURES_FOLDER, failed, png=png)
        text = "" if scenario is None else scenario.to_toml()
        page = report_html(record, summary, drawn, text, failed, replay_html(record, summary.distance_left_out))
        (new / REPORT_FILE).write_text(page, encoding="utf-8")
        return [*drawn, new / REPORT_FILE]

    write_files([(folder, write)], force=True)
    return failed
