"""Checks of arguments before they are passed to the extension module."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np


def seed_of(given: Any, name: str = "seed") -> int:
    """The argument as an unsigned integer of 64 bits."""
    number = integer_of(given, name)
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name} must be an integer from 0 to 2**64 - 1, got {number}")
    return number


def integer_of(given: Any, name: str) -> int:
    """The argument as a Python integer. bool is rejected."""
    if not isinstance(given, (bool, np.bool_)):
        try:
            return operator.index(given)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an integer, not {shown(given)}")


def real_of(given: Any, name: str) -> float:
    """The argument as a Python float. bool is rejected."""
    if not isinstance(given, (bool, np.bool_, str)):
        try:
            return float(given)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name} must be a number, not {shown(given)}")


def truth_of(given: Any, name: str) -> bool:
    """The argument as a bool."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise TypeError(f"{name} must be True or False, not {shown(given)}")


def text_of(given: Any, name: str) -> str:
    """The argument, which must be a string of Unicode characters."""
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a string, not {shown(given)}")
    if not given.isascii():
        try:
            given.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{name} has a lone surrogate, character {error.start}, which is not Unicode") from None
    return given


def path_of(given: Any) -> str:
    """A path as a string, with surrogates for bytes that are not UTF-8, as in the module ``os``."""
    path = os.fsdecode(given)
    os.fsencode(path)  # UnicodeEncodeError, a ValueError, for other surrogates
    return path


def shown_path(path: str) -> str:
    """A path for messages, with a replacement character for each byte that is not UTF-8."""
    return os.fsencode(path).decode(errors="replace")


def shown(given: Any) -> str:
    """The repr of None, a number or a string; the name of the type of anything else."""
    if given is None or isinstance(given, (str, int, float)):
        return repr(given)
    return type(given).__name__
