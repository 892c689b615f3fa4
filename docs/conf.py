"""Sphinx configuration: `make docs` builds the site in docs/_build, without network access."""

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
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
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
autodoc_typehints = "none"  # the types are in the docstrings
autodoc_member_order = "bysource"
pygments_style = "friendly"
default_role = "py:obj"  # names in single backticks link to their definition
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = True  # links the type


def _mathml(display: str) -> tuple[Any, None]:
    """Return a visitor that writes a formula as MathML, which browsers render themselves."""

    def visit(self: Any, node: Any) -> None:
        from docutils.nodes import SkipNode

        spaced = re.sub(
            r"(\\(?:ln|log)) (?=\w)", r"\1\,", node.astext()
        )  # TeX adds a thin space there, MathML does not
        self.body.append(convert(spaced, display=display))
        raise SkipNode

    return visit, None


def _by_short_name(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Link names in backticks such as `Record` or `Record.gap` to their only definition, wherever it is."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target or node.get("refspecific"):
        return None
    domain = env.get_domain("py")
    ends = f".{target}"
    found = {name: one for name, one in domain.objects.items() if name.endswith(ends) and not one.aliased}
    if "." not in target:  # a plain word may be the name of a parameter or attribute
        found = {name: one for name, one in found.items() if one.objtype in ("class", "function", "exception")}
    if len(found) != 1:
        return None
    node["reftarget"] = next(iter(found))
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", node["reftarget"], node, content)


def _not_ours(app: Any, what: str, name: str, thing: object, skip: bool, options: Any) -> bool | None:
    """Skip the members that pydantic adds to its models."""
    return True if name.startswith("model_") else None


def _check(app: Any, exception: Exception | None) -> None:
    """Fail if a page loads something from another host, or formulas are not MathML: the site works offline."""
    if exception is not None:
        return
    texts = {page: page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html")}
    for page, text in texts.items():
        if loaded := re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//[^"]*', text):
            raise ValueError(f"{page} loads {loaded[0]}")
    if not any("<math" in text for text in texts.values()):
        raise ValueError("there is no formula in MathML")


def setup(app: Any) -> None:
    """Generate the reference pages before Sphinx reads them, and render formulas as MathML."""
    import generate

    app.add_html_math_renderer("mathml", _mathml("inline"), _mathml("block"))
    app.connect("missing-reference", _by_short_name)
    app.connect("autodoc-skip-member", _not_ours)
    app.connect("build-finished", _check)
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir), pictures=True))
