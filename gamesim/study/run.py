"""Run a study of scenarios and store the results."""

from functools import partial

from gamesim import user_files
from gamesim.study import worker
from gamesim.study.model import Study
from gamesim.study.pools import Open
from gamesim.study.store import Store
from gamesim.study.sweep import Watch, sweep


def run_study(study: Study, store: Store, open_pool: Open, watch: Watch = lambda _: None) -> None:
    """Run every unfinished point of a study; the points must be registered in the store."""
    run = partial(worker.run, measures=study.measures, files=user_files.contents(study.references))
    sweep(store, store.todo(), run, open_pool, watch, kind=worker.kind)
