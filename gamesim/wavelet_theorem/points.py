"""The points of the study: each one run of a claim, with its seed."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from gamesim.study.canonical import canonical

REVISION = 1  # of the learners and claims: points of another one do not count

Labels = dict[str, Any]
Values = dict[str, float]


@dataclass(frozen=True)
class Point:
    """One run of a claim."""

    claim: str
    labels: Labels
    seed: int

    @property
    def text(self) -> str:
        """The claim and the labels: what to run, but for the seed."""
        return canonical([self.claim, self.labels])

    @property
    def key(self) -> str:
        """The hash of all that decides the run."""
        whole = json.dumps([REVISION, self.claim, self.labels, self.seed], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:32]
