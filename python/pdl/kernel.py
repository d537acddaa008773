"""A Jupyter kernel for the language, and the magic ``%%pdl`` for Python notebooks.

::

    pip install '.[jupyter]'              # in a clone of the repository
    python -m pdl.kernel install          # Jupyter then offers "pdl"
    %load_ext pdl.kernel                  # in a Python notebook: cells that begin with %%pdl
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
import tempfile
from typing import Any, Sequence

try:
    from ipykernel.kernelapp import IPKernelApp
    from ipykernel.kernelbase import Kernel
    from IPython.display import display
    from jupyter_client.kernelspec import KernelSpecManager
except ImportError as error:
    REASON = f"pdl.kernel requires ipykernel (pip install 'ipykernel>=7'): {error}"
    if __name__ == "__main__":
        sys.exit(REASON)
    raise ImportError(REASON) from error

import pdl
from pdl._arrays import is_array
from pdl._display import image_of, is_image, table_of
from pdl._pdl import needs_more_lines
from pdl._ragged import Ragged, Sparse
from pdl._session import Picture, Piece, Reply, Session, Shown, View

Bundle = dict[str, str]


def bundle_of(piece: Piece) -> Bundle:
    """What a notebook shows for a part of a reply, by MIME type. Throws pdl.Error if a network cannot be drawn."""
    if isinstance(piece, str):
        return {"text/plain": piece.rstrip("\n")}
    if isinstance(piece, View):
        network = pdl.compile(piece.source, name="notebook")
        return {"text/plain": repr(network), "text/html": network._repr_html_()}
    shown = piece.shown if isinstance(piece, Picture) else piece
    bundle = {"text/plain": shown.text.rstrip("\n")}
    if isinstance(piece, Picture) or is_image(shown.type, shown.value):
        image = image_of(shown.value)
        if image is not None:
            bundle["image/png"] = base64.b64encode(image).decode()
            return bundle
        if isinstance(piece, Picture):
            bundle["text/plain"] += f"\n# {shown.type} is not the shape of an image; see :help"
    table = table_of(shown.label, shown.type, shown.value)
    if table is not None:
        bundle["text/html"] = table
    return bundle


class PdlKernel(Kernel):
    """Cells are statements of one session."""

    implementation = "pdl"
    implementation_version = pdl.__version__
    language = "pdl"
    language_version = pdl.__version__
    banner = f"pdl {pdl.__version__}: a statement shows what it defines; :help"
    # Editors know neither; comments, strings and numbers are as in Python.
    language_info = {
        "name": "pdl",
        "mimetype": "text/x-pdl",
        "file_extension": ".pdl",
        "codemirror_mode": "python",
        "pygments_lexer": "python",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pdl = Session()

    def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict[str, Any] | None = None,
        allow_stdin: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        for reply in self._pdl.execute(code):
            if silent and not reply.failed:
                continue
            errors = reply.errors
            try:
                for piece in reply.pieces:
                    self._show(piece)
            except pdl.Error as error:
                errors, reply = f"{errors}error: {error}\n", reply._replace(failed=True)
            if reply.failed:
                return self._fail(errors)
            if errors:
                self._send("stream", {"name": "stderr", "text": errors})
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }

    def _show(self, piece: Piece) -> None:
        if isinstance(piece, str):
            self._send("stream", {"name": "stdout", "text": piece})
        else:
            self._send("display_data", {"data": bundle_of(piece), "metadata": {}})

    def _fail(self, errors: str) -> dict[str, Any]:
        content = {
            "ename": "Error",
            "evalue": errors.split("\n", 1)[0],
            "traceback": [errors.rstrip("\n")],
        }
        self._send("error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        self.send_response(self.iopub_socket, kind, content)

    def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        begin, found = self._pdl.complete(code, cursor_pos)
        # Of an attribute without choices there is only its declaration to show.
        found = [each for each in found if each[0]]
        types = [
            {"text": text, "type": "", "signature": shown, "start": begin, "end": cursor_pos}
            for text, shown in found
        ]
        return {
            "status": "ok",
            "matches": [text for text, _ in found],
            "cursor_start": begin,
            "cursor_end": cursor_pos,
            "metadata": {"_jupyter_types_experimental": types},
        }

    def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Sequence[str] = ()
    ) -> dict[str, Any]:
        found = self._pdl.inspect(code, cursor_pos)
        data = {"text/plain": found, "text/markdown": found} if found else {}
        return {"status": "ok", "found": bool(found), "data": data, "metadata": {}}

    def do_is_complete(self, code: str) -> dict[str, Any]:
        is_open = not code.lstrip().startswith(":") and needs_more_lines(code)
        return {"status": "incomplete" if is_open else "complete", "indent": ""}


# ---------------------------------------------------------------------------------------------
# The magic


class PdlError(Exception):
    """An error in a cell of ``%%pdl``. Shown as its message, without a traceback of Python."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def load_ipython_extension(shell: Any) -> None:
    """Adds the magic ``%%pdl`` to a Python notebook. All its cells are one session. An array of the notebook that a cell
    names becomes an input; what a cell defines becomes a ``pdl.Tensor`` (``pdl.Ragged``, …) of the notebook."""
    session = Session()
    names = shell.user_ns

    def run(line: str, cell: str) -> None:
        if line.strip():
            raise PdlError(f"%%pdl takes no arguments, got '{line.strip()}'")
        for name in session.names_read(cell):
            if _can_share(names.get(name)):
                _check(session.share(name, names[name]))
        for reply in session.execute(cell):
            for piece in reply.pieces:
                _keep(piece, names)
                display(bundle_of(piece), raw=True)
            _check(reply)

    run.__doc__ = load_ipython_extension.__doc__
    shell.register_magic_function(run, "cell", "pdl")


def _can_share(value: object) -> bool:
    return is_array(value) and not isinstance(value, (Ragged, Sparse))


def _keep(piece: Piece, names: dict[str, Any]) -> None:
    if isinstance(piece, Shown) and piece.label.isidentifier():
        names[piece.label] = piece.value


def _check(reply: Reply) -> None:
    if reply.failed:
        raise PdlError(reply.errors.rstrip("\n"))
    if reply.errors:
        print(reply.errors, end="", file=sys.stderr)


# ---------------------------------------------------------------------------------------------
# Installation


def install(user: bool, prefix: str | None) -> str:
    """Makes Jupyter offer the kernel; returns the folder with its description. OSError if it cannot be written."""
    spec = {
        "argv": [sys.executable, "-m", "pdl.kernel", "-f", "{connection_file}"],
        "display_name": "pdl",
        "language": "pdl",
        "interrupt_mode": "signal",
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=2)
        manager = KernelSpecManager()
        return str(manager.install_kernel_spec(folder, "pdl", user=user, prefix=prefix))


def main(arguments: Sequence[str]) -> int:
    """``python -m pdl.kernel install``, or runs the kernel with the arguments that Jupyter passes."""
    if arguments[:1] != ["install"]:
        IPKernelApp.launch_instance(argv=list(arguments), kernel_class=PdlKernel)
        return 0
    parser = argparse.ArgumentParser(
        prog="python -m pdl.kernel install", description="Makes Jupyter offer the kernel pdl."
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user")
    place.add_argument("--prefix", help="in PREFIX/share/jupyter")
    given = parser.parse_args(arguments[1:])
    # In a virtual environment, the kernel belongs to its Jupyter.
    prefix = given.prefix or (None if given.user else sys.prefix)
    try:
        print("installed in", install(given.user, prefix))
    except OSError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
