"""A picture of a network: its calls in layers, from inputs at the top to outputs at the bottom."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from pdl import _pdl

# More calls than that are drawn a box for each layer of the text, and more boxes than that not at all.
_MOST_CALLS = 80
_MOST_BOXES = 400

_CHARACTER = 6.7
_ROW, _GAP, _MARGIN = 64, 18, 12
_FILLS = {"input": "#d9ead3", "parameter": "#fce8b2", "call": "#dde7f7", "output": "#f4d3d3"}


@dataclass
class Box:
    """A node of the picture."""

    kind: str
    title: str
    subtitle: str
    sources: list[str] = field(default_factory=list)
    row: int = 0
    x: float = 0.0

    @property
    def width(self) -> float:
        """In pixels, by the longer of its two lines."""
        return max(len(self.title), len(self.subtitle)) * _CHARACTER + 16


def _boxes(program: _pdl.Program) -> dict[str, Box]:
    """The boxes by key, in an order in which sources come first."""
    boxes: dict[str, Box] = {}
    holder: dict[str, str] = {}  # the box that has a value
    for name, type, _ in program.inputs:
        boxes[f"in {name}"] = Box("input", name, type)
        holder[name] = f"in {name}"
    for name, type, _ in [*program.parameters, *program.states]:
        boxes[f"par {name}"] = Box("parameter", name, type)
        holder[name] = f"par {name}"
    calls = program.calls
    for i, (operator, operands, results, path) in enumerate(calls):
        layer = path.split(".")[0] if path and len(calls) > _MOST_CALLS else ""
        key = f"layer {layer}" if layer else f"call {i}"
        title, subtitle = (
            (layer, "layer") if layer else (operator, results[0][1] if results else "")
        )
        box = boxes.setdefault(key, Box("call", title, subtitle))
        box.sources += [holder[one] for one in operands if holder.get(one, key) != key]
        for name, _ in results:
            holder[name] = key
    for name, type, _, value in program.outputs:
        boxes[f"out {name}"] = Box("output", name, type, [holder[value]] if value in holder else [])
    used = {source for box in boxes.values() for source in box.sources}
    return {key: box for key, box in boxes.items() if box.kind != "parameter" or key in used}


def _place(boxes: dict[str, Box]) -> tuple[float, float]:
    """Gives each box its row and its x; the size of the whole."""
    for _ in boxes:
        moved = False
        for box in boxes.values():
            below = max(
                (boxes[source].row + 1 for source in box.sources if source in boxes), default=0
            )
            if box.row < below < len(boxes):
                box.row, moved = below, True
        if not moved:
            break
    # What has no source stands right above its first use.
    for key, box in boxes.items():
        uses = [other.row for other in boxes.values() if key in other.sources]
        if not box.sources and uses:
            box.row = max(0, min(uses) - 1)
    rows: dict[int, list[Box]] = {}
    for box in boxes.values():
        rows.setdefault(box.row, []).append(box)
    widest = max((sum(one.width + _GAP for one in row) for row in rows.values()), default=0.0)
    for number in sorted(rows):
        row = rows[number]
        centre = {id(one): _middle([boxes[s] for s in one.sources if s in boxes]) for one in row}
        row.sort(key=lambda one: centre[id(one)])
        x = (widest - sum(one.width + _GAP for one in row)) / 2
        for one in row:
            one.x = x + _MARGIN
            x += one.width + _GAP
    return widest + 2 * _MARGIN, (max(rows, default=0) + 1) * _ROW + 2 * _MARGIN


def _middle(sources: list[Box]) -> float:
    return sum(one.x + one.width / 2 for one in sources) / len(sources) if sources else 0.0


def network_svg(program: _pdl.Program) -> str:
    """The picture, or a line where the network is too large for one."""
    boxes = _boxes(program)
    if len(boxes) > _MOST_BOXES:
        return f"<p>{len(program.calls)} calls are too many for a picture; see text()</p>"
    width, height = _place(boxes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        'font-family="sans-serif" font-size="12">'
    ]
    for box in boxes.values():
        for source in dict.fromkeys(box.sources):
            if source in boxes:
                parts.append(_edge(boxes[source], box))
    parts += [_draw(box) for box in boxes.values()]
    return "\n".join([*parts, "</svg>"])


def _top(box: Box) -> float:
    return box.row * _ROW + _MARGIN


def _edge(source: Box, target: Box) -> str:
    x0, y0 = source.x + source.width / 2, _top(source) + 38
    x1, y1 = target.x + target.width / 2, _top(target)
    bend = (y0 + y1) / 2
    return (
        f'<path d="M{x0:.1f} {y0:.1f} C{x0:.1f} {bend:.1f} {x1:.1f} {bend:.1f} {x1:.1f} {y1:.1f}" '
        'fill="none" stroke="#888"/>'
    )


def _draw(box: Box) -> str:
    x, y, middle = box.x, _top(box), box.x + box.width / 2
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="38" rx="5" '
        f'fill="{_FILLS[box.kind]}" stroke="#888"/>'
        f'<text x="{middle:.1f}" y="{y + 16:.1f}" text-anchor="middle">{escape(box.title)}</text>'
        f'<text x="{middle:.1f}" y="{y + 31:.1f}" text-anchor="middle" fill="#666" font-size="10">'
        f"{escape(box.subtitle)}</text>"
    )
