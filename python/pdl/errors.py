"""What can go wrong, as exceptions.

Each has the message that the compiler or the runtime gives, and its stable code; ``pdl.explain`` tells
more about a code.
"""

from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple, Sequence

from pdl import _pdl
from pdl._check import text_of


class Mistake(NamedTuple):
    """One mistake in a text."""

    code: str
    message: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.message} [{self.code}]" if self.code else self.message]
        lines += [f"   = {note}" for note in self.notes]
        return "\n".join(lines)


class Error(Exception):
    """What went wrong. ``code`` is its stable code, "PDL0203", or empty; ``mistakes`` lists those of
    a text."""

    def __init__(self, message: str, code: str = "", mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.mistakes = tuple(mistakes)


class SyntaxMistake(Error, ValueError):
    """The text does not follow the grammar (PDL00xx)."""


class UnknownNameError(Error, LookupError):
    """A name that nothing defines, or that is defined twice (PDL01xx)."""


class ArgumentError(Error, TypeError):
    """A call with wrong arguments (PDL02xx)."""


class AttributeValueError(Error, ValueError):
    """An attribute outside its range, or not one of its choices (PDL0203, PDL0206)."""


class ShapeError(Error, ValueError):
    """Types or sizes that do not fit (PDL03xx)."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or is broken (PDL0401, PDL0402, PDL0403)."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there (PDL0401)."""

    def __init__(self, message: str, code: str = "", mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message, code, mistakes)
        self.errno = errno.ENOENT


class WeightError(Error, ValueError):
    """The value of a parameter or state that is missing, or has another type than declared (PDL0404)."""


class StatementError(Error, ValueError):
    """A statement that cannot stand so: an update, a minimize, an initializer (PDL0405 to PDL0410)."""


class RunError(Error, ValueError):
    """A run with wrong inputs, or one that failed (PDL05xx)."""


class DeviceError(Error, RuntimeError):
    """The device failed: out of memory, no such device."""


def explain(code: str) -> str:
    """Why it is a mistake and how to mend it, by the code of an exception: "PDL0203"."""
    try:
        return _pdl.explain(text_of(code, "code"))
    except KeyError:
        raise KeyError(f"no message has the code '{code}'") from None


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


def of_error(code: int, message: str, is_device: bool) -> Error:
    """The exception of an error without a text; the extension module calls it."""
    kind = DeviceError if is_device else _class_of(code, message)
    return kind(message, _name_of(code))


def of_mistakes(mistakes: Sequence[tuple[int, str, Sequence[str]]], text: str) -> Error:
    """The exception of the mistakes in a text, which ``text`` shows with their places."""
    code = mistakes[0][0] if mistakes else 0
    listed = [
        Mistake(_name_of(number), message, tuple(notes)) for number, message, notes in mistakes
    ]
    return _class_of(code, text)(text.rstrip("\n"), _name_of(code), listed)


_PLACE = re.compile(r", from line \d+$")


def without_place(error: Error) -> Error:
    """The exception of a call that Python has written: without places in a text that nobody sees."""
    if not error.mistakes:
        return error
    mistakes = [
        one._replace(notes=tuple(_PLACE.sub("", note) for note in one.notes))
        for one in error.mistakes
    ]
    return type(error)("\n".join(map(str, mistakes)), error.code, mistakes)
