#!/usr/bin/env python3
"""Measures the time of a call of a network from Python: one `neg` of one float.

overhead.py [LIMIT]     # exits with 1 if a call takes more than LIMIT microseconds
"""

from __future__ import annotations

import sys
import timeit
from typing import Any, Callable

import numpy as np

import pdl


def microseconds(call: Callable[[], Any]) -> float:
    """The time of a call in microseconds, the minimum of many rounds."""
    rounds, calls = 15, 20_000
    return min(timeit.repeat(call, number=calls, repeat=rounds)) / calls * 1e6


def main() -> int:
    net = pdl.compile("input x: f32[1]\noutput y = neg(x)")
    array = np.array([1.5], np.float32)
    tensor = pdl.tensor(array)
    assert net(x=array)["y"].item() == -1.5
    of_network = microseconds(lambda: net(x=array))
    print(f"a network, `neg` of one float (NumPy)   {of_network:6.2f} µs")
    print(f"a network, `neg` of one float (Tensor)  {microseconds(lambda: net(x=tensor)):6.2f} µs")
    print(
        f"pdl.ops.neg of one float (Tensor)       {microseconds(lambda: pdl.ops.neg(tensor)):6.2f} µs"
    )
    print(
        f"pdl.tensor of an array, zero copy       {microseconds(lambda: pdl.tensor(array)):6.2f} µs"
    )
    return int(len(sys.argv) > 1 and of_network > float(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
