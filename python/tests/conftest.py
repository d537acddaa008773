"""Shared fixtures."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python" / "examples"))

# A state that counts.
COUNTER = (
    "input x: f32[]\nstate total: f32[] = zeros()\nupdate total = total + x\noutput sum = total"
)
# A layer of the file with an assertion.
LAYERED = """layer positive(x: F[...]) {
  assert x > 0.0, "x must be positive"
  return x
}
input x: f32[N]
layer own = positive()
param a: f32[] = ones()
loss = mean(own(x) * a)
output loss
"""
# A parameter of each kind, and a state.
PAIR = """
input x: f32[N]
param w: f32[2] = zeros()
param k: i64[2] in 0..5 = zeros()
state s: f32[2] = ones()
update s = s * 2.0
output y = w * s
"""


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
