"""Shared fixtures."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python" / "examples"))


@pytest.fixture
def root() -> pathlib.Path:
    """The repository."""
    return ROOT


@pytest.fixture
def pdl_tool() -> str:
    """The path of the program, which ctest sets."""
    path = os.environ.get("PDL_TOOL")
    if not path:
        pytest.skip("PDL_TOOL does not name the program")
    return path


def resident_bytes() -> int:
    """The resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
