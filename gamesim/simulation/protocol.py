"""The protocol of a simulation: what each learner observes, when, and in which order the players move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from gamesim import validation
from gamesim.engine import loop
from gamesim.errors import InputError, unknown
from gamesim.game import Game
from gamesim.learner import Feedback, Learner

Order: TypeAlias = Literal["simultaneous", "alternating"]
ORDERS: tuple[Order, ...] = get_args(Order)
FEEDBACK: dict[Feedback, int] = {"expected": loop.EXPECTED, "sampled": loop.SAMPLED, "bandit": loop.BANDIT}
MOST_DELAY = 10**6


@dataclass(frozen=True)
class Protocol:
    """What happens in each round.

    `feedback` has one entry per player, `delay` is in rounds, and `noise` is the standard deviation of normal noise on
    observed losses, in units of loss.
    """

    feedback: tuple[Feedback, ...]
    order: Order = "simultaneous"
    delay: int = 0
    noise: float = 0.0

    @classmethod
    def checked(
        cls, game: Game, feedback: Feedback | Sequence[Feedback], order: Order, delay: int, noise: float
    ) -> "Protocol":
        """Return the protocol, or raise an InputError."""
        count = len(game.players)
        given = [feedback] * count if isinstance(feedback, str) else list(feedback)
        if len(given) != count:
            raise InputError(f"feedback must have one entry for each of the {count} players, got {len(given)}")
        for one in given:
            if one not in FEEDBACK:
                raise unknown("feedback", one, FEEDBACK)
        if order not in ORDERS:
            raise unknown("order", order, ORDERS)
        if not 0 <= noise <= validation.LARGEST_NUMBER:
            raise InputError(f"noise must be a number from 0 to {validation.LARGEST_NUMBER:g}, got {noise}")
        if validation.whole_number("delay", delay, least=0) > MOST_DELAY:
            raise InputError(f"delay must be at most {MOST_DELAY:,} rounds, got {delay:,}")
        found = cls(tuple(given), order, int(delay), float(noise))
        if order == "alternating" and (found.drawn or delay or noise):
            raise InputError(
                "alternating moves need expected feedback without delay and noise, "
                f"got feedback {given[0]}, delay {delay} and noise {noise}"
            )
        return found

    @property
    def drawn(self) -> bool:
        """Whether actions are drawn."""
        return any(one != "expected" for one in self.feedback)

    @property
    def of_run(self) -> Feedback:
        """The feedback of all players, or one under which actions are drawn."""
        kinds = set(self.feedback)
        return self.feedback[0] if len(kinds) == 1 else "sampled"

    @property
    def differs(self) -> bool:
        """Whether players have different feedback."""
        return len(set(self.feedback)) > 1

    def data(self) -> dict[str, Any]:
        """Return what differs from the usual protocol, as data for the record."""
        found: dict[str, Any] = {}
        if self.differs:
            found["feedback"] = list(self.feedback)
        if self.order != "simultaneous":
            found["order"] = self.order
        if self.delay:
            found["delay"] = self.delay
        if self.noise:
            found["noise"] = self.noise
        return found

    def refuse_misfits(self, game: Game, learners: Sequence[Any]) -> None:
        """Raise an InputError if a learner does not fit the protocol."""
        for one, feedback in zip(learners, self.feedback, strict=True):
            if isinstance(one, Learner) and feedback not in one.feedback:
                raise InputError(
                    f"{one.name} requires {' or '.join(one.feedback)} feedback, got {feedback}; "
                    f"choose another learner or feedback"
                )
            self.refuse_informed(one)

    def refuse_informed(self, learner: Any) -> None:
        """Raise an InputError if a learner is informed, and the protocol does not allow it."""
        informed = isinstance(learner, Learner) and learner.informed
        if informed and (self.order == "alternating" or self.delay or self.noise):
            raise InputError(
                f"{cast(Learner, learner).name} observes each round before it plays, which needs simultaneous moves "
                f"without delay and noise"
            )
