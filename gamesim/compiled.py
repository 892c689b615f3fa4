"""Compiling: one decorator for every kernel, one cache for them all, and calls by address.

A learner is two small kernels and a game is one. Kernels of one kind share one signature, so the simulation's loop is
compiled once and calls whatever kernels a scenario names through their addresses: no compilation for each mix of
learners, no limit on how many there are.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import event
from numba.core.types.function_type import CompileResultWAP
from numba.extending import intrinsic
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

_VECTOR = types.Array(types.float64, 1, "C")
_INTEGERS = types.Array(types.int64, 1, "C")
LEARNER_KERNEL = types.void(_VECTOR, _VECTOR, _VECTOR)  # (settings, state, strategy or loss)
GAME_KERNEL = types.void(_INTEGERS, _VECTOR, _VECTOR, _VECTOR, _VECTOR)  # (integers, data, scratch, profile, losses)


def kernel(function: Function) -> Function:
    """Compile on first use, for every later process too; runs without the GIL, divides as NumPy does."""
    chosen = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())
    try:
        compiled: Function = njit(cache=True, nogil=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = chosen
    return compiled


@cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR if set, else the user's cache folder, else a temporary one.

    Never the package's own folder, which may be read-only. Numba does not notice when a kernel's callee in another
    file was edited, so the folder's name carries a hash of all our sources.
    """
    digest = hashlib.sha256()
    for package in ("gamesim", "gamesim.players", "gamesim.games"):
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).glob("*.py")):
                digest.update(path.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    for parent in _cache_parents():
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="gamesim-"))


def _cache_parents() -> list[Path]:
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "user")
    return [Path(home) / "gamesim", Path(tempfile.gettempdir()) / f"gamesim-{user}"]


def announce_compilation(say: Callable[[], None]) -> None:
    """Call `say` once, when the first kernel has to be compiled rather than loaded from the cache."""

    class Listener(event.Listener):  # type: ignore[misc]  # Numba's class carries no types
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                say()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def address(function: Callable[..., None], signature: Any) -> int:
    """Return the address of a kernel's machine code, to be called by `call_learner` or `call_game`."""
    function.compile(signature)  # type: ignore[attr-defined]  # it is Numba's dispatcher
    return int(CompileResultWAP(function.overloads[signature.args]).address)  # type: ignore[attr-defined]


def _call_by_address(signature: Any) -> Callable[..., Any]:
    """Make the instruction that calls the function at an address with arguments of these types."""

    def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
        function = ir.FunctionType(ir.VoidType(), [context.get_value_type(kind) for kind in signature.args])
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def call_learner(context: Any, address: Any, settings: Any, state: Any, vector: Any) -> Any:
    """Call a learner's kernel by its address, inside compiled code."""
    return types.void(types.int64, *LEARNER_KERNEL.args), _call_by_address(LEARNER_KERNEL)


@intrinsic  # type: ignore[untyped-decorator]
def call_game(context: Any, address: Any, integers: Any, data: Any, scratch: Any, profile: Any, losses: Any) -> Any:
    """Call a game's kernel by its address, inside compiled code."""
    return types.void(types.int64, *GAME_KERNEL.args), _call_by_address(GAME_KERNEL)
