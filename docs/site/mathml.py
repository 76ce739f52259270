"""Renders mathematics as MathML, which browsers show without scripts or fonts from elsewhere."""

from __future__ import annotations

from docutils import nodes
from latex2mathml import converter


def convert(latex: str, display: str = "inline") -> str:
    """The lines of `aligned` are those of `split`, which the converter knows."""
    return converter.convert(latex.replace("{aligned}", "{split}"), display=display)


def inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator, node):
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
