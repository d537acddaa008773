"""The representation of networks in notebooks: the page of ``pdl view`` in a frame."""

from __future__ import annotations

from html import escape

_HEIGHT = "36em"


def frame(page: str) -> str:
    """A frame that shows a page: its scripts have no access to the notebook."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" loading="lazy" '
        f'style="width:100%;height:{_HEIGHT};border:1px solid #8888"></iframe>'
    )
