"""The points of the study: one instance with one seed, on which every learner of a claim runs."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from gamesim.study.canonical import canonical

REVISION = 2  # of the learners and claims; points of other revisions are ignored

Labels = dict[str, Any]
Values = dict[str, float]


@dataclass(frozen=True)
class Point:
    """All learners of a claim on one instance; their regrets are its measures, by the name of the learner."""

    claim: str
    labels: Labels
    seed: int

    @property
    def text(self) -> str:
        """The claim and the labels: everything but the seed."""
        return canonical([self.claim, self.labels])

    @property
    def key(self) -> str:
        """A hash of everything that determines the run."""
        whole = json.dumps([REVISION, self.claim, self.labels, self.seed], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:32]
