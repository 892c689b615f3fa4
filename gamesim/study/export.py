"""Export the points of a study as CSV and Parquet."""

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

from gamesim.errors import InputError
from gamesim.study.results import Results
from gamesim.study.store import Row


def write_csv(results: Results, path: Path) -> None:
    """Write one line per point: its labels, seed, status, measures, error and seconds."""
    axes, measures, columns = _columns(results)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(_values(row, axes, measures) for row in results.rows)


def write_parquet(results: Results, path: Path) -> None:
    """Write the same columns as Parquet, with numbers as numbers and a column of mixed labels as text."""
    try:
        pyarrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("writing Parquet requires pyarrow; install it with: pip install 'gamesim[parquet]'") from None
    axes, measures, columns = _columns(results)
    lines = [_values(row, axes, measures) for row in results.rows]
    arrays = {name: [line[i] for line in lines] for i, name in enumerate(columns)}
    for name in axes:
        kinds = {type(value) for value in arrays[name] if value is not None}
        if not (len(kinds) <= 1 or kinds == {int, float}):
            arrays[name] = [None if value is None else str(value) for value in arrays[name]]
        elif kinds == {int, float}:
            arrays[name] = [None if value is None else float(value) for value in arrays[name]]
    types = {name: pyarrow.float64() for name in (*measures, "seconds")} | {"error": pyarrow.string()}
    table = pyarrow.table({name: pyarrow.array(values, types.get(name)) for name, values in arrays.items()})
    parquet.write_table(table, path)


def _columns(results: Results) -> tuple[list[str], list[str], list[str]]:
    axes = [axis["name"] for axis in results.description.axes]
    measures = list(
        dict.fromkeys([*results.description.measures, *(name for row in results.done for name in row.measures)])
    )
    return axes, measures, ["key", *axes, "seed", "status", *measures, "error", "seconds"]


def _values(row: Row, axes: list[str], measures: list[str]) -> list[Any]:
    labels = [row.labels.get(axis) for axis in axes]
    values = [row.measures.get(measure) for measure in measures]
    return [row.key, *labels, row.seed, row.status, *values, row.error, row.seconds]
