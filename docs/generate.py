"""Write the reference: a page for every learner and every game, from what the program says of itself, with a picture.

`make docs` calls this; `python docs/generate.py table` prints the table of learners that README.md shows.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

import gamesim
from gamesim import catalogue, figures, games, players, scenario
from gamesim import study as study_module
from gamesim.game import Game
from gamesim.point import MEASURES
from gamesim.schema import scenario_schema

ROUNDS = 2000
TABLES = {"game": "GamePart", "everyone": "EveryonePart", "[players]": "PlayerPart", "measure": "MeasurePart"}
FORMATS_SAID = """\
Both are TOML, and both are data: they never execute code. `gamesim check FILE` names every mistake in a scenario. For
editors, JSON schemas of both come with gamesim, in `scenarios/scenario.schema.json` and `scenarios/study.schema.json`;
`python -m gamesim.schema scenario` prints the first, and this page is made from it. How an editor is told is in
[how to](../howto.md)."""
SEVERAL = 4  # players of a game that is drawn as a network


def write(docs: Path, *, pictures: bool) -> None:
    """Write all generated pages, and their pictures where they are wanted."""
    _write(docs / "reference" / "files.md", files_page())
    for kind, names in (("learners", players.names()), ("games", games.names())):
        folder = docs / "reference" / kind
        folder.mkdir(parents=True, exist_ok=True)
        (docs / "reference" / "pictures").mkdir(exist_ok=True)
        for name, thing in names.items():
            page = learner_page(name) if kind == "learners" else game_page(name)
            picture = docs / "reference" / "pictures" / f"{kind}-{name}"
            if pictures and not _is_newer(picture.with_suffix(".svg"), Path(inspect.getfile(thing))):
                draw(learner_record(name) if kind == "learners" else game_record(thing), picture)
            if picture.with_suffix(".svg").exists():
                page += f"\n![{name} at play](../pictures/{picture.name}.svg)\n"
            _write(folder / f"{name}.md", page)
        listing = "\n".join(sorted(names))
        index = table(linked=True) if kind == "learners" else game_table()
        _write(folder / "index.md", f"# {kind.capitalize()}\n\n{index}\n\n```{{toctree}}\n:hidden:\n\n{listing}\n```\n")


def files_page() -> str:
    """Return the page of the file formats: every key, from the schema that editors use."""
    schema = scenario_schema()
    parts = {"the file itself": schema, **{f"[{key}]": schema["$defs"][part] for key, part in TABLES.items()}}
    lines = ["# Scenario and study files", "", FORMATS_SAID, "", "## Scenarios"]
    for name, part in parts.items():
        lines += ["", f"### {_plain(name)}", "", "| key | expected | default |", "|---|---|---|"]
        for key, said in part["properties"].items():
            needed = key in part.get("required", ())
            default = "needed" if needed else _default(said)
            lines.append(f"| `{key}` | {_plain(said.get('description', ''))} | {default} |")
    study = inspect.getdoc(study_module) or ""
    opening, _, rest = study.partition("A study is TOML:")
    example, _, closing = rest.partition("\nA key in quotes")
    lines += ["", "## Studies", "", _plain(opening), "", "```toml", inspect.cleandoc(example), "```", ""]
    lines += [_plain("A key in quotes" + closing), "", "Measures: " + ", ".join(f"`{one}`" for one in MEASURES) + "."]
    return "\n".join(lines) + "\n"


def _default(said: dict[str, Any]) -> str:
    default = said.get("default", "")
    return "" if default in ("", None) or isinstance(default, dict) else f"`{default}`"


def learner_page(name: str) -> str:
    """Return the page of a learner."""
    kind = players.names()[name]
    promise = players.make(name).over(catalogue.EXAMPLE_ROUNDS).guarantee()
    said = f"{_plain(str(promise))}, for losses in [-1, 1], T rounds and d actions" if promise else "none"
    facts = [
        f"**Guarantee:** {said}",
        f"**Feedback:** {', '.join(kind.feedback)}",
        f"**Source:** `{Path(inspect.getfile(kind)).parent.name}/{Path(inspect.getfile(kind)).name}`",
    ]
    caption = "Here it plays itself (or Hedge, if it looks ahead) in Shapley's game with prizes of 1, 2 and 3:"
    body = [*_paragraphs(inspect.getdoc(kind) or ""), *facts, _settings(kind), caption]
    return f"# {name}\n\n" + "\n\n".join(filter(None, body)) + "\n"


def game_page(name: str) -> str:
    """Return the page of a game."""
    make = games.names()[name]
    shown = StringIO()
    catalogue.show(name, Console(file=shown, width=100, markup=False, highlight=False, emoji=False))
    facts = shown.getvalue().partition("\nPlayers: ")
    table = "".join(facts[1:]).strip().partition("\nscenario ")[0].rstrip()
    block = f"```text\n{table}\n```" if table else ""
    body = [*_paragraphs(inspect.getdoc(make) or ""), _settings(make), block]
    return f"# {name}\n\n" + "\n\n".join(filter(None, body)) + "\n"


def table(linked: bool = False) -> str:
    """Return the table of learners and what they guarantee, as Markdown."""
    rows = ["| learner | what it does | regret that it bounds | by at most |", "|---|---|---|---|"]
    promises = {name: players.make(name).over(catalogue.EXAMPLE_ROUNDS).guarantee() for name in players.names()}
    order = (*catalogue.PROMISES, None)
    for name in sorted(promises, key=lambda one: (order.index(getattr(promises[one], "regret", None)), one)):
        promise = promises[name]
        does = _plain((inspect.getdoc(players.names()[name]) or "").split("\n")[0])
        kind = f"{'expected ' if promise.expected else ''}{promise.regret}" if promise else "–"
        shown = f"[{name}]({name}.md)" if linked else f"`{name}`"
        rows.append(f"| {shown} | {does} | {kind} | {_plain(promise.formula) if promise else '–'} |")
    return "\n".join(rows)


def game_table() -> str:
    """Return the table of games, as Markdown."""
    rows = ["| game | what it is |", "|---|---|"]
    for name, make in sorted(games.names().items()):
        rows.append(f"| [{name}]({name}.md) | {_plain((inspect.getdoc(make) or '').split(chr(10))[0])} |")
    return "\n".join(rows)


def learner_record(name: str) -> Any:
    """Return a run that shows a learner at work."""
    player = players.make(name)
    other = player if not player.informed else players.make("hedge")
    uneven = scenario.read(scenario.find("uneven-shapley")).played_game  # in Shapley's own game some rest at uniform
    game = replace(uneven, name="uneven Shapley")
    return gamesim.simulate(game, [player, other], ROUNDS, feedback=player.feedback[0], perturb=0.2)


def game_record(make: Callable[..., Game]) -> Any:
    """Return a run of Hedge in a game, or None if the game has no default settings."""
    if any(one.default is one.empty for one in inspect.signature(make).parameters.values()):
        return None
    return gamesim.simulate(make(), "hedge", ROUNDS, perturb=0.5)


def draw(record: Any, path: Path) -> None:
    """Draw the first figure that fits a run."""
    if record is None:
        return
    known = figures.figure_functions()
    for name in ("triangles", "payoff-space", "network", "strategies"):
        if name == "network" and len(record.game.players) < SEVERAL:
            continue
        figure = known[name](record)
        if figure is not None:
            path.with_suffix(".svg").write_text(figures.svg(figure), encoding="utf-8")
            return


def _paragraphs(text: str) -> Iterator[str]:
    """Give a docstring's paragraphs as Markdown: prose as it reads, examples as code."""
    for paragraph in text.split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield f"```pycon\n{paragraph}\n```"
        elif paragraph.startswith("    "):
            yield f"```text\n{inspect.cleandoc(paragraph)}\n```"
        else:
            for line in re.split(r"\n(?=[A-Z][a-z]+: )", paragraph):
                head, colon, rest = line.partition(": ")
                named = colon and head in ("Source", "Teaches", "Reference")
                yield f"**{head}:** {_plain(rest)}" if named else _plain(line)


def _plain(text: str) -> str:
    """Return text in which Markdown sees no markup but code in backticks."""
    pieces = re.split(r"(`[^`\n]*`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]|$\\])", r"\\\1", piece) for piece in pieces)


def _settings(make: Callable[..., Any]) -> str:
    takes = inspect.signature(make).parameters.values()
    if not takes:
        return ""
    rows = ["| setting | type | default |", "|---|---|---|"]
    for one in takes:
        kind = inspect.formatannotation(one.annotation).replace("collections.abc.", "").replace("typing.", "")
        default = "" if one.default is one.empty else "unset" if one.default is None else f"`{one.default}`"
        rows.append(f"| `{one.name}` | `{kind.replace(' | None', '')}` | {default} |".replace("|float", "or float"))
    return "\n".join(row.replace(" | str`", " or str`") for row in rows)


def _is_newer(picture: Path, source: Path) -> bool:
    """Whether a picture was drawn after its learner or game was last changed: drawing them all takes a minute."""
    return picture.exists() and picture.stat().st_mtime > source.stat().st_mtime


def _write(path: Path, text: str) -> None:
    """Write a page only if it changed, so that a second build is quick."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print(table())
    else:
        write(Path(__file__).parent, pictures="--no-pictures" not in sys.argv)
