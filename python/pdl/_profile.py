"""Profiles of runs."""

from __future__ import annotations

from typing import NamedTuple


class ProfileStep(NamedTuple):
    """A step of a run: a call, or several fused calls.

    ``name`` is the value that it computes, and ``place`` the source location of its first call, or empty.
    ``seconds`` is the average time in a run, and ``share`` its fraction of the run's time, from 0 to 1.
    ``operations`` are its arithmetic operations in a run (a multiply-add counts as 2), ``bytes`` what it reads and
    writes, and ``layer`` the path of layers that it was expanded from, or empty."""

    operators: tuple[str, ...]
    name: str
    type: str
    place: str
    seconds: float
    share: float
    layer: str
    operations: float
    bytes: float


class Profile(tuple[ProfileStep, ...]):
    """The steps of a run, sorted by decreasing time. ``str`` gives a table.

    ``runs`` is the number of runs, ``seconds`` the average time of a run, and ``between`` the part of it outside of
    all steps."""

    runs: int
    seconds: float
    between: float
    _table: str

    def __repr__(self) -> str:
        return self._table


def profile_of(
    steps: list[tuple[str, str, str, str, float, float, float]], seconds: float, table: str, runs: int
) -> Profile:
    """Makes a Profile from the measurements of the extension module, where seconds are totals over all runs."""
    rows = []
    for calls, result, place, layer, taken, operations, size in sorted(
        steps, key=lambda step: step[4], reverse=True
    ):
        name, _, type = result.partition(": ")
        share = taken / seconds if seconds > 0 else 0.0
        rows.append(
            ProfileStep(
                tuple(calls.split(", ")),
                name,
                type,
                place,
                taken / runs,
                share,
                layer,
                operations / runs,
                size / runs,
            )
        )
    profile = Profile(rows)
    profile.runs = runs
    profile.seconds = seconds / runs
    profile.between = max(0.0, seconds - sum(step[4] for step in steps)) / runs
    profile._table = table.rstrip("\n")
    return profile
