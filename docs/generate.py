"""Write the reference: a page for every learner and every game, from what the program says of itself, with a picture.

`make docs` calls this.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any, get_type_hints

from rich.console import Console

import gamesim
from gamesim import figures, games, players, scenario
from gamesim.cli import catalogue
from gamesim.game import Game
from gamesim.learner import PLAIN_REGRETS, default_guarantee
from gamesim.measure import numbers
from gamesim.scenario.schema import scenario_schema
from gamesim.study import model as study_module

ROOT = Path(__file__).parents[1]
ROUNDS_SHOWN = 2000  # of the run on a page
TABLE_PARTS = {
    "game": "GamePart",
    "game.schedule": "SchedulePart",
    "everyone": "EveryonePart",
    "[players]": "PlayerPart",
    "measure": "MeasurePart",
}
FORMATS_SAID = """\
Both are TOML, and both are data: they never execute code. `gamesim check FILE` names every mistake in a scenario. For
editors, JSON schemas of both come with gamesim, in `scenarios/scenario.schema.json` and `scenarios/study.schema.json`;
this page is made from the first. How to let your editor use them is in
[how to](../howto.md#enable-completion-for-scenarios-in-an-editor)."""
GAME_FACTS = ("Players", "Pure Nash equilibria", "Total payoff")
MOST_TABLES = 4  # of payoffs on a page; with more players than two there is one for each choice of the others
REGRET_HEADINGS = {
    "swap": "Swap regret",
    "internal": "Internal regret",
    "external": "External regret",
    "expected external": "External regret, in expectation",
    "": "No guarantee",
}
NETWORK_PLAYERS = 4  # that a game has at least, where it is drawn as a network


def write(docs: Path, *, pictures: bool) -> None:
    """Write all generated pages, and their pictures where they are wanted."""
    _write(docs / "reference" / "files.md", files_page())
    for kind, names in (("learners", players.available()), ("games", games.available())):
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
        index = learner_list() if kind == "learners" else game_table()
        _write(folder / "index.md", f"# {kind.capitalize()}\n\n{index}\n\n```{{toctree}}\n:hidden:\n\n{listing}\n```\n")


def files_page() -> str:
    """Return the page of the file formats: every key, from the schema that editors use."""
    schema = scenario_schema()
    parts = {"the file itself": schema, **{f"[{key}]": schema["$defs"][part] for key, part in TABLE_PARTS.items()}}
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
    lines += [_plain("A key in quotes" + closing), "", "Measures: " + ", ".join(f"`{one}`" for one in numbers()) + "."]
    return "\n".join(lines) + "\n"


def _default(said: dict[str, Any]) -> str:
    default = said.get("default", "")
    return "–" if default in ("", None) or isinstance(default, dict) else f"`{default}`"


def learner_page(name: str) -> str:
    """Return the page of a learner."""
    kind = players.available()[name]
    promise = default_guarantee(kind)
    said = f"{_plain(str(promise))}, for losses in [-1, 1], T rounds and d actions" if promise else "none"
    facts = [
        f"**Guarantee:** {said}",
        f"**Feedback:** {' or '.join(f'`{one}`' for one in kind.feedback)}",
        f"**Source:** `{Path(inspect.getfile(kind)).parent.name}/{Path(inspect.getfile(kind)).name}`",
    ]
    whom = "against Hedge" if kind.informed else "itself"
    caption = f"Here it plays {whom} in Shapley's game with prizes of 1, 2 and 3:"
    summary, *details = _documented(inspect.getdoc(kind) or "")
    body = [summary, *facts, _settings(kind), *details, "## Picture", caption]
    return f"# {name}\n\n" + "\n\n".join(filter(None, body)) + "\n"


def game_page(name: str) -> str:
    """Return the page of a game: prose as prose, and its payoffs as they are printed."""
    make = games.available()[name]
    shown = StringIO()
    catalogue.show(name, Console(file=shown, width=200, markup=False, highlight=False, emoji=False))
    facts = shown.getvalue().partition("\nPlayers: ")
    told = "".join(facts[1:]).strip().partition("\nscenario ")[0]
    known, tables = {}, []
    for part in filter(None, re.split(r"\n\n+|\n(?=Pure |Total )", told)):
        head, colon, rest = part.partition(": ")
        if colon and head in GAME_FACTS:
            known[head] = f"**{head}:** {_plain(rest)}"
        else:
            tables.append("\n".join(line.rstrip() for line in part.splitlines()))
    block = "```text\n{}\n```".format("\n\n".join(tables[:MOST_TABLES])) if tables else ""
    left = len(tables) - MOST_TABLES
    more = f"`gamesim show {name}` prints the other {left} tables." if left > 0 else ""
    players_said, *equilibria_said = (known.get(one, "") for one in GAME_FACTS)
    caption = "Hedge against itself:" if game_settings_are_known(make) else ""
    summary, *details = _documented(inspect.getdoc(make) or "")
    picture = ["## Picture", caption] if caption else []
    body = [
        _settings(make),
        *details,
        "## Payoffs and equilibria",
        players_said,
        block,
        more,
        *equilibria_said,
        *picture,
    ]
    return "\n\n".join([f"# {name}", summary, *filter(None, body)]) + "\n"


def learners() -> Iterator[tuple[str, str, str, str]]:
    """Give the learners in order of what they guarantee: the name, the first line, the regret, and its bound."""
    promises = {name: default_guarantee(learner) for name, learner in players.available().items()}
    order = (*reversed(PLAIN_REGRETS), None)
    for name in sorted(promises, key=lambda one: (order.index(getattr(promises[one], "regret", None)), one)):
        promise = promises[name]
        does = _plain((inspect.getdoc(players.available()[name]) or "").split("\n")[0])
        kind = f"{'expected ' if promise.expected else ''}{promise.regret}" if promise else ""
        yield name, does, kind, _plain(promise.formula) if promise else ""


def learner_list() -> str:
    """Return the learners under headings of what they guarantee, as Markdown that suits a narrow page, too."""
    lines = [
        "T rounds, d actions, losses in [-1, 1]; after ≤ stands what the regret is at most. Other symbols are "
        "settings, or are defined on the learner's page."
    ]
    for kind, heading in REGRET_HEADINGS.items():
        lines += ["", f"## {heading}", ""]
        for name, does, regret, bound in learners():
            if regret == kind:
                lines.append(f"- [{name}]({name}.md): {does}" + (f"\\\n  ≤ {bound}" if bound else ""))
    return "\n".join(lines)


def speed_table(chosen: Sequence[tuple[str, int]] = ()) -> str:
    """Return the table of CPU times per round, as stored by `benchmarks/peers.py`, as Markdown.

    Only the chosen learners and numbers of actions, if any.
    """
    stored = json.loads((ROOT / "benchmarks" / "peers.json").read_text(encoding="utf-8"))
    times = stored["microseconds per round"]
    times = [row for row in times if not chosen or (row["learner"], row["actions"]) in chosen]
    named = dict.fromkeys(name for row in times for name in row if name not in ("learner", "actions", "gamesim"))
    names = [*named, "gamesim"]
    packages = " | ".join(f"{name} {stored['versions'].get(name, '')}".strip() for name in names)
    rows = [f"| learner | actions | {packages} |", "|---|--:|" + "--:|" * len(names)]
    for row in times:
        shown = (f"{row[name]:,.{0 if row[name] > 9.9 else 1}f}" if name in row else "–" for name in names)
        rows.append(f"| {row['learner']} | {row['actions']} | {' | '.join(shown)} |")
    return "\n".join(rows)


def names() -> dict[Path, str]:
    """Return the modules that say the names of games and learners as types, for editors and type checkers."""
    kinds: dict[str, list[str]] = {}
    for name, make in games.available().items():
        kinds.setdefault(f"{get_type_hints(make)['return'].__name__}Name", []).append(name)
    return {
        ROOT / "games" / "game_names.py": _as_types("games", kinds),
        ROOT / "players" / "learner_names.py": _as_types("learners", {"LearnerName": sorted(players.available())}),
    }


def _as_types(of_what: str, kinds: dict[str, list[str]]) -> str:
    lines = [
        f'"""The names of all {of_what} as types: `make generate` writes this."""',
        "",
        "from typing import Literal",
        "",
    ]
    for kind, known in sorted(kinds.items()):
        quoted = [f'"{name}"' for name in known]
        line = f"{kind} = Literal[{', '.join(quoted)}]"
        lines += [line] if len(line) <= 120 else [f"{kind} = Literal[", *(f"    {one}," for one in quoted), "]"]
    return "\n".join(lines) + "\n"


def game_table() -> str:
    """Return the table of games, as Markdown."""
    rows = ["| game | what it is |", "|---|---|"]
    for name, make in sorted(games.available().items()):
        rows.append(f"| [{name}]({name}.md) | {_plain((inspect.getdoc(make) or '').split(chr(10))[0])} |")
    return "\n".join(rows)


def learner_record(name: str) -> Any:
    """Return a run that shows a learner at work."""
    player = players.make(name)
    other = player if not player.informed else players.make("hedge")
    uneven = scenario.read(scenario.find("uneven-shapley")).played_game  # in Shapley's own game some rest at uniform
    game = replace(uneven, name="uneven Shapley")
    return gamesim.simulate(game, [player, other], ROUNDS_SHOWN, feedback=player.feedback[0], perturb=0.2)


def game_settings_are_known(make: Callable[..., Game]) -> bool:
    """Whether a game has defaults for all of its settings, so that a page can show it."""
    return all(one.default is not one.empty for one in inspect.signature(make).parameters.values())


def game_record(make: Callable[..., Game]) -> Any:
    """Return a run of Hedge in a game, or None if the game has no default settings."""
    if not game_settings_are_known(make):
        return None
    return gamesim.simulate(make(), "hedge", ROUNDS_SHOWN, perturb=0.5)


def draw(record: Any, path: Path) -> None:
    """Draw the first figure that fits a run."""
    if record is None:
        return
    known = figures.figure_functions()
    for name in ("triangles", "payoff-space", "network", "strategies"):
        if name == "network" and len(record.game.players) < NETWORK_PLAYERS:
            continue
        figure = known[name](record)
        if figure is not None:
            path.with_suffix(".svg").write_text(figures.svg(figure), encoding="utf-8")
            return


def _sections(text: str) -> dict[str, str]:
    """Return the numpydoc sections of a docstring by heading; the part before the first has the key ""."""
    pieces = re.split(r"(?:^|\n)([A-Z][A-Za-z ]*)\n-{3,}(?:\n|$)", text)
    return {"": pieces[0].strip("\n")} | {
        heading: body.strip("\n") for heading, body in zip(pieces[1::2], pieces[2::2], strict=True)
    }


def _documented(text: str) -> Iterator[str]:
    """Yield a docstring's sections as Markdown, without the settings, which are in a table."""
    for heading, body in _sections(text).items():
        if heading in ("Parameters", "Attributes", "Returns"):
            continue
        if heading:
            yield f"## {heading}"
        yield from _paragraphs(body)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring as Markdown, with examples and formulas as code."""
    for paragraph in re.split(r"\n(?:\s*\n)+", text):
        if paragraph.lstrip().startswith(">>>"):
            yield f"```pycon\n{paragraph}\n```"
        elif paragraph.startswith("    "):
            yield f"```text\n{dedent(paragraph)}\n```"
        elif re.match(r"[-*] ", paragraph):
            yield "\n".join(f"- {_plain(item)}" for item in re.split(r"(?:^|\n)[-*] ", paragraph)[1:])
        elif paragraph:
            for line in re.split(r"\n(?=[A-Z][a-z]+: )", paragraph):
                head, colon, rest = line.partition(": ")
                named = colon and head in ("Source", "Teaches", "Reference")
                yield f"**{head}:** {_prose(rest)}" if named else _prose(line)


def _prose(text: str) -> str:
    """Return reStructuredText prose as Markdown: what precedes a literal block ends with one colon."""
    return _plain(re.sub(r"::$", ":", re.sub(r"``([^`]+)``", r"`\1`", re.sub(r"\.\. \[\d+\]\s*", "", text))))


def _plain(text: str) -> str:
    """Return text in which Markdown sees no markup but code in backticks."""
    pieces = re.split(r"(`[^`\n]*`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]|$\\])", r"\\\1", piece) for piece in pieces)


def _settings(make: Callable[..., Any]) -> str:
    """Return the table of settings: types and meanings from the docstring, defaults from the signature."""
    takes = inspect.signature(make).parameters.values()
    if not takes:
        return ""
    described = dict(_parameters(_sections(inspect.getdoc(make) or "").get("Parameters", "")))
    meanings = any(meaning for _, meaning in described.values())
    heading = ["setting", "type", "default", *["meaning"] * meanings]
    rows = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for one in takes:
        default = "" if one.default is one.empty else "unset" if one.default is None else f"`{_short(one.default)}`"
        kind, meaning = described.get(one.name, ("", ""))
        cells = [f"`{one.name}`", _prose(kind) or _type(one.annotation), default, *[_prose(meaning)] * meanings]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _parameters(section: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name, type and description of each entry of a Parameters section."""
    for entry in re.split(r"\n(?=\S)", section):
        head, _, meaning = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        kind = re.sub(r",? ?(optional|default.*)$", "", kind)
        yield from ((name.strip(), (kind, inspect.cleandoc(meaning))) for name in names.split(",") if name.strip())


def _type(annotation: Any) -> str:
    """Return how a setting's type is written: a bar would end the table's cell."""
    name = re.sub(r"collections\.abc\.|typing\.", "", inspect.formatannotation(annotation)).replace(" | None", "")
    choices = re.fullmatch(r"Literal\[(.*)\]", name)
    parts = choices[1].replace("'", "").split(", ") if choices else re.split(r" \| (?![^\[]*\])", name)
    return " or ".join(f"`{one}`" for one in parts).replace(" | ", " or ")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) and len(str(value)) > 6 else str(value)


def _is_newer(picture: Path, source: Path) -> bool:
    """Whether a picture was drawn after all that it shows was last changed: drawing them all takes a minute."""
    drawing = Path(inspect.getfile(figures)).parent.glob("*.py")
    newest = max(one.stat().st_mtime for one in (source, Path(__file__), *drawing))
    return picture.exists() and picture.stat().st_mtime > newest


def _write(path: Path, text: str) -> None:
    """Write a page only if it changed, so that a second build is quick."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent, pictures="--no-pictures" not in sys.argv)
