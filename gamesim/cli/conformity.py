"""Run the conformance checks on user-defined learners."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from gamesim import conformance, user_files, user_learners
from gamesim.cli.exit_codes import FAILED
from gamesim.errors import InputError
from gamesim.learner import Learner
from gamesim.report.compare import contender
from gamesim.scenario.mistakes import Mistakes
from gamesim.scenario.settings import made_learner


def check_learners(name: str, console: Console, *, local_code: bool) -> int:
    """Check a learner such as `mylearner.py:MyHedge:rate=0.5`, or all of `mylearner.py`, and return the exit code."""
    if not name.endswith(".py"):
        found = contender(name, local_code=local_code)
        try:
            return _check(made_learner(found.learner, found.settings), console)
        except Mistakes as mistakes:
            raise InputError(f"{name}: {mistakes}") from None
    if not local_code:
        raise InputError(f"{name} is Python code; if you trust the file, check its learners with --allow-local-code")
    return max(_check(made_learner(one, {}), console) for one in user_learners.learners_in(Path(name)))


def _check(learner: object, console: Console) -> int:
    """Print whether a learner passes each check, and return the exit code."""
    console.print(Text(repr(learner), style="bold"))
    failed = 0
    promises = isinstance(learner, Learner) and learner.guarantee() is not None
    for name, check in conformance.checks().items():
        what = name.removeprefix("check_").replace("_", " ")
        if "bound" in name and not promises:
            console.print(Text(f"  skipped {what}: the learner declares no bound"))
            continue
        try:
            check(learner)
        except Exception as error:  # of the check, or of the learner
            failed += 1
            known = isinstance(error, AssertionError | InputError)
            reason = error if known else user_files.failure(repr(learner), "in this check", error)
            console.print(Text(f"  failed  {what}: {reason}"), soft_wrap=True)
        else:
            console.print(Text(f"  passed  {what}"))
    console.print(f"{failed} of {len(conformance.checks())} checks failed" if failed else "all checks passed")
    return FAILED if failed else 0
