"""The diagram of a network: its calls in rows, from inputs at the top to outputs at the bottom, each with the
parameters that no other call uses. In a large network, each box is a layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from pdl import _pdl
from pdl._svg_layout import Box, place

# Networks with more calls show one box for each layer, at the deepest level of nesting that fits; networks with more
# boxes have no diagram.
_MOST_CALLS = 60
_MOST_BOXES = 400
# Boxes with more parameters only show their number.
_MOST_DETAILS = 3

_CHARACTER, _SMALL = 7.2, 6.1
_FILLS = {"input": "#d9ead3", "parameter": "#fce8b2", "call": "#dde7f7", "output": "#f4d3d3"}


@dataclass
class Node:
    """The contents of a box."""

    kind: str
    title: str
    subtitle: str
    sources: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)

    def box(self) -> Box:
        """A box that is large enough for the labels."""
        small = [self.subtitle, *self.details]
        width = max(len(self.title) * _CHARACTER, *(len(one) * _SMALL for one in small)) + 18
        return Box(width, 38 + 14 * len(self.details), list(dict.fromkeys(self.sources)))


Call = tuple[str, list[str], list[tuple[str, str]], str]


def _prefix(call: Call, depth: int) -> str:
    return ".".join(call[3].split(".")[:depth])


def _groups(calls: list[Call]) -> list[tuple[str, list[Call]]]:
    """The calls of each box, with the layer's name if it is one. They are consecutive, so edges between boxes have
    no cycles."""
    single: list[tuple[str, list[Call]]] = [("", [call]) for call in calls]
    if len(calls) <= _MOST_CALLS:
        return single
    deepest = max(call[3].count(".") + 1 for call in calls)
    groups = single
    for depth in range(deepest, 0, -1):
        groups = []
        for prefix, several in groupby(calls, lambda call: _prefix(call, depth)):
            listed = list(several)
            groups += [(prefix, listed)] if prefix else [("", [one]) for one in listed]
        if len(groups) <= _MOST_CALLS:
            break
    return groups


def _nodes(program: _pdl.Program) -> dict[str, Node]:
    """The nodes by key, in topological order."""
    # Scalar literals, such as the 2 of `x * 2`, are not shown.
    calls = [one for one in program.calls if one[1] or not _is_number(one)]
    nodes: dict[str, Node] = {}
    holder: dict[str, str] = {}  # from values to the nodes that compute them
    for name, type, _ in program.inputs:
        nodes[f"in {name}"] = Node("input", name, type)
        holder[name] = f"in {name}"
    parameters = {name: type for name, type, _ in [*program.parameters, *program.states]}
    users: dict[str, set[int]] = {}
    groups = _groups(calls)
    for i, (_, group) in enumerate(groups):
        for operand in {operand for call in group for operand in call[1]}:
            users.setdefault(operand, set()).add(i)
    outputs = {value for _, _, _, value in program.outputs}
    for name, type in parameters.items():
        if len(users.get(name, ())) > 1 or name in outputs:
            nodes[f"par {name}"] = Node("parameter", name, type)
            holder[name] = f"par {name}"
    for i, (layer, group) in enumerate(groups):
        key = f"call {i}"
        result = group[-1][2][0][1] if group[-1][2] else ""
        node = nodes[key] = Node("call", layer or group[0][0], result)
        operands = dict.fromkeys(operand for call in group for operand in call[1])
        node.sources = [holder[one] for one in operands if one in holder]
        own = [one for one in operands if one in parameters and one not in holder]
        if len(own) > _MOST_DETAILS:
            node.details = [f"{len(own)} parameters"]
        else:
            node.details = [f"{_short(one, layer)}: {parameters[one]}" for one in own]
        for call in group:
            holder.update((name, key) for name, _ in call[2])
    for name, type, _, value in program.outputs:
        sources = [holder[value]] if value in holder else []
        nodes[f"out {name}"] = Node("output", name, type, sources)
    return nodes


def _is_number(call: Call) -> bool:
    return len(call[2]) == 1 and call[2][0][1].endswith("[]")


def _short(name: str, layer: str) -> str:
    """A parameter's name without the name of its layer."""
    return name.removeprefix(f"{layer}.") if layer else name


def network_svg(program: _pdl.Program) -> str:
    """The diagram, or a message if the network is too large for one."""
    nodes = _nodes(program)
    if len(nodes) > _MOST_BOXES:
        return f"<p>{len(program.calls)} calls are too many for a diagram; see `text()`</p>"
    boxes = {key: node.box() for key, node in nodes.items()}
    layout = place(boxes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:.0f}" '
        f'height="{layout.height:.0f}" font-family="sans-serif" font-size="12">',
        f'<rect width="{layout.width:.0f}" height="{layout.height:.0f}" fill="#ffffff"/>',
    ]
    for points in layout.edges:
        parts.append(_edge(points))
    parts += [_draw(nodes[key], box) for key, box in boxes.items()]
    return "\n".join([*parts, "</svg>"])


def _edge(points: list[tuple[float, float]]) -> str:
    """A curve through the points, vertical at each of them."""
    (x, y), *rest = points
    path = f"M{x:.1f} {y:.1f}"
    for x1, y1 in rest:
        middle = (y + y1) / 2
        path += f" C{x:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
        x, y = x1, y1
    return f'<path d="{path}" fill="none" stroke="#888"/>'


def _draw(node: Node, box: Box) -> str:
    x, y, middle = box.x, box.y, box.x + box.width / 2
    lines = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.0f}" rx="5" '
        f'fill="{_FILLS[node.kind]}" stroke="#888"/>'
    ]
    if node.details:
        lines.append(
            f'<rect x="{x + 4:.1f}" y="{y + 36:.1f}" width="{box.width - 8:.1f}" '
            f'height="{14 * len(node.details) - 2}" rx="3" fill="{_FILLS["parameter"]}"/>'
        )
    lines.append(
        f'<text x="{middle:.1f}" y="{y + 16:.1f}" text-anchor="middle">{escape(node.title)}</text>'
    )
    for i, text in enumerate([node.subtitle, *node.details]):
        below = y + 30 + (16 + 14 * (i - 1) if i else 0)
        lines.append(
            f'<text x="{middle:.1f}" y="{below:.1f}" text-anchor="middle" fill="#555" '
            f'font-size="10">{escape(text)}</text>'
        )
    return "".join(lines)
