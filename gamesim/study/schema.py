"""The JSON schema of study files, for editors; a study contains a scenario or names one."""

from typing import Any

from gamesim.scenario.schema import DIALECT, as_text, measure_names, scenario_schema
from gamesim.study.worker import DEFAULT_MEASURES


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
    measures = {"type": "array", "items": measure_names(), "default": list(DEFAULT_MEASURES)}
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
                "description": "the name or path of a scenario, or a table [base] that contains one",
            },
            "seeds": {"anyOf": [count, {"type": "array", "items": {"type": "integer", "minimum": 0}}, values]},
            "measures": {**measures, "description": "the measures to store for each point"},
            "grid": grid,
            "changes": {
                "type": "array",
                "items": {"type": "object", "properties": {"label": {"type": "string"}, "grid": grid}},
                "description": "a list of variants, each combined with the whole grid",
            },
        },
        "required": ["base"],
        "additionalProperties": False,
    }


def text() -> str:
    """Return the shipped text of the schema of study files."""
    return as_text(study_schema())
