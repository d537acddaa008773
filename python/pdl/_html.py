"""The representation of networks in notebooks: a diagram of the calls, and the source with syntax highlighting."""

from __future__ import annotations

import re
from html import escape

from pdl._pdl import Program
from pdl._svg import network_svg

_WORDS = (
    "if else for in return layer import minimize assert expect with and or not true false none sparse "
    "input output param attr state update load test feed where as into over every tol"
)
_DTYPES = "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool"
# In the order in which they are tried.
_TOKENS = [
    ("comment", r"\#[^\n]*", "#6a737d"),
    ("string", r'"(?:\\.|[^"\\\n])*"', "#22863a"),
    ("number", r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?", "#005cc5"),
    ("dtype", r"\b(?:" + "|".join(_DTYPES.split()) + r")\b", "#6f42c1"),
    ("word", r"\b(?:" + "|".join(_WORDS.split()) + r")\b(?!\s*=[^=]|\.)", "#d73a49"),
    ("call", r"\b[A-Za-z_]\w*(?=\()", "#e36209"),
]
_PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern, _ in _TOKENS))
_COLORS = {name: colour for name, _, colour in _TOKENS}


def highlight(text: str) -> str:
    """Source of the language as HTML with syntax highlighting."""

    def paint(match: re.Match[str]) -> str:
        return f'<span style="color:{_COLORS[match.lastgroup or "string"]}">{escape(match.group())}</span>'

    parts, end = [], 0
    for match in _PATTERN.finditer(text):
        parts += [escape(text[end : match.start()]), paint(match)]
        end = match.end()
    return "<pre>" + "".join([*parts, escape(text[end:])]) + "</pre>"


def network_html(program: Program, source: str) -> str:
    """The diagram above the source."""
    picture = f'<div style="overflow:auto;max-height:40em">{network_svg(program)}</div>'
    return f"{picture}\n<details><summary>source</summary>{highlight(source)}</details>"
