"""The JSON schema of scenario files, for editors, generated from the models that validate the files.

A schema covers keys, types and names. `gamesim check` also reports settings that do not match their learner, and
players that do not match their game.
"""

import json
from typing import Any

from gamesim import games, players
from gamesim.measure import numbers
from gamesim.measure.observers import BUILT_IN
from gamesim.scenario.model import Scenario

OWN = {"type": "string", "pattern": r"\.py:\w+$", "description": "user-defined: FILE.py:NAME"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def measure_names() -> dict[str, Any]:
    """Return the schema of the name of a measure that gives one number per run."""
    return {"anyOf": [{"enum": list(numbers())}, OWN]}


def scenario_schema() -> dict[str, Any]:
    """Return the schema of scenario files.

    >>> "chicken" in scenario_schema()["$defs"]["GamePart"]["properties"]["name"]["anyOf"][0]["enum"]
    True
    """
    schema = _without_titles(Scenario.model_json_schema())
    parts = schema["$defs"]
    parts["GamePart"]["properties"]["name"]["anyOf"][0]["enum"] = sorted(games.available())
    for part in ("EveryonePart", "PlayerPart"):
        learner = parts[part]["properties"]["learner"]
        learner["anyOf"] = [{"enum": sorted(players.available())}, {**OWN, "description": "a class: FILE.py:CLASS"}]
    measure = parts["MeasurePart"]["properties"]
    measure["observers"]["items"] = {"anyOf": [{"enum": list(BUILT_IN)}, OWN]}
    measure["measures"]["items"] = measure_names()
    return {"$schema": DIALECT, "title": "gamesim scenario", **schema}


def text() -> str:
    """Return the shipped text of the schema of scenario files."""
    return as_text(scenario_schema())


def as_text(schema: dict[str, Any]) -> str:
    """Return a schema as JSON."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _without_titles(value: Any) -> Any:
    """Drop the titles that pydantic derives from key names: editors would show them instead of the descriptions."""
    if isinstance(value, dict):
        return {
            key: _without_titles(part) for key, part in value.items() if not (key == "title" and isinstance(part, str))
        }
    return [_without_titles(part) for part in value] if isinstance(value, list) else value
