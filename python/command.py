#!python
"""The command ``pdl`` of a wheel: runs the program in the package, which is not imported."""

import importlib.util
import os
import sys

spec = importlib.util.find_spec("pdl")
folders = list(spec.submodule_search_locations or ()) if spec else []
programs = [os.path.join(folder, "bin", "pdl") for folder in folders]
program = next((path for path in programs if os.access(path, os.X_OK)), None)
if program is None:
    sys.exit(f"pdl: the package 'pdl' of {sys.prefix} is not that of the distribution pdl-lang")
os.execv(program, ["pdl", *sys.argv[1:]])
