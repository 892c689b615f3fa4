"""SQLite's write-ahead log, which a killed sweep leaves beside its store: detect transactions lost to damage.

The log holds the latest transactions as frames, each a page of the file with a checksum of everything before it. SQLite
ignores all frames from the first wrong checksum on, without an error: finished points would be to do again.
Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

import struct
from pathlib import Path
from time import sleep

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

MAGIC, VERSION = 0x377F0682, 3007000
HEADER, FRAME_HEADER = 32, 24  # bytes
ATTEMPTS, PAUSE = 3, 0.05  # a sweep in progress may be writing what is read; seconds


def lost_frames(store: Path) -> int:
    """Return the number of frames in the log of a store that SQLite ignores although they were committed."""
    log = store.with_name(f"{store.name}-wal")
    for _ in range(ATTEMPTS):
        try:
            lost = _lost(log.read_bytes())
        except FileNotFoundError:
            lost = 0
        if not lost:
            break
        sleep(PAUSE)
    return lost


def _lost(data: bytes) -> int:
    if len(data) <= HEADER:
        return 0
    magic, version, page, _, *salts, first, second = struct.unpack(">8I", data[:HEADER])
    order = ">u4" if magic & 1 else "<u4"
    start = _combined(np.frombuffer(data[:24], order).reshape(1, -1).astype(np.uint32), (0, 0))
    if magic & ~1 != MAGIC or version != VERSION or start != [(first, second)]:
        return max(1, (len(data) - HEADER) // (FRAME_HEADER + 4096))  # the page size is unknown; 4096 is the default
    count = (len(data) - HEADER) // (FRAME_HEADER + page)
    frames = np.frombuffer(data, np.uint8, count * (FRAME_HEADER + page), HEADER).reshape(count, -1)
    headers = np.ascontiguousarray(frames[:, :FRAME_HEADER]).view(">u4")
    current = (headers[:, 2:4] == salts).all(axis=1)  # other frames are older than the last checkpoint
    commits = np.flatnonzero(current & (headers[:, 1] > 0))
    committed = int(commits[-1]) + 1 if len(commits) else 0
    summed = np.concatenate([frames[:committed, :8], frames[:committed, FRAME_HEADER:]], axis=1)
    found = _combined(summed.view(order).astype(np.uint32, copy=False), (first, second))
    right = current[:committed] & (headers[:committed, 4:] == np.array(found).reshape(-1, 2)).all(axis=1)
    return 0 if right.all() else committed - int(np.argmin(right))


def _combined(blocks: Words, start: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the running checksum after each block of words.

    With words x, y, ..., the checksum (s, t) becomes s += x + t, t += y + s, and so on, modulo 2^32: a Fibonacci
    sequence that starts with s and t, to which the words are added. Each word thus counts a Fibonacci number of times.
    """
    words = blocks.shape[1]
    fibonacci = [0, 1]
    while len(fibonacci) < words + 2:
        fibonacci.append((fibonacci[-1] + fibonacci[-2]) % 2**32)
    weights = np.array(fibonacci[words::-1], dtype=np.uint32)
    sums = zip(*((blocks @ part).tolist() for part in (weights[1:], weights[:-1])), strict=True)
    before, last, after = fibonacci[words - 1 :]
    s, t = start
    found = []
    for more_s, more_t in sums:
        s, t = (before * s + last * t + more_s) % 2**32, (last * s + after * t + more_t) % 2**32
        found.append((s, t))
    return found
