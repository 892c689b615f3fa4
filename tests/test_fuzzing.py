"""The fuzzer: a short campaign and the corpus show no fault, inputs can be repeated, the oracle sees all faults."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.fuzzing.inputs import made
from tests.fuzzing.kinds import KINDS
from tests.fuzzing.oracle import FAULTS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "fuzzing" / "corpus"


def python(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run Python in another process: audit hooks and limits cannot be undone."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


BOTH = """
import sys
from tests.fuzzing.__main__ import main

code = main(["--count", "250", "--seed", "1", "--failures", sys.argv[1]])
sys.exit(code or main(["--replay", sys.argv[2]]))
"""


def test_a_short_campaign_finds_nothing_and_what_once_failed_does_not_fail_again(tmp_path: Path) -> None:
    """In one process: to load all kernels takes longer than to judge all inputs."""
    done = python("-c", BOTH, str(tmp_path), str(CORPUS))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    counted, replayed = lines[: len(KINDS) + 2], lines[len(KINDS) + 2 :]
    assert [line.split()[0] for line in counted] == ["kind", *KINDS, "total"]
    assert not any(tmp_path.iterdir())
    assert sum(": refused: " in line or ": accepted: " in line for line in replayed) == len(list(CORPUS.iterdir()))


def digests() -> dict[str, str]:
    """Return a hash of some inputs of each kind."""
    inputs = {kind: repr([made(5, number, [kind]) for number in range(20)]) for kind in KINDS}
    return {kind: hashlib.sha256(text.encode()).hexdigest() for kind, text in inputs.items()}


def test_inputs_are_the_same_in_every_process() -> None:
    there = python("-c", "from tests.test_fuzzing import digests; print(digests())", PYTHONHASHSEED="1").stdout
    assert there.strip() == str(digests())
    assert all(made(5, 0, [kind]) != made(6, 0, [kind]) for kind in KINDS)


OFFENCES = """
import json, os, pickle, socket, subprocess, sys, tempfile, warnings
from pathlib import Path
import numpy as np
from gamesim.errors import InputError
from tests.fuzzing import oracle
from tests.fuzzing.arrays import Payload

folder = Path(tempfile.mkdtemp()).resolve()
(folder / "evil.py").write_text("evil = 1")
code = compile("evil = 1", str(folder / "evil.py"), "exec")
oracle.SECONDS = 0.5
judge = oracle.Oracle(folder)
judge.limit_memory()

def fail(message):
    raise InputError(message)

def forever():
    while True:
        pass

offences = {
    "accepted": lambda: Path(__file__ if "__file__" in globals() else os.devnull).exists(),
    "refused": lambda: fail("a clear message"),
    "traceback": lambda: {}["key"],
    "exits": lambda: sys.exit(2),
    "slow": forever,
    "memory": lambda: np.ones(2**28),
    "warning": lambda: np.float64(1e308) * np.float64(10),
    "output": lambda: print("leak"),
    "empty message": lambda: fail(" "),
    "writes": lambda: (folder / "new").write_text("x"),
    "makes a folder": lambda: (folder / "new").mkdir(),
    "removes": lambda: (folder / "evil.py").unlink(),
    "connects": lambda: socket.create_connection(("127.0.0.1", 9)),
    "starts a process": lambda: subprocess.run(["true"]),
    "unpickles": lambda: pickle.loads(pickle.dumps(Payload())),
    "runs code": lambda: exec(code),
    "wrong": lambda: (_ for _ in ()).throw(oracle.Wrong("other payoffs")),
}
print(json.dumps({name: judge.judge(use).kind for name, use in offences.items()}))
print(json.dumps([judge.judge(lambda: Path(path).read_bytes(), readable=(str(folder),)).kind
                  for path in (folder / "evil.py", sys.executable)]))
"""


def test_the_oracle_sees_every_fault() -> None:
    done = python("-c", OFFENCES)
    assert done.returncode == 0, done.stderr
    found, read = map(json.loads, done.stdout.splitlines())
    same = {name: name for name in ("accepted", "refused", "traceback", "slow", "memory", "warning", "output", "wrong")}
    others = {"exits": "traceback", "empty message": "message"}
    forbidden = ("writes", "makes a folder", "removes", "connects", "starts a process", "unpickles", "runs code")
    assert found == same | others | dict.fromkeys(forbidden, "forbidden")
    assert read == ["accepted", "forbidden"]
    assert set(found.values()) == {"accepted", "refused", *FAULTS} - {"crash"}


CRASH = """
import ctypes, sys
from pathlib import Path
from tests.fuzzing import campaign, judge, kinds

def use(given, folder):
    if given["number"] == b"3":
        ctypes.string_at(0)

campaign.load_kernels = judge.load_kernels = lambda: None
kinds.KINDS.clear()
kinds.KINDS["scenario"] = kinds.Kind(lambda random: {"number": b"%d" % random.randrange(5)}, use, 1)
print(campaign.campaign(20, 0, [], Path(sys.argv[1])).table())
"""


def test_a_crash_is_counted_and_the_campaign_continues(tmp_path: Path) -> None:
    done = python("-c", CRASH, str(tmp_path))
    assert done.returncode == 0, done.stderr
    numbers = [made_number(n) for n in range(20)]
    heads, row, _ = (line.replace(" each", "").split() for line in done.stdout.splitlines()[-3:])
    counted = dict(zip(heads, row, strict=True))
    assert (counted["inputs"], counted["accepted"]) == ("20", str(20 - numbers.count(3)))
    assert counted["crash"] == str(numbers.count(3))
    assert [path.read_text() for path in tmp_path.glob("*/number")] == ["3"]


def made_number(number: int) -> int:
    """Return what `CRASH` makes of input `number`: its kind takes one draw, and its only file the next."""
    random = Random(f"0 {number}")
    random.choices(["scenario"], [1])
    return random.randrange(5)
