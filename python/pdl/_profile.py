"""Where the time of runs goes."""

from __future__ import annotations

from typing import NamedTuple


class ProfileStep(NamedTuple):
    """A step of a run: a call, or several that run as one. It gives the value ``name``, and ``place`` is
    where its first call is written, or empty. ``seconds`` are those of one run, on average, and
    ``share`` what that is of a whole run, from 0 to 1."""

    operators: tuple[str, ...]
    name: str
    type: str
    place: str
    seconds: float
    share: float


class Profile(tuple[ProfileStep, ...]):
    """The steps of a run, the longest first; printed it is a table of them. ``runs`` is how many there
    were, ``seconds`` what one took on average, and ``between`` what of that no step took."""

    runs: int
    seconds: float
    between: float
    _table: str

    def __repr__(self) -> str:
        return self._table


def profile_of(
    steps: list[tuple[str, str, str, float]], seconds: float, table: str, runs: int
) -> Profile:
    """Of what the extension module measured: seconds are those of all runs there."""
    rows = []
    for calls, result, place, taken in sorted(steps, key=lambda step: step[3], reverse=True):
        name, _, type = result.partition(": ")
        share = taken / seconds if seconds > 0 else 0.0
        rows.append(ProfileStep(tuple(calls.split(", ")), name, type, place, taken / runs, share))
    profile = Profile(rows)
    profile.runs = runs
    profile.seconds = seconds / runs
    profile.between = max(0.0, seconds - sum(step[3] for step in steps)) / runs
    profile._table = table.rstrip("\n")
    return profile
