"""The axes of a study, and the choices along them."""

import re
from dataclasses import dataclass
from typing import Any, TypedDict

Change = tuple[str, Any]  # a key of the scenario, and its new value


class AxisSummary(TypedDict):
    """An axis as stored: its name, its role, and the labels of its choices."""

    name: str
    role: str
    values: list[Any]


@dataclass(frozen=True)
class Choice:
    """One value of an axis: its label in tables, and its changes to the scenario."""

    label: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Axis:
    """An axis: a name, and the choices along it."""

    name: str
    choices: tuple[Choice, ...]

    @property
    def role(self) -> str:
        """The role of the axis in tables and fits: "rounds", "actions", "learner", "game" or "other"."""
        changed = {key for choice in self.choices for key, _ in choice.changes}
        if changed == {"rounds"}:
            return "rounds"
        if changed == {"game.settings.actions"}:
            return "actions"
        if changed and changed <= {"game", "game.name", "game.file"}:
            return "game"
        settings = any(".settings" in key or key.endswith((".perturb", ".start")) for key in changed)
        tops = {top_of(key) for key in changed}
        return "learner" if tops and tops <= {"everyone", "players"} and not settings else "other"

    @property
    def summary(self) -> AxisSummary:
        """The axis without the changes of its choices."""
        return {"name": self.name, "role": self.role, "values": [choice.label for choice in self.choices]}


def top_of(key: str) -> str:
    """Return the top-level table or value of a scenario that a key refers to.

    >>> top_of("players[2].settings.rate"), top_of("rounds")
    ('players', 'rounds')
    """
    return re.split(r"[.\[]", key)[0]
