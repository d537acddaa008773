"""Where the boxes of a picture stand and its lines go: rows from the top, and within a row an order and
places that keep lines short and boxes apart (after Sugiyama, Tagawa & Toda 1981)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Sequence

_GAP, _BETWEEN, _MARGIN = 18.0, 26.0, 12.0
_SWEEPS = 6


@dataclass
class Box:
    """A box, and the keys of those that lines come from; ``place`` says where it stands."""

    width: float
    height: float
    sources: list[str] = field(default_factory=list)
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    # A place that a line passes on its way through a row.
    is_bend: bool = False

    @property
    def centre(self) -> float:
        """Of its width."""
        return self.x + self.width / 2


@dataclass
class Layout:
    """The size of the picture, and its lines as points from the top to the bottom."""

    width: float
    height: float
    edges: list[list[tuple[float, float]]]


def place(boxes: dict[str, Box]) -> Layout:
    """Sets row, x and y of the boxes, which come behind their sources."""
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
    # What has no source stands right above its first use.
    uses: dict[str, int] = {}
    for box in boxes.values():
        for source in box.sources:
            uses[source] = min(uses.get(source, box.row), box.row)
    for key, row in uses.items():
        if not boxes[key].sources:
            boxes[key].row = max(0, row - 1)


def _find_bends(boxes: dict[str, Box]) -> tuple[list[list[Box]], list[Box]]:
    """The lines, each from box to box through the bends in between; lines from one box share them."""
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


def _align(row: list[Box], neighbours: dict[int, list[Box]]) -> None:
    """Orders a row by the middle of each box's neighbours, and moves it there as far as it can."""
    wanted = {}
    for box in row:
        near = neighbours[id(box)]
        wanted[id(box)] = sum(one.centre for one in near) / len(near) if near else box.centre
    row.sort(key=lambda box: wanted[id(box)])
    _put(row, [wanted[id(box)] for box in row])


def _put(row: Sequence[Box], centres: Iterable[float]) -> None:
    """Places a row in its order, its boxes apart, with the least squares from the wanted centres: the
    places without the widths before them only grow, so that is an isotonic regression."""
    offset = 0.0
    pools: list[tuple[float, float, int]] = []  # mean, weight, count
    offsets = []
    for box, centre in zip(row, centres):
        offsets.append(offset)
        weight = 8.0 if box.is_bend else 1.0  # lines stay straight
        mean, total, count = centre - box.width / 2 - offset, weight, 1
        while pools and pools[-1][0] > mean:
            mean_, total_, count_ = pools.pop()
            mean = (mean * total + mean_ * total_) / (total + total_)
            total, count = total + total_, count + count_
        pools.append((mean, total, count))
        offset += box.width + _GAP
    places = [mean for mean, _, count in pools for _ in range(count)]
    for box, offset, x in zip(row, offsets, places):
        box.x = x + offset


def _points(chain: list[Box]) -> list[tuple[float, float]]:
    first, *bends, last = chain
    points = [(first.centre, first.y + first.height)]
    for bend in bends:
        points += [(bend.centre, bend.y), (bend.centre, bend.y + bend.height)]
    return [*points, (last.centre, last.y)]
