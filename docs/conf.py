"""How the documentation is built: `make docs`, or `python -m sphinx -W docs docs/_build`. It needs no network."""

import re
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
html_js_files = ["maths.js"]
html_math_renderer = "mathml"
html_show_sourcelink = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
pygments_style = "friendly"
default_role = "code"  # docstrings have code in single backticks


def _mathml(display: str) -> tuple[Any, None]:
    """Return how a formula is written: as MathML, which browsers draw themselves."""

    def visit(self: Any, node: Any) -> None:
        from docutils.nodes import SkipNode

        spaced = re.sub(r"(\\(?:ln|log)) (?=\w)", r"\1\,", node.astext())  # TeX puts a thin space there, MathML none
        self.body.append(convert(spaced, display=display))
        raise SkipNode

    return visit, None


def _plain(app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    """Let Sphinx see no markup in docstrings but code in backticks: an underscore or a bar is mathematics there.

    Examples stay as they are up to the next empty line, and what is indented after an empty line is a formula.
    """
    written: list[str] = []
    example = formula = False
    for line in lines:
        opens = not written or not written[-1].strip()
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and opens and line.startswith("    ") and not formula:
            written += ["::", ""]
        formula = not example and ((formula and not line.strip()) or (line.startswith("    ") and (opens or formula)))
        pieces = re.split(r"(`[^`]*`)", line)
        escaped = (one if one.startswith("`") else re.sub(r"([*_|\\])", r"\\\1", one) for one in pieces)
        written.append(line if example or formula else "".join(escaped))
    lines[:] = written


def _named(app: Any, what: str, name: str, thing: object, options: Any, takes: str | None, gives: str | None) -> Any:
    """Call NumPy's types by the names that they are imported by, instead of by all that they stand for."""

    def short(text: str | None) -> str | None:
        if text is not None:
            text = re.sub(r"~?numpy\._typing\._array_like\._Buffer \|.*?\[complex \| bytes \| str\]", "ArrayLike", text)
            text = re.sub(r"~?numpy\.ndarray\[~?tuple\[.*?\], ~?numpy\.dtype\[(.*?)\]\]", r"NDArray[\1]", text)
        return text

    return short(takes), short(gives)


def _not_ours(app: Any, what: str, name: str, thing: object, skip: bool, options: Any) -> bool | None:
    """Leave out what pydantic gives its models."""
    return True if name.startswith("model_") else None


def setup(app: Any) -> None:
    """Write the reference from the docstrings before anything is read, and draw formulas as MathML."""
    import generate

    app.add_html_math_renderer("mathml", _mathml("inline"), _mathml("block"))
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-signature", _named)
    app.connect("autodoc-skip-member", _not_ours)
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir), pictures="nopictures" not in app.tags))
