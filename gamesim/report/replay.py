"""The replay in a report: the views of the lab draw the frames of a record, without a server or a network.

Browsers do not load modules from files, so the modules are joined to one script, whose hash the content security policy
of the page names. Everything that comes from the record (titles, names, labels, numbers) is compressed and written in
base64: nothing in it can be read as markup.
"""

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from posixpath import dirname, join, normpath
from typing import Any

from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.record import Record
from gamesim.views import equilibria, frames

SHAPE = 1  # number of the message that announces the layout of the frames
FIRST = "replay.js"  # the module that is run
NEAREST_CELLS = 64  # action profiles of a game whose nearest equilibria are replayed


def replay_html(record: Record, no_distance: str | None) -> str:
    """Return the section of a report that replays a run, or nothing if its game is too large for the views.

    `no_distance` is the reason why distances to equilibria are not computed, if they are not.
    """
    game = record.game
    if not isinstance(game, Table) or game.cells > frames.CELLS:
        return ""
    if len(game.players) > frames.PLAYERS or max(game.sizes) > frames.ACTIONS or record.joint is None:
        return ""
    data = {
        "messages": list(_messages(record, no_distance)),
        "frames": b64encode(frames.of_record(record, SHAPE).astype("<f4").tobytes()).decode(),
    }
    text = json.dumps(data, separators=(",", ":"))
    packed = b64encode(gzip.compress(text.encode(), mtime=0)).decode()  # the same record gives the same bytes
    return (
        '<p class="note" id="replay-missing">The replay needs JavaScript and a current browser.</p>\n'
        f'{_note(record)}<div class="replay" id="replay" hidden>\n{_stage()}\n</div>\n'
        f'<script type="application/octet-stream" id="replay-data">{packed}</script>\n'
        f"<script>{script()}</script>"
    )


def _note(record: Record) -> str:
    words = "Press Play or drag the slider: the views show the run at the checkpoints of its record."
    if not record.single:
        words += f" They show the first of {record.replicas:,} runs; only Many runs shows all."
    return f'<p class="note">{words}</p>\n'


def _messages(record: Record, no_distance: str | None) -> Any:
    """Yield the messages that a page of the lab receives about a game and a run, other than frames."""
    game, first = record.game, record if record.single else record[0]
    assert isinstance(game, Table)
    given = dict(_pictures(record))
    without = no_distance or (None if game.cells <= NEAREST_CELLS else "the game is large")
    yield {
        "is": "shape",
        "shape": SHAPE,
        "rounds": record.rounds,
        "replicas": record.replicas,
        "seed": record.seed,
        "game": frames.game_data(game),
        "fields": frames.fields(game),
        "row_fields": frames.row_fields(game),
        "runs": [frames.description(first)],
        "no_distance": without,
        "lacks": [kind for kind in ("portrait", "cloud", "device") if kind not in given],
    }
    for kind, found in given.items():
        yield {"is": kind, **found}
    if without is None:
        for moment in first.moments():
            assert moment.joint is not None
            yield {"is": "nearest", "rounds": moment.rounds, **equilibria.nearest(game, moment.joint)}


def _pictures(record: Record) -> Any:
    """Yield what views draw besides frames, by its kind, as far as it is quickly computed."""
    from gamesim.figures.portrait import still_portrait  # imports matplotlib, which is slow
    from gamesim.views import pictures

    game = record.game
    assert isinstance(game, Table)
    makers: dict[str, Callable[[], Any]] = {
        "sets": lambda: equilibria.sets(game),
        "portrait": lambda: (found := still_portrait(record)) and pictures.portrait(found),
        "cloud": lambda: None if record.single else pictures.cloud(record),
        "device": lambda: pictures.device(game),
    }
    for kind, make in makers.items():
        try:
            found = make()
        except (InputError, ArithmeticError):
            continue
        if found is not None:
            yield kind, found


@cache
def script() -> str:
    """Return the modules of the replay as one script."""
    text = "\n".join(["(() => {", '"use strict";', joined(FIRST), "})();"])
    assert "</script" not in text.lower() and "<!--" not in text
    return text


@cache
def script_hash() -> str:
    """Return the source expression of the script in a content security policy."""
    return f"'sha256-{b64encode(sha256(script().encode()).digest()).decode()}'"


def views_css() -> str:
    """Return the styles of the views."""
    return _static("views.css")


def _static(name: str) -> str:
    return (files("gamesim") / "lab" / "static" / name).read_text(encoding="utf-8")


def _stage() -> str:
    """Return the controls and the place of the views, as in the page of the lab."""
    found = re.search(r'<section class="stage".*?</section>', _static("index.html"), re.DOTALL)
    assert found is not None
    return found[0].replace("<section", "<div").replace("</section>", "</div>")


def joined(first: str) -> str:
    """Return a module and all that it imports as one module: the others are functions that return what they export."""
    done: dict[str, str] = {}
    body, _ = _body(first, done)
    return "\n".join([*done.values(), body])


def _body(name: str, done: dict[str, str]) -> tuple[str, list[str]]:
    """Return the statements of a module and the names that it exports, and add the modules that it imports.

    Each statement of import and export must be at the beginning of a line.
    """
    text = _static(name)
    imports = list(re.finditer(r'^import (.+?) from "(.+?)";$', text, re.MULTILINE | re.DOTALL))
    lines = []
    for found in imports:
        other = normpath(join(dirname(name), found[2]))
        if other not in done:
            body, exported = _body(other, done)
            done[other] = f"const {_name(other)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
        what = found[1].removeprefix("* as ").replace(" as ", ": ")
        lines.append(f"const {what} = {_name(other)};")
    for found in reversed(imports):
        text = text[: found.start()] + text[found.end() :]
    exported = re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)
    return "\n".join([*lines, text.strip()]), exported


def _name(module: str) -> str:
    return "module_" + re.sub(r"\W", "_", module.removesuffix(".js"))
