"""The quick start of the README runs."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys


def test_the_quick_start(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = (root / "python" / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) == 12
    (tmp_path / "examples").symlink_to(root / "examples")
    script = tmp_path / "quick_start.py"
    script.write_text("\n".join(blocks))
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "hidden = fc(image, size=56" in result.stdout
    assert (tmp_path / "digits.pdlc").exists() and (tmp_path / "digits.safetensors").exists()
