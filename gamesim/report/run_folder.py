"""Write a run folder: the scenario as run, the record, the summary, the figures and the report."""

import json
from pathlib import Path

from gamesim.record import Record
from gamesim.report.html import report_html
from gamesim.report.summary import Summary
from gamesim.scenario import Scenario

SUMMARY_FILE = "summary.json"
RECORD_FOLDER = "record"
FIGURES_FOLDER = "figures"
REPORT_FILE = "report.html"


def write_run(folder: Path, scenario: Scenario, record: Record, summary: Summary) -> None:
    """Write the scenario, summary and record of a run into an existing folder, without figures."""
    scenario.write_parts(folder)
    text = json.dumps(summary.as_full_json(), allow_nan=False, ensure_ascii=False, indent=1)
    (folder / SUMMARY_FILE).write_text(text + "\n", encoding="utf-8")
    (folder / RECORD_FOLDER).mkdir()
    record.write_parts(folder / RECORD_FOLDER)


def write_report(folder: Path, scenario: Scenario, record: Record, summary: Summary) -> dict[str, str]:
    """Draw the figures of a run and write the report that contains them; return why figures are missing, by name."""
    from gamesim.figures import draw_run  # imports matplotlib, which is slow

    (folder / FIGURES_FOLDER).mkdir(exist_ok=True)
    failed: dict[str, str] = {}
    drawn = draw_run(record, folder / FIGURES_FOLDER, failed)
    page = report_html(record, summary, drawn, scenario.to_toml(), failed)
    (folder / REPORT_FILE).write_text(page, encoding="utf-8")
    return failed
