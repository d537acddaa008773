#!/usr/bin/env python3
"""Tests that the results of a build have the properties that cmake/PdlHarden.cmake asks for: hardening_test.py READELF BUILD.
Exits with status 77, which ctest reports as skipped, if there is no readelf."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

READELF, BUILD = sys.argv[1], Path(sys.argv[2])
PROGRAMS = [BUILD / "bin/pdl"]
LIBRARIES = sorted(path for folder in ("lib", "python/pdl") for path in (BUILD / folder).glob("*.so")
                   if not path.is_symlink() or path.name == "libpdl.so")


def readelf(option, path):
    return subprocess.run([READELF, option, "-W", str(path)], check=True, capture_output=True, text=True).stdout


def imports(path):
    """Names of the functions that the file takes from other libraries, without version."""
    return set(re.findall(r" UND ([^@\s]+)", readelf("--dyn-syms", path)))


class Hardening(unittest.TestCase):
    def test_files_are_there(self):
        self.assertTrue(PROGRAMS[0].exists())
        self.assertIn(BUILD / "lib/libpdl.so", LIBRARIES)

    def check(self, option, pattern, files, is_there=True):
        for path in files:
            with self.subTest(file=path.name):
                self.assertEqual(re.search(pattern, readelf(option, path)) is not None, is_there,
                                 f"{pattern} in the output of readelf {option}")

    def test_tables_of_addresses_are_read_only(self):
        self.check("-d", r"\bNOW\b", PROGRAMS + LIBRARIES)
        self.check("-l", r"\bGNU_RELRO\b", PROGRAMS + LIBRARIES)

    def test_the_library_stays_loaded(self):
        self.check("-d", r"\bNODELETE\b", [BUILD / "lib/libpdl.so"])

    def test_no_memory_is_writable_and_executable(self):
        self.check("-l", r"GNU_STACK .* RW ", PROGRAMS + LIBRARIES)
        self.check("-l", r"LOAD .* RWE", PROGRAMS + LIBRARIES, is_there=False)
        self.check("-d", "TEXTREL", PROGRAMS + LIBRARIES, is_there=False)

    def test_programs_are_loaded_at_random_addresses(self):
        self.check("-h", r"Type:\s+DYN", PROGRAMS)

    def test_code_is_compiled_with_checks(self):
        for path in PROGRAMS + [BUILD / "lib/libpdl.so"]:
            with self.subTest(file=path.name):
                names = imports(path)
                for pattern in ("__stack_chk_fail", r"_ZSt21__glibcxx_assert_fail\w+", r"__\w+_chk"):
                    self.assertTrue(any(re.fullmatch(pattern, name) for name in names), f"no call of {pattern}")


if __name__ == "__main__":
    if not shutil.which(READELF):
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
