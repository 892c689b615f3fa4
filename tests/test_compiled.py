"""Test that kernels are compiled once, announced, and loaded from the cache afterwards."""

import os
import subprocess
import sys
from pathlib import Path

MODULE = """
import numpy as np
from gamesim.engine.compiled import announce_compilation, kernel

@kernel
def double(vector):
    for i in range(vector.size):
        vector[i] *= {factor}

announce_compilation(lambda: print("compiling"))
vector = np.ones(2)
double(vector)
print(vector.tolist())
"""


def run(script: Path, cache: Path) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_kernels_are_compiled_once_and_announced(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(MODULE.format(factor=2))
    assert run(script, tmp_path / "cache") == "compiling\n[2.0, 2.0]\n"
    assert run(script, tmp_path / "cache") == "[2.0, 2.0]\n"
    script.write_text(MODULE.format(factor=3))
    assert run(script, tmp_path / "cache") == "compiling\n[3.0, 3.0]\n", "an edited kernel is compiled again"
