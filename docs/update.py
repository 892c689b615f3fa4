"""Rewrite every generated file: JSON schemas, lists of names, tables in README and in the documentation, pictures.

`make generate` runs this; `python docs/update.py --no-pictures` leaves out the pictures, which take a minute.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate

from gamesim.scenario import schema as scenario_schema
from gamesim.study import schema as study_schema

ROOT = Path(__file__).parents[1]
COMMAND = "make generate"
GUARANTEES = {
    "swap": "swap regret: if every player's is sublinear, play converges to the set of CE",
    "internal": "internal regret: likewise",
    "external": "external regret: if every player's is sublinear, play converges to the set of CCE",
    "expected external": "external regret in expectation, under bandit feedback",
    "constant": "external regret, up to a constant per round that depends on `step`",
    "": "no bound",
}
CONSTANT_STEP = ("replicator",)  # its bound, ln d / step + 4 step T, is linear in T at the default step


def learner_groups() -> str:
    """Return the learners by what they guarantee, as a short Markdown table."""
    groups: dict[str, list[str]] = {}
    for name, _, regret, _ in generate.learners():
        groups.setdefault("constant" if name in CONSTANT_STEP else regret, []).append(f"`{name}`")
    rows = ["| regret that is bounded | learners |", "|---|---|"]
    rows += [f"| {guarantee} | {', '.join(groups[kind])} |" for kind, guarantee in GUARANTEES.items()]
    return "\n".join(rows)


def short_speed_table() -> str:
    """Return a few rows of the table of speed."""
    return generate.speed_table([("Hedge", 4), ("Hedge", 64), ("Regret matching", 4), ("Blum-Mansour, Hedge rows", 16)])


def between_marks(text: str, tables: dict[str, str]) -> str:
    """Return a page with each table written between its marks, <!-- name --> and <!-- /name -->."""
    for name, made in tables.items():
        before, _, rest = text.partition(f"<!-- {name} -->")
        after = rest.partition(f"<!-- /{name} -->")[2]
        text = f"{before}<!-- {name} -->\n{made}\n<!-- /{name} -->{after}"
    return text


def generated() -> dict[Path, str]:
    """Return every generated text file with what it should hold."""
    readme, comparison = ROOT / "README.md", ROOT / "docs" / "reference" / "comparison.md"
    tables = {"learners": learner_groups(), "speed": short_speed_table()}
    return {
        ROOT / "scenarios" / "scenario.schema.json": scenario_schema.text(),
        ROOT / "scenarios" / "study.schema.json": study_schema.text(),
        readme: between_marks(readme.read_text(encoding="utf-8"), tables),
        comparison: between_marks(comparison.read_text(encoding="utf-8"), {"speed": generate.speed_table()}),
        **generate.names(),
    }


def main() -> None:
    """Write what is stale, and name it."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"Wrote {path.relative_to(ROOT)}")
    if "--no-pictures" not in sys.argv:
        import pictures

        pictures.main()


if __name__ == "__main__":
    main()
