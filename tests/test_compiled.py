"""Test that kernels are compiled once, announced, and loaded from the cache afterwards."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


# Numba is imported once: each run of the script is a fork of a process that has compiled nothing.
FORKS = """
import os, runpy, sys
import gamesim.engine.compiled

for text in sys.argv[2:]:
    with open(sys.argv[1], "w") as file:
        file.write(text)
    if not os.fork():
        runpy.run_path(sys.argv[1])
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_kernels_are_compiled_once_and_announced(tmp_path: Path) -> None:
    first, edited = (MODULE.format(factor=factor) for factor in (2, 3))
    command = [sys.executable, "-c", FORKS, str(tmp_path / "mine.py"), first, first, edited]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "compiling\n[2.0, 2.0]\n[2.0, 2.0]\ncompiling\n[3.0, 3.0]\n"
