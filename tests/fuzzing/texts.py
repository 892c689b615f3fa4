"""Mutations of text: tokens, numbers, lines, splices, and at last bytes."""

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzzing import values
from tests.fuzzing.values import some

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_][\w-]*|[-+]?\.?\d[\w.+-]*|\s+|.', re.DOTALL)
_NUMBER = re.compile(r"[-+]?\.?\d")
LARGEST = 300_000  # characters


def mutated(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> bytes:
    """Return a text after one to four mutations; `words` are those of the format, `others` texts to splice with."""
    for _ in range(1 + int(random.expovariate(1.2))):
        text = some(random, _MUTATIONS)(random, text, words, others)[:LARGEST]
    return _in_bytes(random, text)


def numeral(random: Random) -> str:
    """Return a number as text, or what looks like one."""
    return str(values.number(random)) if random.random() < 0.6 else some(random, values.NUMERALS)


def _replace_number(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    tokens = _TOKENS.findall(text)
    places = [k for k, token in enumerate(tokens) if _NUMBER.match(token)]
    if places:
        tokens[some(random, places)] = numeral(random)
    return "".join(tokens)


def _replace_token(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    tokens = _TOKENS.findall(text)
    if tokens:
        k = random.randrange(len(tokens))
        quoted = tokens[k].startswith('"') and random.random() < 0.7
        tokens[k] = f'"{values.text(random, words)}"' if quoted else values.text(random, words)
    return "".join(tokens)


def _edit_tokens(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    return "".join(_edited(random, _TOKENS.findall(text)))


def _edit_lines(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    return "".join(_edited(random, text.splitlines(keepends=True)))


def _edited(random: Random, parts: list[str]) -> list[str]:
    """Delete, repeat, or exchange a run of parts."""
    if not parts:
        return parts
    start = random.randrange(len(parts))
    end = min(len(parts), start + 1 + int(random.expovariate(0.7)))
    other = random.randrange(len(parts))
    how = random.randrange(4)
    if how == 0:
        del parts[start:end]
    elif how == 1:
        parts[other:other] = parts[start:end]
    elif how == 2:
        parts[start], parts[other] = parts[other], parts[start]
    else:
        parts[start:end] = parts[start:end] * some(random, (2, 3, 50))
    return parts


def _insert(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    at = random.randint(0, len(text))
    new = numeral(random) if random.random() < 0.3 else values.text(random, words)
    return text[:at] + new + text[at:]


def _splice(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    if not others:
        return text
    first, second = text.splitlines(keepends=True), some(random, others).splitlines(keepends=True)
    return "".join(first[: random.randint(0, len(first))] + second[random.randint(0, len(second)) :])


def _nest(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    levels = some(random, values.DEEP)
    opening, closing = some(random, (("[", "]"), ("{ a = ", " }"), ('{"a": ', "}"), ("{", "}"), ("a.", ""), ("(", ")")))
    tokens = _TOKENS.findall(text)
    if tokens:
        k = random.randrange(len(tokens))
        tokens[k] = opening * levels + tokens[k] + (closing * levels if random.random() < 0.8 else "")
    return "".join(tokens)


def _cut(random: Random, text: str, words: Sequence[str], others: Sequence[str]) -> str:
    start = random.randint(0, len(text))
    return text[:start] if random.random() < 0.5 else text[:start] + text[start + random.randint(1, 20) :]


_MUTATIONS: tuple[Callable[[Random, str, Sequence[str], Sequence[str]], str], ...] = (
    *(_replace_number,) * 4,
    *(_replace_token,) * 4,
    *(_edit_tokens,) * 3,
    *(_edit_lines,) * 3,
    _insert,
    _insert,
    _splice,
    _splice,
    _nest,
    _cut,
)


def _in_bytes(random: Random, text: str) -> bytes:
    """Encode a text, sometimes with other line ends, a byte order mark, another encoding, or flipped bits."""
    data = text.encode("utf-8", "surrogatepass")
    kind = random.random()
    if kind < 0.03:
        return data.replace(b"\n", b"\r\n")
    if kind < 0.05:
        return b"\xef\xbb\xbf" + data
    if kind < 0.06:
        return text.encode("utf-16", "surrogatepass")
    return flipped(random, data) if kind < 0.12 else data


def flipped(random: Random, data: bytes) -> bytes:
    """Return bytes with a few bits flipped, or a few bytes replaced, inserted or deleted."""
    result = bytearray(data)
    for _ in range(1 + int(random.expovariate(0.7))):
        if not result:
            break
        k = random.randrange(len(result))
        how = random.randrange(4)
        if how == 0:
            result[k] ^= 1 << random.randrange(8)
        elif how == 1:
            result[k] = random.randrange(256)
        elif how == 2:
            result[k:k] = random.randbytes(random.randint(1, 4))
        else:
            del result[k : k + random.randint(1, 8)]
    return bytes(result)
