"""The Jupyter kernel, and the magic for Python notebooks. Skipped if Jupyter is not installed."""

from __future__ import annotations

import base64
import json
import os
import pathlib
import queue
import subprocess
import sys
import time
from typing import Any, Iterator

import numpy as np
import pytest

import pdl

pytest.importorskip("ipykernel")
client_module = pytest.importorskip("jupyter_client")

Messages = list[dict[str, Any]]


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """An installation of the kernel that Jupyter finds, in a folder of its own."""
    folder = tmp_path_factory.mktemp("jupyter")
    before = {name: os.environ.get(name) for name in ("JUPYTER_PATH", "HOME")}
    os.environ["JUPYTER_PATH"] = str(folder / "share/jupyter")
    os.environ["HOME"] = str(folder)
    command = [sys.executable, "-m", "pdl.kernel", "install", "--prefix", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"installed in {folder}")
    yield folder
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


class Kernel:
    """A running kernel and its client."""

    def __init__(self) -> None:
        self.manager, self.client = client_module.manager.start_new_kernel(kernel_name="pdl")

    def run(self, code: str) -> tuple[dict[str, Any], Messages]:
        """The reply to a cell, and its outputs."""
        return self.finish(self.client.execute(code))

    def finish(self, request: str) -> tuple[dict[str, Any], Messages]:
        outputs: Messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind in ("stream", "display_data", "error"):
                outputs.append({"kind": kind, **content})
        return self.reply(request), outputs

    def shown(self, code: str) -> dict[str, str]:
        """The only value that a cell shows, by MIME type."""
        reply, outputs = self.run(code)
        assert reply["status"] == "ok", outputs
        assert [each["kind"] for each in outputs] == ["display_data"], outputs
        data: dict[str, str] = outputs[0]["data"]
        return data

    def reply(self, request: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=60)
            if message["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = message["content"]
                return content


@pytest.fixture(scope="module")
def kernel(jupyter: pathlib.Path) -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.client.stop_channels()
    made.manager.shutdown_kernel(now=True)


def test_values_are_texts_and_tables(kernel: Kernel) -> None:
    kernel.run(":reset")
    assert kernel.shown("s = exp([0.0])")["text/plain"] == "s: f32[1] = [1.0]"
    data = kernel.shown("m = [[1.0, nan], [2.5, 3.0]]")
    assert data["text/plain"].startswith("m: f32[2, 2] =")
    table = data["text/html"]
    assert table.count("<tr>") == 3 and "<td>2.5</td>" in table
    assert '<td style="color:#d00">nan</td>' in table
    # A value of an earlier cell; a scalar has no table.
    assert set(kernel.shown("sum(s)")) == {"text/plain"}
    # Long axes are shown in part.
    data = kernel.shown("wide = zeros([3, 100])")
    assert data["text/html"].count("<td>") == 3 * 21 and "…" in data["text/html"]
    # An empty one.
    assert set(kernel.shown("empty = zeros([0, 3])")) == {"text/plain"}


def test_several_statements_and_commands(kernel: Kernel) -> None:
    kernel.run(":reset")
    reply, outputs = kernel.run("x = [1.0]\ny = exp(x)\n:type y\nlayer f(a: F[N]) {\n  return a\n}\n")
    assert reply["status"] == "ok"
    assert [each["kind"] for each in outputs] == ["display_data", "display_data", "stream", "stream"]
    assert outputs[2]["text"] == "f32[1]\n"
    assert outputs[3]["text"].startswith("# layer f(")


def test_ragged_rows(kernel: Kernel) -> None:
    kernel.run(":reset\ninput words: i64[N, ~T] in 0..10")
    data = kernel.shown("feed words = [[1, 2, 3], [], [4]]")
    assert "~T" in data["text/plain"]
    assert data["text/html"].count("<tr>") == 4 and data["text/html"].count("<td></td>") == 5


def pixels(png: str) -> bytes:
    data = base64.b64decode(png)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return data


def test_images(kernel: Kernel) -> None:
    kernel.run(":reset")
    data = kernel.shown("image = cast(ones([8, 9, 3]), to=u8)")
    header = pixels(data["image/png"])[16:26]
    assert header == (9).to_bytes(4, "big") + (8).to_bytes(4, "big") + bytes([8, 2])
    # A matrix of floats is a table, or an image on demand; the images of a batch are next to each other.
    kernel.run("batch = normal([5, 1, 8, 8])\n")
    header = pixels(kernel.shown(":image batch")["image/png"])[16:26]
    assert header == (40).to_bytes(4, "big") + (8).to_bytes(4, "big") + bytes([8, 0])
    data = kernel.shown(":image [1.0, 2.0]")
    assert "not the shape of an image" in data["text/plain"]
    reply, outputs = kernel.run(":image nothing")
    assert reply["status"] == "error" and "'nothing'" in outputs[0]["traceback"][0]


def test_errors_show_carets(kernel: Kernel) -> None:
    kernel.run(":reset")
    reply, outputs = kernel.run("a = [1.0]\nb = cso(a)\nc = [2.0]")
    assert reply["status"] == "error" and "PDL0101" in reply["evalue"]
    assert [each["kind"] for each in outputs] == ["display_data", "error"]
    text = outputs[1]["traceback"][0]
    line = next(i for i, each in enumerate(text.split("\n")) if "b = cso(a)" in each)
    source, carets = text.split("\n")[line : line + 2]
    assert carets[source.index("cso") :].startswith("^")
    # The statements after the error were not executed, those before it were.
    reply, outputs = kernel.run("c")
    assert reply["status"] == "error"
    assert kernel.shown("a")["text/plain"] == "f32[1] = [1.0]"


def test_a_network_draws_itself(kernel: Kernel) -> None:
    kernel.run(":reset\ninput x: f32[N, 4]\ny = fc(x, size=2, act=relu())\noutput y")
    data = kernel.shown(":view")
    assert data["text/plain"].startswith("<pdl network (x: f32[N, 4])")
    assert data["text/html"]


def test_completion(kernel: Kernel) -> None:
    kernel.run(":reset\nkernel_size = [1.0]")
    code = "# é\nz = kernel_s + 1"
    cursor = code.index(" + 1")
    content = kernel.reply(kernel.client.complete(code, cursor))
    assert content["matches"] == ["kernel_size"]
    assert (content["cursor_start"], content["cursor_end"]) == (code.index("kernel_s"), cursor)
    content = kernel.reply(kernel.client.complete("y = softm"))
    assert content["matches"] == ["softmax("]
    content = kernel.reply(kernel.client.complete("x = 1\n:ty"))
    assert content["matches"] == [":type "] and content["cursor_start"] == 6


def test_inspection(kernel: Kernel) -> None:
    kernel.run(":reset\nx = [1.0]")
    content = kernel.reply(kernel.client.inspect(":time\n# é\ny = softmax(x)", 18))
    assert content["found"] and "softmax(" in content["data"]["text/markdown"]
    # In an incomplete call.
    content = kernel.reply(kernel.client.inspect("y = softmax(", 12))
    assert content["found"] and "softmax(" in content["data"]["text/plain"]
    content = kernel.reply(kernel.client.inspect("y = nothing", 8))
    assert not content["found"]


def test_incomplete_input(kernel: Kernel) -> None:
    status = lambda code: kernel.reply(kernel.client.is_complete(code))["status"]  # noqa: E731
    assert status("layer f(x: F[N]) {") == "incomplete"
    assert status("x = 1") == "complete"
    assert status(":help (") == "complete"


def test_interrupt(kernel: Kernel) -> None:
    kernel.run(":reset\na = normal([900, 900])\nb = a / 900.0")
    # Far more than the test would wait for.
    request = kernel.client.execute("for i in 0..2000 {\n  b = tanh(b @ a)\n}\nsum(b)")
    time.sleep(2)
    kernel.manager.interrupt_kernel()
    reply, outputs = kernel.finish(request)
    assert reply["status"] == "error" and "interrupted" in reply["evalue"], outputs
    # The session continues.
    assert kernel.shown("d = [1.0]")["text/plain"] == "d: f32[1] = [1.0]"


def test_help_names_the_commands_of_notebooks(kernel: Kernel) -> None:
    reply, outputs = kernel.run(":help")
    text = "".join(each["text"] for each in outputs)
    assert ":image EXPRESSION" in text and ":undo" in text
    reply, outputs = kernel.run(":quit")
    assert reply["status"] == "ok" and "the session ends with the notebook" in outputs[0]["text"]


def test_the_tour_runs(jupyter: pathlib.Path, root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Every example of the tour of docs/language.md, from top to bottom."""
    pytest.importorskip("nbconvert")
    notebook = tmp_path / "tour.ipynb"
    make = root / "test/docs/make_notebook.py"
    page = root / "docs/language.md"
    subprocess.run([sys.executable, make, page, "A tour", notebook], check=True)
    command = ["jupyter", "nbconvert", "--to=notebook", "--execute", "--output=done.ipynb", notebook]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    ran = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(ran) > 15 and all(cell["execution_count"] for cell in ran)
    for cell in ran:
        kinds = {each["output_type"] for each in cell["outputs"]}
        is_error = "raises-exception" in cell["metadata"]["tags"]
        assert ("error" in kinds) == is_error, cell
        if is_error:
            assert any("^" in each["traceback"][0] for each in cell["outputs"] if "traceback" in each)
        if cell["source"] == [":view"]:
            assert "text/html" in cell["outputs"][0]["data"]


# ---------------------------------------------------------------------------------------------
# The magic


@pytest.fixture
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "pdl.kernel")
    yield made
    made.run_line_magic("unload_ext", "pdl.kernel")
    InteractiveShell.clear_instance()


def succeed(shell: Any, cell: str) -> None:
    result = shell.run_cell(cell)
    assert result.success, result.error_in_exec


def test_magic_shares_arrays(shell: Any) -> None:
    shell.user_ns["x"] = np.float32([[1, 2], [3, 4]])
    succeed(shell, "%%pdl\ny = x * 2.0\nn = sum(y)")
    y = shell.user_ns["y"]
    assert isinstance(y, pdl.Tensor) and y.tolist() == [[2, 4], [6, 8]]
    assert shell.user_ns["n"].item() == 20
    # Another array, of another size: what depends on it is computed again, and an earlier cell's names stay known.
    shell.user_ns["x"] = np.float32([[1, 1, 1]])
    succeed(shell, "%%pdl\nz = x + n")
    assert shell.user_ns["z"].tolist() == [[7, 7, 7]]
    # A name that a cell defines is not taken from the notebook.
    shell.user_ns["n"] = np.float32(100)
    succeed(shell, "%%pdl\nw = n + 0.0")
    assert shell.user_ns["w"].item() == 6


def test_magic_reports_errors(shell: Any) -> None:
    shell.user_ns["x"] = np.float32([1])
    succeed(shell, "%%pdl\ny = x + [1.0]")
    # The statement of the first cell does not fit any more: nothing changes.
    shell.user_ns["x"] = np.float32([[1, 2], [3, 4]])
    succeed(shell, "%%pdl\nz = x")
    shell.user_ns["x"] = np.int64([1])
    result = shell.run_cell("%%pdl\nv = x")
    assert not result.success and "is not of dtype i64" in str(result.error_in_exec)
    result = shell.run_cell("%%pdl\nv = nothing")
    assert "'nothing'" in str(result.error_in_exec)
    result = shell.run_cell("%%pdl now\nv = 1")
    assert str(result.error_in_exec) == "%%pdl takes no arguments, got 'now'"
