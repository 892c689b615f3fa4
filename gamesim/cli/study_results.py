"""Print, export and plot the results of a study."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from gamesim.atomic import WriteInto, refuse_to_overwrite, write_files
from gamesim.cli.stores import store_of
from gamesim.report.terminal import print_table
from gamesim.study.export import write_csv, write_parquet
from gamesim.study.results import Results, read_results
from gamesim.study.store import Store
from gamesim.study.tables import tables

WIDTH_WITHOUT_TERMINAL = 200  # characters per line


def show_study(
    name: str,
    console: Console,
    *,
    measure: str | None = None,
    csv: str | None = None,
    parquet: str | None = None,
    figures: str | None = None,
    force: bool = False,
) -> int:
    """Print the tables of a study, write the requested files, and return the exit code."""
    for export in filter(None, (csv, parquet)):
        refuse_to_overwrite(Path(export), force=force)
    with Store(store_of(name)) as store:
        results = read_results(store)
    results.chosen(measure)  # raises for an unknown measure before anything is written
    parts: list[tuple[Path, WriteInto]] = []
    if csv is not None:
        parts.append(_file(Path(csv), lambda path: write_csv(results, path)))
    if parquet is not None:
        parts.append(_file(Path(parquet), lambda path: write_parquet(results, path)))
    if figures is not None:
        from gamesim.figures.study import draw_study

        parts.append((Path(figures), lambda folder: draw_study(results, folder, measure)))
    written = write_files(parts, force=force)
    show_results(results, measure, console)
    for path in written:
        console.print(f"Written to {path}", style="dim")
    return 0


def _file(path: Path, write: Callable[[Path], None]) -> tuple[Path, WriteInto]:
    """Return the folder of a file, and a function that writes it into any folder."""

    def into(folder: Path) -> list[Path]:
        write(folder / path.name)
        return [folder / path.name]

    return path.parent, into


def show_results(results: Results, measure: str | None, console: Console) -> None:
    """Print the progress of a study, one table per axis, the fits and the learner-by-game matrix."""
    if not console.is_terminal:
        console.width = WIDTH_WITHOUT_TERMINAL
    console.print(Text(results.description.title or results.description.name, style="bold"))
    counts = results.counts
    console.print(
        f"{counts['done']:,} points finished, {counts['failed']:,} failed, {counts['todo']:,} to do",
        style="dim",
    )
    if not counts["done"]:
        return
    chosen = results.chosen(measure)
    for table in tables(results, chosen):
        console.print()
        console.print(Text(table.title, style="bold"))
        console.print(Text(table.note, style="dim"))
        columns = [(heading, "right" if k else "left") for k, heading in enumerate(table.headings)]
        print_table(columns, table.rows, console)
