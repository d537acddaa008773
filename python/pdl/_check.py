"""What is given for an argument, looked at before the extension module sees it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def seed_of(given: Any, name: str = "seed") -> int:
    """An integer of 64 bits, from 0 on."""
    number = integer_of(given, name)
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name} is an integer from 0 up to 2**64 - 1, got {number}")
    return number


def integer_of(given: Any, name: str) -> int:
    """An integer of Python's or NumPy's; True and False are none."""
    if not isinstance(given, (bool, np.bool_)):
        try:
            return operator.index(given)
        except TypeError:
            pass
    raise TypeError(f"{name} is an integer, not {shown(given)}")


def truth_of(given: Any, name: str) -> bool:
    """True or False."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise TypeError(f"{name} is True or False, not {shown(given)}")


def text_of(given: Any, name: str) -> str:
    """A text."""
    if isinstance(given, str):
        return given
    raise TypeError(f"{name} is a text, not {shown(given)}")


def shown(given: Any) -> str:
    """A number or a text as Python writes it, of anything else the type."""
    if given is None or isinstance(given, (str, int, float)):
        return repr(given)
    return type(given).__name__
