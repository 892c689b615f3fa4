"""How the documentation is built: `make docs`, or `python -m sphinx -W docs docs/_build`. It needs no network."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

sys.path.insert(0, str(Path(__file__).parent))

project = "gamesim"
author = copyright = "the gamesim authors"
version = release = version_of("gamesim")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "gamesim"
html_static_path = ["_static"]
html_css_files = ["gamesim.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
pygments_style = "friendly"
default_role = "code"  # docstrings have code in single backticks


def _mathml(display: str) -> tuple[Any, None]:
    """Return how a formula is written: as MathML, which browsers draw themselves, without a script."""

    def visit(self: Any, node: Any) -> None:
        from docutils.nodes import SkipNode

        self.body.append(convert(node.astext(), display=display))
        raise SkipNode

    return visit, None


def _without_missing(app: Any, name: str, source: list[str]) -> None:
    """Leave the page on the theorem out of the contents where it has not been generated yet."""
    if name == "index" and not Path(app.srcdir, "theorem.md").exists():
        source[0] = source[0].replace("\ntheorem\n", "\n")


def setup(app: Any) -> None:
    """Write the reference from the docstrings before anything is read, and draw formulas as MathML."""
    import generate

    app.add_html_math_renderer("mathml", _mathml("inline"), _mathml("block"))
    app.connect("source-read", _without_missing)
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir), pictures="nopictures" not in app.tags))
