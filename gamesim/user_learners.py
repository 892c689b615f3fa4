"""User-defined learners: classes in Python files that a scenario names as `mylearner.py:MyHedge`.

A scenario is data, and naming a file does not run it. The file is loaded, once, only if the user allows it
(`--allow-local-code`). Its class is then available under the file's full path until the program ends.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any

from gamesim.errors import InputError, did_you_mean
from gamesim.learner import Learner, RunningLearner

_loaded_classes: dict[str, type[RunningLearner]] = {}


@dataclass(frozen=True, repr=False)
class UserLearner:
    """A user-defined class and its settings; calling it with a number of actions returns a running learner."""

    learner_class: type[Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, actions: int, **given: Any) -> RunningLearner:  # noqa: D102
        running: RunningLearner = self.learner_class(actions=actions, **given, **self.settings)
        return running

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return self.learner_class.__qualname__ + (f"({given})" if given else "")


def as_input_error(player: str, learner: object, when: str, error: Exception) -> InputError:
    """Return the InputError for an exception in a Python learner, with the player, the time and the line of the file.

    `learner` is the class or factory of the learner. `when` is a phrase such as "in round 7".
    """
    made_by = learner.learner_class if isinstance(learner, UserLearner) else learner
    name = getattr(made_by, "__name__", type(made_by).__name__)
    return failure(f"{player}'s learner {name}", when, error)


def failure(what: str, when: str, error: Exception) -> InputError:
    """Return the InputError for an exception in a user's code, with the line of the file."""
    frames = list(extract_tb(error.__traceback__))
    while frames and Path(__file__).parent in Path(frames[0].filename).parents:  # these lead to the user's code
        del frames[0]
    where = ""
    if frames:  # the user's lines come first, then those of the libraries that they call
        last = next(frame for frame in reversed(frames) if frame.filename == frames[0].filename)
        where = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}: "
    cause = f"{type(error).__name__}: {error}".removesuffix(": ")
    return InputError(f"{what} failed {when}: {where}{cause}")


def is_reference(learner: object) -> bool:
    """Return whether a learner is given as a file and a class.

    >>> is_reference("mylearner.py:MyHedge"), is_reference("hedge")
    (True, False)
    """
    return isinstance(learner, str) and ".py:" in learner


def loaded_class(reference: str) -> type[RunningLearner]:
    """Return the class of a loaded reference, or raise an InputError if the user has not allowed its file."""
    if reference not in _loaded_classes:
        raise InputError(
            f"{reference!r} is Python code, which scenarios do not run by default; if you trust the file, allow it "
            "with --allow-local-code (for run, compare, check and figures)"
        )
    return _loaded_classes[reference]


def load_reference(reference: str, folder: Path) -> str:
    """Run the file of a reference, relative to `folder`, and return the reference with the file's full path."""
    file, _, name = reference.rpartition(":")
    path = (folder / file).resolve()
    known = f"{path}:{name}"
    if known not in _loaded_classes:
        defined = _run_file(path)
        learners = [key for key, thing in defined.items() if isinstance(thing, type) and hasattr(thing, "observe")]
        if isinstance(defined.get(name), type) and issubclass(defined[name], Learner):
            raise InputError(
                f"{name} is a subclass of Learner, which a scenario cannot load from a file; "
                f"pass it to gamesim.simulate, or add it to gamesim's learners"
            )
        if name not in learners:
            hint = did_you_mean(name, learners) if learners else "the file defines no such class"
            raise InputError(f"{path} has no class {name!r} with methods play() and observe(loss); {hint}")
        _loaded_classes[known] = defined[name]
    return known


def load_references(raw: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Load every reference in a scenario's values, and return the values with the files' full paths."""

    def with_loaded(table: Any) -> Any:
        if isinstance(table, dict) and is_reference(table.get("learner")):
            return {**table, "learner": load_reference(table["learner"], folder)}
        return table

    result = dict(raw)
    if "everyone" in raw:
        result["everyone"] = with_loaded(raw["everyone"])
    if isinstance(raw.get("players"), list):
        result["players"] = [with_loaded(table) for table in raw["players"]]
    return result


def copy_file(reference: str, folder: Path) -> str:
    """Copy the file of a loaded reference into a folder, and return the reference relative to that folder."""
    file, _, name = reference.rpartition(":")
    target = folder / Path(file).name
    if target.exists() and target.read_bytes() != Path(file).read_bytes():
        raise InputError(f"two different files of learners are named {target.name}; rename one of them")
    shutil.copyfile(file, target)
    return f"{target.name}:{name}"


def _run_file(path: Path) -> dict[str, Any]:
    """Run a Python file and return what it defines."""
    spec = spec_from_file_location(f"own_learner_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"there is no file {path}; a user-defined learner is given as FILE.py:CLASS")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}") from None
    return vars(module)
