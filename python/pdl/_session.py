"""An interactive session, as `pdl repl` has one, for notebooks: cells in, texts and values out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator, NamedTuple, Union

from pdl._pdl import ReplCore, Tensor, needs_more_lines
from pdl._ragged import Ragged, Sparse, of_parts

Value = Union[Tensor, Ragged, Sparse, dict[str, Tensor]]

HELP = """
In a notebook a cell consists of statements and commands, which begin with ':' and take one line:

  :view                 the network of all statements so far as a picture
  :image EXPRESSION     a value as a picture: [H, W], [H, W, C], [C, H, W] or a batch of these; the
                        smallest element is black, the largest white
"""


class Shown(NamedTuple):
    """A value that a statement shows."""

    label: str  # its name; empty for an expression
    type: str  # with the actual sizes: "f32[2, ~T]"
    text: str  # as the terminal shows it: "y: f32[2] = [0.0, 1.0]"
    value: Value


class Picture(NamedTuple):
    """A value to draw as an image, the answer to ``:image``."""

    shown: Shown


class View(NamedTuple):
    """The source of the network to draw, the answer to ``:view``."""

    source: str


Piece = Union[str, Shown, Picture, View]


class Reply(NamedTuple):
    """The answer to one input."""

    pieces: list[Piece]
    errors: str  # errors and warnings, with carets
    failed: bool


class Session:
    """Statements that build on each other. ``device``, ``threads`` and ``seed`` as in ``pdl.load``."""

    def __init__(self, device: str = "cpu", threads: int = 0, seed: int = 0) -> None:
        self.core = ReplCore(device, threads, seed)
        # Inputs that `share` declared.
        self._shared: set[str] = set()

    def execute(self, cell: str) -> Iterator[Reply]:
        """The replies to the inputs of a cell, up to the first error. Ctrl-C ends a run, which is an error then."""
        for text in _inputs(cell):
            reply = self._execute(text)
            yield reply
            if reply.failed:
                return

    def _execute(self, text: str) -> Reply:
        command, _, argument = text.strip().partition(" ")
        if command == ":view":
            return Reply([View(self.core.text)], "", False)
        if command == ":image":
            reply = self._run(lambda: self.core.execute(argument))
            values = [Picture(piece) for piece in reply.pieces if isinstance(piece, Shown)]
            if not reply.failed and not values:
                return Reply([], "error: expected :image EXPRESSION, a value that is known\n", True)
            return Reply([*values], reply.errors, reply.failed)
        if command == ":quit":
            return Reply(["# the session ends with the notebook; :reset begins again\n"], "", False)
        reply = self._run(lambda: self.core.execute(text))
        if text.strip() in (":help", "?"):
            reply.pieces.append(HELP)
        return reply

    def share(self, name: str, array: Any) -> Reply:
        """Makes an array, which is copied, the value of the input ``name``; see ``ReplSession::Share``."""
        reply = self._run(lambda: self.core.share(name, array))
        if not reply.failed:
            self._shared.add(name)
        return reply

    def names_read(self, cell: str) -> list[str]:
        """The names that a cell reads and that a value from outside may have: all that statements do not define."""
        defined = set(self.core.names) - self._shared
        return [name for name in self.core.names_in(cell) if name not in defined]

    def complete(self, cell: str, cursor: int) -> tuple[int, list[tuple[str, str]]]:
        """The completions of the word before the cursor, and where it begins. Each is a text and what to show for
        it. Positions are in characters."""
        start = _begin_of_input(cell[:cursor])
        text = cell[start:cursor].encode()
        begin, found = self.core.complete(text.decode(), len(text))
        return start + len(text[:begin].decode(errors="replace")), found

    def inspect(self, cell: str, cursor: int) -> str:
        """The documentation of the name at the cursor as Markdown; empty if there is none."""
        statements = "".join(
            "\n" if line.startswith(":") else line for line in cell.splitlines(keepends=True)
        )
        before = "".join(
            "\n" if line.startswith(":") else line
            for line in cell[:cursor].splitlines(keepends=True)
        )
        return self.core.inspect(statements, len(before.encode()))

    def _run(self, call: Callable[[], tuple[bytes, str, bool, bool, list[Any]]]) -> Reply:
        """Runs a call in a thread, so that Ctrl-C arrives in this one."""
        interrupted = False
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(call)
            while True:
                try:
                    output, errors, failed, _, values = future.result()
                    break
                except KeyboardInterrupt:
                    interrupted = True
                    self.core.cancel()
        if interrupted and not failed:
            errors, failed = errors + "error: interrupted\n", True
        return Reply(_pieces(output, values), errors, failed)


def _pieces(output: bytes, values: list[Any]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for label, type, parts, begin, end in values:
        if begin > at:
            pieces.append(output[at:begin].decode())
        pieces.append(Shown(label, type, output[begin:end].decode(), _value(type, parts)))
        at = end
    if at < len(output):
        pieces.append(output[at:].decode())
    return pieces


def _value(type: str, parts: list[Tensor]) -> Value:
    if len(parts) == 1:
        return parts[0]
    # Three ragged dims have no class of their own.
    if len(parts) == 4 and not type.startswith("sparse "):
        return dict(zip(("", ".offsets", ".offsets2", ".offsets3"), parts))
    return of_parts(type, parts)


def _inputs(cell: str) -> Iterator[str]:
    """The statements between commands, and the commands."""
    pending: list[str] = []
    for line in cell.splitlines(keepends=True):
        if line.startswith(":") and not needs_more_lines("".join(pending)):
            if pending:
                yield "".join(pending)
            pending = []
            yield line.strip()
        else:
            pending.append(line)
    if "".join(pending).strip():
        yield "".join(pending)


def _begin_of_input(before: str) -> int:
    """The offset of the input that the end of ``before`` is a part of."""
    at = begin = 0
    for line in before.splitlines(keepends=True):
        if line.startswith(":"):
            begin = at + len(line) if line.endswith("\n") else at
        at += len(line)
    return begin
