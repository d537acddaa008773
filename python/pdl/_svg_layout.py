"""Layered layout of a diagram: assigns rows to boxes, and within a row an order and positions that keep edges short
and boxes apart (Sugiyama, Tagawa & Toda 1981)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Sequence

_GAP, _BETWEEN, _MARGIN = 18.0, 26.0, 12.0
_SWEEPS = 6


@dataclass
class Box:
    """A box, and the keys of the boxes with edges to it. ``place`` sets its position."""

    width: float
    height: float
    sources: list[str] = field(default_factory=list)
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    # A point where an edge crosses a row.
    is_bend: bool = False

    @property
    def center(self) -> float:
        """The x coordinate of its center."""
        return self.x + self.width / 2


@dataclass
class Layout:
    """The size of the diagram, and its edges as points from top to bottom."""

    width: float
    height: float
    edges: list[list[tuple[float, float]]]


def place(boxes: dict[str, Box]) -> Layout:
    """Sets row, x and y of the boxes, which must be in topological order."""
    _find_rows(boxes)
    chains, bends = _find_bends(boxes)
    everything = [*boxes.values(), *bends]
    rows: list[list[Box]] = [[] for _ in range(max((b.row for b in everything), default=-1) + 1)]
    for box in everything:
        rows[box.row].append(box)
    above: dict[int, list[Box]] = {id(box): [] for box in everything}
    below: dict[int, list[Box]] = {id(box): [] for box in everything}
    for chain in chains:
        for one, next_ in zip(chain, chain[1:]):
            above[id(next_)].append(one)
            below[id(one)].append(next_)
    for row in rows:
        _put(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 1
        for row in rows if down else reversed(rows):
            _align(row, above if down else below)
    left = min((box.x for box in everything), default=0.0) - _MARGIN
    y = _MARGIN
    for row in rows:
        for box in row:
            box.x -= left
            box.y = y
        height = max(box.height for box in row)
        for box in row:
            if box.is_bend:
                box.height = height
        y += height + _BETWEEN
    edges = [_points(chain) for chain in chains]
    width = max((box.x + box.width for box in everything), default=0.0) + _MARGIN
    return Layout(width, y - _BETWEEN + _MARGIN, edges)


def _find_rows(boxes: dict[str, Box]) -> None:
    for box in boxes.values():
        box.row = max((boxes[source].row + 1 for source in box.sources), default=0)
    # A box without sources is placed right above its first use.
    uses: dict[str, int] = {}
    for box in boxes.values():
        for source in box.sources:
            uses[source] = min(uses.get(source, box.row), box.row)
    for key, row in uses.items():
        if not boxes[key].sources:
            boxes[key].row = max(0, row - 1)


def _find_bends(boxes: dict[str, Box]) -> tuple[list[list[Box]], list[Box]]:
    """The edges, each from box to box through the bends in between, and all bends. Edges from one box share bends."""
    bends: dict[tuple[str, int], Box] = {}
    chains = []
    for target in boxes.values():
        for key in target.sources:
            chain = [boxes[key]]
            for row in range(boxes[key].row + 1, target.row):
                bend = bends.setdefault((key, row), Box(6.0, 0.0, row=row, is_bend=True))
                chain.append(bend)
            chains.append([*chain, target])
    return chains, list(bends.values())


def _align(row: list[Box], neighbors: dict[int, list[Box]]) -> None:
    """Sorts a row by the mean center of each box's neighbors, and moves the boxes as close to it as possible."""
    target = {}
    for box in row:
        near = neighbors[id(box)]
        target[id(box)] = sum(one.center for one in near) / len(near) if near else box.center
    row.sort(key=lambda box: target[id(box)])
    _put(row, [target[id(box)] for box in row])


def _put(row: Sequence[Box], centers: Iterable[float]) -> None:
    """Positions the boxes of a row, in order and without overlap, with the least squared distances from ``centers``.
    Positions minus the widths of the preceding boxes do not decrease, so this is an isotonic regression."""
    offset = 0.0
    pools: list[tuple[float, float, int]] = []  # mean, weight, count
    offsets = []
    for box, center in zip(row, centers):
        offsets.append(offset)
        weight = 8.0 if box.is_bend else 1.0  # keeps edges straight
        mean, total, count = center - box.width / 2 - offset, weight, 1
        while pools and pools[-1][0] > mean:
            mean_, total_, count_ = pools.pop()
            mean = (mean * total + mean_ * total_) / (total + total_)
            total, count = total + total_, count + count_
        pools.append((mean, total, count))
        offset += box.width + _GAP
    means = [mean for mean, _, count in pools for _ in range(count)]
    for box, offset, x in zip(row, offsets, means):
        box.x = x + offset


def _points(chain: list[Box]) -> list[tuple[float, float]]:
    first, *bends, last = chain
    points = [(first.center, first.y + first.height)]
    for bend in bends:
        points += [(bend.center, bend.y), (bend.center, bend.y + bend.height)]
    return [*points, (last.center, last.y)]
