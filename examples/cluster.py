"""Sweep a compiled learner of your own over two Dask workers, and read the results from the store."""

from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import LocalCluster  # type: ignore[import-untyped]

from gamesim.study import model, pools, results, run, store

BASE = {"rounds": 300, "game": {"name": "shapley"}, "everyone": {"learner": "hedge", "perturb": 0.3}}
GRID = {"everyone.learner": ["hedge", "my_hedge.py:MyHedge", "blum-mansour"]}


def main() -> None:
    learners = Path(__file__).with_name("learners")  # the workers receive the content of my_hedge.py, not its path
    study = model.Study.from_dict({"base": BASE, "grid": GRID, "seeds": 4}, folder=learners, local_code=True)
    with TemporaryDirectory() as folder, LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two:
        with store.Store(Path(folder) / "study.sqlite", write=True) as points:
            points.register(study.points(), study.description)
            run.run_study(study, points, pools.cluster(two.scheduler_address))
        with store.Store(Path(folder) / "study.sqlite") as points:
            found = results.read_results(points)
    for learner in GRID["everyone.learner"]:
        print(f"{learner}: CE gap {found.mean('ce-gap', **{'everyone.learner': learner})}")


if __name__ == "__main__":
    main()
