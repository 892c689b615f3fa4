"""Take the screenshot of the lab for the documentation: python -m tests.lab_picture docs/images/lab.png."""

import json
import sys
from pathlib import Path
from urllib.parse import quote

from tests.chromium import Page
from tests.lab_server import running_lab

STATE = {
    "scenario": {
        "title": "Chicken: hedge against wavelet",
        "rounds": 10_000,
        "seed": 3,
        "game": {"name": "chicken"},
        "players": [{"learner": "hedge", "perturb": 0.5}, {"learner": "wavelet", "perturb": 0.5}],
    },
    "speed": 61,
    "views": ["strategies", "tetrahedron", "regrets", "payoffs"],
}


def draw(path: Path) -> None:
    page = Page()
    try:
        with running_lab() as lab:
            page.resize(1400, 1270)
            page.open(f"{lab.origin}/#{quote(json.dumps(STATE))}")
            page.until("document.querySelector('#rounds').textContent !== '–'", 120)
            page.run("document.querySelector('#play').click()")
            page.until("document.querySelector('#play-word').textContent === 'Again'", 60)
            page.until("document.querySelector('#cce-0').textContent !== '–'")
            page.run("new Promise((done) => setTimeout(done, 1000))")
            path.parent.mkdir(parents=True, exist_ok=True)
            page.picture(path)
            page.open("about:blank")
    finally:
        page.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
