#!/usr/bin/env python3
"""Checks that every file includes only headers that its module may include.

A public header, NAME.h below include/pdl/, belongs to the module that contains NAME.cc or NAME.cu; a header without
such a source, or with several, names its module in a line `// Module: NAME`.
"""

import pathlib
import re
import sys

# The table of docs/architecture.md.
MAY_INCLUDE = {
    "proto": set(),
    "ir": {"proto"},
    "grammar": set(),
    "frontend": {"grammar", "ir"},
    "runtime": {"ir"},
    "kernels": {"ir", "runtime"},
    "layers": {"ir", "frontend"},
    "onnx": {"ir", "frontend", "runtime", "layers"},
    "model": {"ir", "frontend", "runtime", "layers", "onnx"},
    "view": {"ir", "frontend", "layers"},
    "tools": {"proto", "ir", "grammar", "frontend", "runtime", "kernels", "layers", "onnx", "model", "view"},
    "python": {"ir", "frontend", "runtime", "kernels", "layers", "model", "view"},
    "bench": {"ir", "frontend", "runtime", "kernels", "layers", "model"},
    "examples": {"proto", "ir", "runtime", "kernels", "model"},
}
# Modules that are not part of libpdl: no public header is theirs.
PROGRAMS = {"tools", "python", "bench", "examples"}
# Of these, the ones that could be built against an installed libpdl include public headers only.
PUBLIC_ONLY = {"python", "examples"}
# Public headers that are generated.
GENERATED = {"pdl/pdl.pb.h": "proto"}
# Folders whose sources may include everything.
UNCHECKED = {"include", "test", "cmake"}
SOURCES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
MODULE_LINE = re.compile(r"^// Module: (\w+)$")


def includes_of(path):
    """Yields (line number, included path) for each include of a file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def module_of_public_headers(root, report):
    """Maps the include path of each public header to its module; the tables NAME.def count as headers."""
    sources = {}
    for module in MAY_INCLUDE.keys() - PROGRAMS:
        for path in sorted((root / module).rglob("*")):
            if path.suffix in (".cc", ".cu"):
                sources.setdefault(path.stem, set()).add(module)
    modules = dict(GENERATED)
    for path in sorted((root / "include").rglob("*.*")):
        name = path.relative_to(root / "include").as_posix().removesuffix(".in")
        stated = [m.group(1) for m in map(MODULE_LINE.match, path.read_text().splitlines()) if m]
        held = sources.get(path.name.split(".")[0], set())
        if stated:
            if stated[0] not in MAY_INCLUDE:
                report(path, 1, f"there is no module '{stated[0]}'")
            modules[name] = stated[0]
        elif len(held) == 1:
            modules[name] = next(iter(held))
        else:
            found = " and ".join(sorted(held)) if held else "no module"
            report(path, 1, f"{found} contains its source; add a line '// Module: NAME'")
    return modules


def check(root):
    errors = []

    def report(path, line, message):
        errors.append(f"{path.relative_to(root)}:{line}: {message}")

    public = module_of_public_headers(root, report)

    def check_file(path, module):
        allowed = MAY_INCLUDE.get(module, set()) | {module}
        is_public = path.is_relative_to(root / "include")
        for line, included in includes_of(path):
            top = included.split("/")[0]
            if included.startswith("pdl/"):
                target = public.get(included)
                if target is None:
                    report(path, line, f"there is no public header '{included}', or it has no module")
                elif target not in allowed:
                    report(path, line, f"'{module}' may not include '{included}' of module '{target}'")
            elif top in MAY_INCLUDE and "/" in included:
                if is_public:
                    report(path, line, f"a public header may not include the private '{included}'")
                elif module in PUBLIC_ONLY and top != module:
                    report(path, line, f"'{module}' may include public headers only, not '{included}'")
                elif top not in allowed:
                    report(path, line, f"'{module}' may not include '{included}'")

    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        module = folder.name
        if module in UNCHECKED or module.startswith((".", "build")):
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SOURCES:
                continue
            if module not in MAY_INCLUDE:
                report(path, 1, f"'{module}' is not in the table of modules, {pathlib.Path(__file__).name}")
                break
            check_file(path, module)
    for name, module in public.items():
        path = root / "include" / name
        if path.exists():
            check_file(path, module)
    return errors


def main():
    errors = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(errors) if errors else "every file includes only headers that its module may include")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
