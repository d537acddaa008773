"""The modules of the package import each other without cycles."""

from __future__ import annotations

import ast
from pathlib import Path

import pdl

PACKAGE = Path(pdl.__file__).parent


def imports_of(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a file imports, at any level of nesting."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "pdl":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module.removeprefix("pdl."))
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("pdl.") for alias in node.names}
    return found & modules


def test_no_cycles() -> None:
    files = {path.stem: path for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    imports = {name: imports_of(path, set(files)) for name, path in files.items()}
    assert sum(map(len, imports.values())) > 30
    # Removes modules all of whose imports are removed; what remains is a cycle, or leads to one.
    while removable := [name for name, needed in imports.items() if not needed & imports.keys()]:
        for name in removable:
            del imports[name]
    assert not imports
