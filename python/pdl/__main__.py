"""``python -m pdl``: the command ``pdl``."""

from __future__ import annotations

import os
import sys

os.execv(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pdl"), ["pdl", *sys.argv[1:]]
)
