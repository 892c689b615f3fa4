"""JSON schemas of the file formats, for editors: `python -m gamesim.schema scenario > scenario.schema.json`.

They are made from the models that files are checked with. A schema knows keys, types and names; that settings fit their
learner and that players fit their game is told by `gamesim check`.
"""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from gamesim import games, measure, players
from gamesim.errors import InputError, did_you_mean
from gamesim.scenario import Scenario
from gamesim.study.worker import DEFAULT_MEASURES

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the schema of scenario files.

    >>> "chicken" in scenario_schema()["$defs"]["GamePart"]["properties"]["name"]["anyOf"][0]["enum"]
    True
    """
    schema = _without_titles(Scenario.model_json_schema())
    parts = schema["$defs"]
    parts["GamePart"]["properties"]["name"]["anyOf"][0]["enum"] = sorted(games.available())
    own = {"type": "string", "pattern": r"\.py:\w+$", "description": "a class of your own: FILE.py:CLASS"}
    for part in ("EveryonePart", "PlayerPart"):
        learner = parts[part]["properties"]["learner"]
        learner["anyOf"] = [{"enum": sorted(players.available())}, own]
    return {"$schema": DIALECT, "title": "gamesim scenario", **schema}


def study_schema() -> dict[str, Any]:
    """Return the schema of study files.

    >>> study_schema()["required"]
    ['base']
    """
    count = {"type": "integer", "minimum": 1}
    values = {
        "type": "object",
        "properties": {"first": {"type": "integer"}, "count": count, "step": {"type": "integer"}},
        "required": ["first", "count"],
        "additionalProperties": False,
    }
    axis = {"anyOf": [{"type": "array"}, values, {"type": "object"}]}
    grid = {
        "type": "object",
        "additionalProperties": axis,
        "description": "every combination of these values is a point",
    }
    measures = {"type": "array", "items": {"enum": list(measure.numbers())}, "default": list(DEFAULT_MEASURES)}
    scenario = scenario_schema()
    definitions = scenario.pop("$defs")
    del scenario["$schema"], scenario["title"]
    return {
        "$schema": DIALECT,
        "title": "gamesim study",
        "type": "object",
        "$defs": {**definitions, "Scenario": scenario},
        "properties": {
            "title": {"type": "string"},
            "base": {
                "anyOf": [{"type": "string"}, {"$ref": "#/$defs/Scenario"}],
                "description": "a shipped scenario, the path of one, or a table [base]",
            },
            "seeds": {"anyOf": [count, {"type": "array", "items": {"type": "integer", "minimum": 0}}, values]},
            "measures": {**measures, "description": "what is kept of each point"},
            "grid": grid,
            "changes": {
                "type": "array",
                "items": {"type": "object", "properties": {"label": {"type": "string"}, "grid": grid}},
                "description": "a list of changes, each combined with the whole grid",
            },
        },
        "required": ["base"],
        "additionalProperties": False,
    }


FORMATS: dict[str, Callable[[], dict[str, Any]]] = {"scenario": scenario_schema, "study": study_schema}


def text(name: str) -> str:
    """Return the schema of a format as JSON, as it is shipped."""
    if name not in FORMATS:
        raise InputError(f"there is no format called {name!r}: {did_you_mean(name, FORMATS)}")
    return json.dumps(FORMATS[name](), indent=1, ensure_ascii=False) + "\n"


def _without_titles(value: Any) -> Any:
    """Drop the titles that pydantic makes of the names of keys: an editor would show them instead of what is said."""
    if isinstance(value, dict):
        return {
            key: _without_titles(part) for key, part in value.items() if not (key == "title" and isinstance(part, str))
        }
    return [_without_titles(part) for part in value] if isinstance(value, list) else value


def main(arguments: Sequence[str]) -> int:
    """Print the schema of the named format."""
    try:
        print(text(arguments[0] if arguments else "scenario"), end="")
    except InputError as error:
        print(f"gamesim.schema: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
