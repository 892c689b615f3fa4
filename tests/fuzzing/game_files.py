"""Game files in all formats: made from random games, mutated, read, asked for losses, and written again."""

import io
import warnings
import zipfile
from pathlib import Path
from random import Random

import numpy as np

from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games.io import csv_tables, gam, nfg, npz
from gamesim.games.varying import Varying
from tests.fuzzing import arrays, texts, values
from tests.fuzzing.oracle import Wrong
from tests.fuzzing.scenarios import SMALL
from tests.fuzzing.values import Input, some

_LABELS = ("a", "b", "c", "up", "é", 'say "x"', "x_2", "1", "payoff", "a\\b", "A \\ B", "a,b", "a;b", "", "-3.5")
_NFG_WORDS = ("NFG", "1", "R", "D", '"t"', "{", "}", '"a"', ",", "1/3", "-.5", "0", '{ "x" 1 2 }', '"comment"')
_CSV_WORDS = (",", '"', "payoff", " \\ ", ";", "1", "-2.5", "nan", "inf", "1_0", "a")
OTHERS = (  # that are not tables
    games.make("polymatrix", graph="path", graph_settings={"n": 3}),
    games.make("network-coordination", graph="cycle", graph_settings={"n": 4}),
    games.make("local-public-goods", graph="star", graph_settings={"n": 3}),
    games.make("guess-two-thirds-crowd", players=3, top=2),
    games.make("routing", network="braess", players=3),
    games.make("routing", network="grid", players=2, routes=3),
    Varying.from_tables([[[[1, 2], [3, 4]]] * 2, [[[0, -1], [5, 4]]] * 2], every=2, change="drifting"),
)


def table(random: Random) -> Table:
    """Return a random game with one to four players."""
    sizes = [random.randint(1, 3) for _ in range(some(random, (1, 2, 2, 2, 3, 4)))]
    payoffs = [np.array([_payoff(random) for _ in range(int(np.prod(sizes)))]).reshape(sizes) for _ in sizes]
    if random.random() < 0.4:
        return Table.from_payoffs(payoffs, name=some(random, _LABELS))
    players = random.sample(_LABELS, len(sizes))
    actions = [random.sample(_LABELS, size) for size in sizes]
    return Table.from_payoffs(payoffs, name=some(random, _LABELS), players=players, actions=actions)


def _payoff(random: Random) -> float:
    return float(random.randint(-5, 5)) if random.random() < 0.9 else some(random, (1e150, -1e150, 5e-324, 0.1, 1 / 3))


def _written(random: Random, write: object) -> str:
    """Return a random game in a text format."""
    assert callable(write)
    while True:
        try:
            text = write(table(random))
        except InputError:  # the format cannot store some labels
            continue
        return str(text)


def make_nfg(random: Random) -> Input:
    """Return a mutated .nfg file, in the payoff or the outcome version."""
    text = _written(random, nfg.write) if random.random() < 0.7 else _outcomes(random)
    return {"game.nfg": texts.mutated(random, text, _NFG_WORDS, [_written(random, nfg.write), _outcomes(random)])}


def _outcomes(random: Random) -> str:
    outcomes = "".join(f'{{ "{some(random, "ab")}" {random.randint(-9, 9)}, 1/3 }} ' for _ in range(3))
    chosen = " ".join(str(random.randint(0, 3)) for _ in range(4))
    return f'NFG 1 R "t" {{ "A" "B" }} {{ {{ "u" "d" }} {{ "l" "r" }} }} "note"\n{{ {outcomes}}}\n{chosen}\n'


def make_gam(random: Random) -> Input:
    """Return a mutated .gam file."""
    text = _written(random, gam.write)
    return {"game.gam": texts.mutated(random, text, ("#", "\n", "2", "0", "-1"), [_written(random, gam.write)])}


def make_csv(random: Random) -> Input:
    """Return the CSV files of a game, some of them mutated, missing, or of another game."""
    files = _csv_files(random)
    for k in range(len(files)):
        if random.random() < 0.6:
            files[k] = texts.mutated(random, files[k].decode(), _CSV_WORDS, [_csv_files(random)[0].decode()])
    if random.random() < 0.1:
        files += _csv_files(random)
    if random.random() < 0.1:
        files.pop()
    return {f"game.{k + 1}.csv": data for k, data in enumerate(files)}


def _csv_files(random: Random) -> list[bytes]:
    while True:
        try:
            return [text.encode() for text in csv_tables.write(table(random))]
        except InputError:
            continue


def make_npz(random: Random) -> Input:
    """Return a .npz file whose arrays, headers, members or bytes are mutated."""
    parts = _parts(random)
    kind = random.random()
    for _ in range(1 + int(random.expovariate(1.5)) if kind < 0.85 else 0):
        _mutate_parts(random, parts)
    data = zipped(random, parts)
    return {"game.npz": data if kind < 0.85 else texts.flipped(random, data)}


def _parts(random: Random) -> Input:
    """Return the arrays of a game, as .npy files by name."""
    if random.random() < 0.2:
        return {"payoffs.npy": arrays.written(table(random).payoffs)}
    game = table(random) if random.random() < 0.4 else some(random, OTHERS)
    out = io.BytesIO()
    npz.write(game, out)
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _mutate_parts(random: Random, parts: Input) -> None:
    if not parts:
        return
    name, other = some(random, list(parts)), some(random, list(parts))
    how = random.randrange(10)
    if how == 0:
        del parts[name]
    elif how == 1:
        parts[name] = parts[other]
    elif how == 2:
        parts[values.text(random, ("payoffs.npy", "kind.npy", "game_x.npy", "../x.npy"))[:200]] = parts.pop(name)
    else:
        parts[name] = arrays.mutated(random, parts[name])


def zipped(random: Random, parts: Input) -> bytes:
    """Return the files as an archive, sometimes with a member twice."""
    out = io.BytesIO()
    members = [(name.encode("utf-8", "replace").decode(), data) for name, data in parts.items()]
    if members and random.random() < 0.03:
        members.append((members[0][0], members[-1][1]))
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may occur twice
        for name, data in members:
            member = zipfile.ZipInfo(name)
            member.compress_type = some(random, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
            archive.writestr(member, data)
    return out.getvalue()


def use(given: Input, folder: Path) -> None:
    """Load a game, ask it for losses against uniform play, and write tables as text and read them back."""
    name = min(given) if given else "game.1.csv"
    game = games.load(folder / name)
    if sum(game.sizes) <= SMALL:
        ask_for_losses(game)
        if isinstance(game, Table):
            _round_trip(game)


def ask_for_losses(game: Game) -> None:
    """Compute the losses against uniform play."""
    losses = game.expected_losses(np.concatenate([np.full(size, 1 / size) for size in game.sizes]))
    if not (np.abs(losses) <= 1).all():
        raise Wrong(f"expected losses in [-1, 1], got {losses.tolist()!r:.500}")


def _round_trip(game: Table) -> None:
    for what, write, read in (("nfg", nfg.write, nfg.read), ("gam", gam.write, gam.read)):
        try:
            text = write(game)
        except InputError:
            continue
        if read(text).payoffs.tobytes() != game.payoffs.tobytes():
            raise Wrong(f"the game reads back differently from .{what}: {text!r:.1000}")
    try:
        found: Game = csv_tables.read([("file", text) for text in csv_tables.write(game)], game.name)
    except InputError as error:
        if "cannot store" not in str(error):
            raise Wrong(f"a game that was written as .csv is refused: {error}") from None
        return
    if found.actions != game.actions or not np.array_equal(found.arrays()["payoffs"], game.payoffs):
        raise Wrong("the game reads back differently from .csv")
