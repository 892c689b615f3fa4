"""The data that the compiled loop reads: the addresses of the kernels, and all settings and states, concatenated."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim import user_files
from gamesim.engine import loop
from gamesim.engine.compiled import GAME_KERNEL, LEARNER_KERNEL, OBSERVER_KERNEL, STAGE_KERNEL, Vector, address
from gamesim.engine.layout import begins, joined
from gamesim.engine.shared_players import can_share
from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.measure.observers import Observer
from gamesim.simulation.protocol import FEEDBACK, Protocol

LONGEST = 500  # characters of what Numba says about a kernel


class Compiled(NamedTuple):
    """The setup of the loop, the players' first states, concatenated, and the length of the game's scratch array."""

    setup: loop.Setup
    first_state: Vector
    scratch: int


def compiled(
    game: Game, learners: Sequence[Any], protocol: Protocol, observers: Sequence[Observer], totals: Sequence[Vector]
) -> Compiled:
    """Concatenate the players' settings and states, and look up the addresses of the kernels."""
    plan = np.zeros((len(learners), loop.COLUMNS), dtype=np.int64)
    settings: list[Vector] = []
    states: list[Vector] = []
    made: dict[tuple[int, int], tuple[Vector, Vector, list[int]]] = {}  # thousands of players may share a learner
    ends = accumulate(game.sizes)
    for row, learner, actions, end in zip(plan, learners, game.sizes, ends, strict=True):
        row[loop.ACTIONS : loop.ACTIONS_END + 1] = end - actions, end
        if isinstance(learner, Learner):
            with _clearly(learner):
                if (id(learner), actions) not in made:
                    addresses = [address(one, LEARNER_KERNEL) for one in learner.kernels]
                    made[id(learner), actions] = (
                        learner.kernel_settings(actions),
                        learner.first_state(actions),
                        addresses,
                    )
                its_settings, its_state, row[[loop.PLAY, loop.OBSERVE]] = made[id(learner), actions]
                settings.append(its_settings)
                states.append(its_state)
            if learner.informed:
                row[loop.INFORMED] = loop.SEES_DRAWS if learner.sees_draws else loop.SEES_STRATEGIES
        else:  # written in Python: runs between the phases of the loop
            settings.append(np.zeros(0))
            states.append(np.zeros(0))
    for parts, at in ((settings, loop.SETTINGS), (states, loop.STATE)):
        lengths = [len(one) for one in parts]
        plan[:, at] = begins(lengths)[:-1]
        plan[:, at + 1] = plan[:, at] + lengths
    plan[:, loop.MATRIX] = [0, *accumulate(size * size for size in game.sizes[:-1])]
    plan[:, loop.FEEDBACK] = [FEEDBACK[one] for one in protocol.feedback]
    plan[:, loop.DRAWN] = [_wants_draw(*one) for one in zip(learners, states, game.sizes, plan, strict=True)]
    integers, data, scratch = game.kernel_arrays()
    setup = loop.Setup(
        plan=plan,
        settings=joined(settings),
        game=address(game.own_kernel, GAME_KERNEL),
        stages=np.zeros(0, dtype=np.int64),
        integers=integers,
        data=data,
        feedback=FEEDBACK[protocol.of_run],
        differs=int(protocol.differs),
        alternating=int(protocol.order == "alternating"),
        delay=protocol.delay,
        timed=int(game.timed),
        plain=int(_observe_losses_as_they_are(learners, protocol)),
        informed=int(plan[:, loop.INFORMED].any()),
        last_row=loop.block_length(game.sizes) - 1,
        observers=_table(observers, totals),
        phases=np.zeros(loop.PHASES, dtype=np.int64),
    )
    if can_share(setup, game.sizes):
        stages = [address(one, STAGE_KERNEL) for one in type(game).stages]
        setup = setup._replace(stages=np.array(stages, dtype=np.int64))
    return Compiled(setup, joined(states), scratch)


def _observe_losses_as_they_are(learners: Sequence[Any], protocol: Protocol) -> bool:
    """Return whether learners can read the losses of a round where the game wrote them; those in Python cannot."""
    changed = protocol.differs or protocol.delay or protocol.noise or "bandit" in protocol.feedback
    return not changed and all(isinstance(one, Learner) for one in learners)


@contextmanager
def _clearly(learner: Learner) -> Iterator[None]:
    """Turn whatever a user-defined learner raises, or Numba about its kernels, into an InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not learner.is_user_defined:
            raise
        what = user_files.in_a_line(error)
        raise InputError(f"{learner.name} cannot be compiled or set up: {what[:LONGEST]}") from error


def _wants_draw(learner: Any, state: Vector, actions: int, row: NDArray[np.int64]) -> int:
    """Return where in all states a learner wants its drawn action: in a part of its state named "drawn"; else -1."""
    if not isinstance(learner, Learner) or "drawn" not in learner.state_layout.names:
        return -1
    marked = np.full_like(state, 0.0)
    learner.parts(marked, actions).drawn[0] = 1.0
    return int(row[loop.STATE] + marked.argmax())


def _table(observers: Sequence[Observer], totals: Sequence[Vector]) -> NDArray[np.int64]:
    """Return the address of each compiled observer, and its part of all totals."""
    table = np.zeros((len(observers), 3), dtype=np.int64)
    for row, one, end, total in zip(table, observers, accumulate(map(len, totals)), totals, strict=True):
        row[loop.OBSERVER] = address(one.function, OBSERVER_KERNEL) if one.is_compiled else 0
        row[loop.TOTAL], row[loop.TOTAL_END] = end - len(total), end
    return table
