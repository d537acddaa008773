"""Results of calls with several outputs."""

from __future__ import annotations

from typing import Any, Sequence

from pdl._declarations import Declaration


class Results(tuple[Any, ...]):
    """The results of a call, a tuple with fields named after its outputs: ``y, last = lstm(x, size=8)``,
    ``lstm(x, size=8).last``."""

    names: tuple[str, ...]

    def __new__(cls, values: Sequence[Any], names: Sequence[str]) -> Results:
        self = super().__new__(cls, values)
        self.names = tuple(names)
        return self

    def __getattr__(self, name: str) -> Any:
        if name != "names" and name in self.names:
            return self[self.names.index(name)]
        raise AttributeError(f"the call has no output '{name}'; there are {', '.join(self.names)}")


def pack(declaration: Declaration, values: Sequence[Any]) -> Any:
    """The result of a call: the single value, or ``Results``."""
    if len(values) == 1 and not declaration.results_from:
        return values[0]
    return Results(values, [one.name for one in declaration.outputs])
