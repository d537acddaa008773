#!/usr/bin/env python3
"""Tests cmake/make_sbom.py on a build: sbom_test.py MAKE_SBOM BUILD. Exits with status 77, which ctest reports as skipped,
if there is no dpkg-query or no build.ninja."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT, BUILD = sys.argv[1:3]


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="pdl-test-") as folder:
            files = [Path(folder) / name for name in ("a.json", "b.json")]
            for file in files:
                subprocess.run([sys.executable, SCRIPT, BUILD, str(file)], check=True, stdout=subprocess.DEVNULL,
                               env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
            cls.texts = [file.read_text() for file in files]
        cls.document = json.loads(cls.texts[0])

    def test_same_bytes(self):
        self.assertEqual(*self.texts)
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")

    def test_fields_that_spdx_requires(self):
        for field in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
            self.assertTrue(self.document[field], field)
        ids = [self.document["SPDXID"]]
        for entry in self.document["packages"]:
            self.assertTrue(entry["name"] and entry["downloadLocation"])
            ids.append(entry["SPDXID"])
        for entry in self.document["files"]:
            self.assertTrue((Path(BUILD) / entry["fileName"]).exists())
            ids.append(entry["SPDXID"])
        self.assertEqual(len(ids), len(set(ids)))
        for name in ids:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for relationship in self.document["relationships"]:
            self.assertIn(relationship["spdxElementId"], ids)
            self.assertIn(relationship["relatedSpdxElement"], ids)

    def named(self, name, kind):
        """The names of the packages that a file has a relationship of some kind with."""
        file = next(entry for entry in self.document["files"] if name in entry["fileName"])["SPDXID"]
        names = {entry["SPDXID"]: entry["name"] for entry in self.document["packages"]}
        return {names[end] for relationship in self.document["relationships"]
                if relationship["relationshipType"] == kind
                for ends in [(relationship["spdxElementId"], relationship["relatedSpdxElement"])] if file in ends
                for end in ends if end != file}

    def test_what_libpdl_is_made_of(self):
        self.assertIn("llvm-19-dev", self.named("libpdl.so", "STATIC_LINK"))
        linked = " ".join(self.named("libpdl.so", "DYNAMIC_LINK"))
        for library in ("libprotobuf", "libdnnl", "libantlr4-runtime", "zlib1g"):
            self.assertIn(library, linked)
        # Templates only.
        self.assertIn("libeigen3-dev", self.named("libpdl.so", "BUILD_DEPENDENCY_OF"))
        self.assertNotIn("libgtest-dev", {entry["name"] for entry in self.document["packages"]})

    def test_every_library_that_is_loaded_has_a_package(self):
        for entry in self.document["files"]:
            path = Path(BUILD) / entry["fileName"]
            text = subprocess.run(["ldd", str(path)], check=True, capture_output=True, text=True).stdout
            needed = subprocess.run(["readelf", "-d", str(path)], check=True, capture_output=True, text=True).stdout
            linked = self.named(entry["fileName"], "DYNAMIC_LINK") | self.named(entry["fileName"], "STATIC_LINK")
            for name in re.findall(r"\(NEEDED\).*\[(.*)\]", needed):
                found = re.search(rf"^\s{re.escape(name)} => (/\S+)", text, re.MULTILINE)
                if found is None or name.startswith("libpdl"):
                    continue
                path = os.path.realpath(found.group(1))
                owner = subprocess.run(["dpkg-query", "-S", path, path.removeprefix("/usr")], capture_output=True,
                                       text=True).stdout
                if owner:
                    self.assertIn(owner.split(":")[0], linked, name)

    def test_debian_packages_have_versions_and_references(self):
        for entry in self.document["packages"]:
            if entry.get("supplier") == "Organization: Debian":
                self.assertTrue(entry["versionInfo"])
                self.assertRegex(entry["externalRefs"][0]["referenceLocator"], r"^pkg:deb/debian/\S+@\S+\?arch=\w+$")


if __name__ == "__main__":
    if shutil.which("dpkg-query") is None or not (Path(BUILD) / "build.ninja").exists():
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
