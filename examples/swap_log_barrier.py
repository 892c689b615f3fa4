"""Run Blum and Mansour's learner with optimistic log-barrier rows, as a scenario file describes it."""

from pathlib import Path

from gamesim.scenario import read


def main() -> None:
    scenario = read(Path(__file__).with_suffix(".toml"))
    record = scenario.simulation().run(scenario.rounds)
    learner = record.learners[0]
    print(f"rows: {learner.rows}")
    print(f"guarantee: {learner.guarantee()}")
    print(f"swap regret {record.regret('swap')[0]:.1f} ≤ {record.bound(0, 'swap'):.0f}, CE gap {record.gap('ce'):.4f}")


if __name__ == "__main__":
    main()
