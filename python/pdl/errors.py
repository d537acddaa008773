"""Exceptions.

Each has the message of the compiler or the runtime, and its stable code, which ``pdl.explain`` explains.
"""

from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple, Sequence

from pdl import _pdl
from pdl._check import text_of


class Mistake(NamedTuple):
    """An error in source code: its code, message and notes, and where it begins: the name of the file, and the line
    and the column in characters, from 1 on. Without a place, ``file`` is empty."""

    code: str
    message: str
    notes: tuple[str, ...]
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        lines = [f"{self.message} [{self.code}]" if self.code else self.message]
        lines += [f"   = {note}" for note in self.notes]
        return "\n".join(lines)


class Error(Exception):
    """Base class of all errors. ``code`` is the stable code, "PDL0203", or empty; ``mistakes`` lists all errors in
    the source."""

    def __init__(self, message: str, code: str = "", mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.mistakes = tuple(mistakes)


class SyntaxMistake(Error, ValueError):
    """Source that does not conform to the grammar (PDL00xx)."""


class UnknownNameError(Error, LookupError):
    """An undefined name, or one that is defined twice (PDL01xx)."""


class ArgumentError(Error, TypeError):
    """A call with wrong arguments (PDL02xx)."""


class AttributeValueError(Error, ValueError):
    """An attribute outside its range, or not one of its choices (PDL0203, PDL0206)."""


class ShapeError(Error, ValueError):
    """Types or sizes that do not match (PDL03xx)."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or is broken (PDL0401, PDL0402, PDL0403)."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist (PDL0401)."""

    def __init__(self, message: str, code: str = "", mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message, code, mistakes)
        self.errno = errno.ENOENT


class WeightError(Error, ValueError):
    """A missing value of a parameter or state, or one that does not have the declared type (PDL0404)."""


class StatementError(Error, ValueError):
    """An invalid statement: an update, a minimize, an initializer (PDL0405 to PDL0411)."""


class RunError(Error, ValueError):
    """A run with wrong inputs, or one that failed (PDL05xx)."""


class DeviceError(Error, RuntimeError):
    """A failure of the device: out of memory, or no such device."""


class RankError(Error, RuntimeError):
    """Another process of a distributed run has failed or does not answer. The processes cannot continue together."""


def explain(code: str) -> str:
    """The explanation of an error code, and how to fix the error.

    Parameters
    ----------
    code : str
        the code of an exception, "PDL0203"

    Raises
    ------
    KeyError
        if there is no such code
    """
    try:
        return _pdl.explain(text_of(code, "code"))
    except KeyError:
        raise KeyError(f"there is no error code '{code}'") from None


_BY_HUNDRED: dict[int, type[Error]] = {
    0: SyntaxMistake,
    1: UnknownNameError,
    2: ArgumentError,
    3: ShapeError,
    4: StatementError,
    5: RunError,
}
_BY_CODE: dict[int, type[Error]] = {
    203: AttributeValueError,
    206: AttributeValueError,
    401: FileError,
    402: FileError,
    403: FileError,
    404: WeightError,
}
_MISSING = os.strerror(errno.ENOENT)


def _class_of(code: int, message: str) -> type[Error]:
    if code == 0:
        return Error
    if code == 401 and _MISSING in message:
        return MissingFileError
    return _BY_CODE.get(code) or _BY_HUNDRED.get(code // 100, Error)


def _name_of(code: int) -> str:
    return f"PDL{code:04d}" if code else ""


def of_error(code: int, message: str, is_device: bool, is_rank: bool) -> Error:
    """The exception for an error outside of source code. Called by the extension module."""
    if is_rank:
        return RankError(message)
    kind = DeviceError if is_device else _class_of(code, message)
    return kind(message, _name_of(code))


def of_mistakes(
    mistakes: Sequence[tuple[int, str, Sequence[str], str, int, int]],
    text: str,
    is_shown: bool,
    is_device: bool,
) -> Error:
    """The exception for errors in source code; ``text`` is the rendered diagnostics. ``is_shown``: with positions.
    Called by the extension module."""
    code = mistakes[0][0] if mistakes else 0
    listed = [
        Mistake(_name_of(number), message, tuple(notes), file, line, column)
        for number, message, notes, file, line, column in mistakes
    ]
    kind = DeviceError if is_device else _class_of(code, text)
    error = kind(text.rstrip("\n"), _name_of(code), listed)
    return error if is_shown else without_place(error)


_PLACE = re.compile(r", from line \d+$")


def without_place(error: Error) -> Error:
    """The exception without source locations, for generated source, which the user does not see."""
    if not error.mistakes:
        return error
    mistakes = [
        one._replace(
            notes=tuple(_PLACE.sub("", note) for note in one.notes), file="", line=0, column=0
        )
        for one in error.mistakes
    ]
    return type(error)("\n".join(map(str, mistakes)), error.code, mistakes)
