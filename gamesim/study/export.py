"""Export the points of a study as CSV and Parquet."""

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

from gamesim.errors import InputError
from gamesim.study.results import Results


def write_csv(results: Results, path: Path) -> None:
    """Write one line per point: its labels, seed, status, measures, error and seconds."""
    columns, lines = results.table()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)


def write_parquet(results: Results, path: Path) -> None:
    """Write the same columns as Parquet, with numbers as numbers and a column of mixed labels as text."""
    try:
        pyarrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("writing Parquet requires pyarrow; install it with: pip install 'gamesim[parquet]'") from None
    columns, lines = results.table()
    axes = [axis["name"] for axis in results.description.axes]
    measures = columns[len(axes) + 3 : -2]
    rows = list(lines)
    arrays = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    for name in axes:
        kinds = {type(value) for value in arrays[name] if value is not None}
        if not (len(kinds) <= 1 or kinds == {int, float}):
            arrays[name] = [None if value is None else str(value) for value in arrays[name]]
        elif kinds == {int, float}:
            arrays[name] = [None if value is None else float(value) for value in arrays[name]]
    types = {name: pyarrow.float64() for name in (*measures, "seconds")} | {"error": pyarrow.string()}
    table = pyarrow.table({name: pyarrow.array(values, types.get(name)) for name, values in arrays.items()})
    parquet.write_table(table, path)
