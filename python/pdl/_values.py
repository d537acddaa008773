"""Values of parameters and states: read by name, and checked before they are set."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, Iterator, Mapping

import numpy as np

from pdl import _pdl
from pdl._arrays import to_array
from pdl._types import dims_of, dtype_of, range_of
from pdl.errors import UnknownNameError, WeightError


class Values(Mapping[str, _pdl.Tensor]):
    """A read-only snapshot of the values of parameters or states, by name."""

    def __init__(self, kind: str, values: Mapping[str, _pdl.Tensor]) -> None:
        self._kind = kind
        self._values = values

    def __getitem__(self, name: str) -> _pdl.Tensor:
        if name not in self._values:
            raise KeyError(f"the network has no {self._kind} '{name}'{hint_of(name, self._values)}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self._values))

    def __setitem__(self, name: str, value: Any) -> None:
        raise TypeError(
            f"this mapping of {self._kind}s is read-only: use net.set_{self._kind}({name!r}, …)"
        )


def hint_of(name: Any, known: Iterable[str]) -> str:
    """"; did you mean 'image'?" if there is a similar name."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def fitting(kind: str, name: str, rows: list[tuple[str, str, str]], value: Any) -> _pdl.Tensor:
    """The value as a tensor of the declared type."""
    types = {row[0]: row[1] for row in rows}
    if name not in types:
        message = f"the network has no {kind} '{name}'{hint_of(name, types)} [PDL0102]"
        raise UnknownNameError(message, "PDL0102")
    type = types[name]
    try:
        tensor = _pdl.tensor(to_array(value, dtype_of(type)))
    except (TypeError, ValueError, OverflowError) as error:
        wrong = TypeError if isinstance(error, TypeError) else ValueError
        raise wrong(f"{kind} '{name}': {error}") from None
    dims = dims_of(type)
    if (
        tensor.dtype != dtype_of(type)
        or len(tensor.shape) != len(dims)
        or any(isinstance(dim, int) and dim != size for dim, size in zip(dims, tensor.shape))
    ):
        message = f"{kind} '{name}' is declared {type}, got {tensor.type}"
        if tensor.dtype != dtype_of(type):
            message += f'; pdl.tensor(array, dtype="{dtype_of(type)}") converts it'
        raise WeightError(f"{message} [PDL0404]", "PDL0404")
    range = range_of(type)
    elements = np.asarray(tensor) if range else np.zeros(0)
    if range and elements.size and not range[0] <= elements.min() <= elements.max() < range[1]:
        raise WeightError(f"{kind} '{name}' is declared {type}, but an element is outside the range [PDL0404]", "PDL0404")
    return tensor
