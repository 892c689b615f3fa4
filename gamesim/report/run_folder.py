"""A run folder: the scenario as it was run, the record, what was measured, and the figures and the report of it."""

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
    """Write a run into an existing folder: all that repeats it and all that was measured, but no figures."""
    scenario.write_parts(folder)
    text = json.dumps(summary.as_full_json(), allow_nan=False, ensure_ascii=False, indent=1)
    (folder / SUMMARY_FILE).write_text(text + "\n", encoding="utf-8")
    (folder / RECORD_FOLDER).mkdir()
    record.write_parts(folder / RECORD_FOLDER)


def write_report(folder: Path, scenario: Scenario, record: Record, summary: Summary) -> None:
    """Draw a run's figures into its folder, and write the report that shows them."""
    from gamesim.figures import draw_run  # matplotlib, which a run without figures does not wait for

    (folder / FIGURES_FOLDER).mkdir(exist_ok=True)
    drawn = draw_run(record, folder / FIGURES_FOLDER)
    page = report_html(record, summary, drawn, scenario.to_toml())
    (folder / REPORT_FILE).write_text(page, encoding="utf-8")
