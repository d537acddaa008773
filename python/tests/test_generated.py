"""Generated files are up to date, and types check."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest


@pytest.fixture
def declarations(pdl_tool: str, tmp_path: pathlib.Path) -> pathlib.Path:
    """The output of `pdl ops --format=json`."""
    path = tmp_path / "ops.json"
    with path.open("w") as file:
        subprocess.run([pdl_tool, "ops", "--format=json"], stdout=file, check=True)
    return path


def test_the_stubs_are_current(root: pathlib.Path, declarations: pathlib.Path) -> None:
    tool = root / "python" / "tools" / "make_stubs.py"
    # -S -E: without the package and other installed packages.
    command = [sys.executable, "-S", "-E", tool, declarations, root / "python" / "pdl", "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_stale_stubs_are_found(
    root: pathlib.Path, declarations: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    tool = root / "python" / "tools" / "make_stubs.py"
    subprocess.run([sys.executable, tool, declarations, tmp_path], check=True)
    subprocess.run([sys.executable, tool, declarations, tmp_path, "--check"], check=True)
    stubs = tmp_path / "ops.pyi"
    stubs.write_text(stubs.read_text().replace("def cos(", "def cosine_of(", 1))
    assert subprocess.run([sys.executable, tool, declarations, tmp_path, "--check"]).returncode == 1


def test_types(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}"]
    python = root / "python"
    sources = [python / name for name in ("pdl", "examples", "bench", "tools/make_stubs.py")]
    result = subprocess.run([*command, *sources], capture_output=True, text=True, cwd=python)
    assert result.returncode == 0, result.stdout


def test_wrong_types_are_found(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    page = tmp_path / "wrong.py"
    page.write_text(
        "import pdl\n"
        "x = pdl.input('x', 'f32[N]')\n"
        "y: pdl.Value = pdl.ops.cos(x, scale=2.0)\n"
        "pdl.ops.cos(x, scale='two')\n"
        "pdl.ops.cos(x, scael=2.0)\n"
        "pdl.layers.fc(x, act='relu')\n"
        "pdl.ops.topk(x, k=2).indices\n"
    )
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}", page]
    result = subprocess.run(command, capture_output=True, text=True, cwd=root / "python")
    lines = {line.split(":")[1] for line in result.stdout.splitlines() if ": error:" in line}
    assert lines == {"4", "5", "6"}, result.stdout
