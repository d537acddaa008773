#!/usr/bin/env python3
"""Writes a software bill of materials (SPDX 2.3, JSON) of a build: which packages the libraries and programs contain.

    make_sbom.py BUILD [FILE]

The packages are found in what the build has read, not in a list: the archives of each link, the shared libraries that
each result needs, the headers that the compiler reports, and the packages of Debian or PyPI that these files are from.
Files of no package belong to the folder that they are installed in, such as CUDA's. The same build gives the same bytes: the time is that of the commit, or SOURCE_DATE_EPOCH.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

PROGRAMS = ["bin/pdl", "lib/libpdl.so.*.*.*", "lib/libpdl_cuda.so", "lib/libpdl_openmpi.so", "lib/libpdl_mpich.so",
            "lib/libpdl_gloo.so", "python/pdl/_pdl*.so"]
# How a program depends on packages: by archives, shared libraries, headers. Of several ways, the first one counts.
WAYS = ["STATIC_LINK", "DYNAMIC_LINK", "BUILD_DEPENDENCY_OF"]
# Short names of licenses in Debian's copyright files, and those of SPDX.
LICENSES = {
    "Apache-2.0": "Apache-2.0", "Apache-2": "Apache-2.0", "Apache-2.0 with LLVM-exception": "Apache-2.0 WITH LLVM-exception",
    "Apache-2.0 WITH LLVM-exception": "Apache-2.0 WITH LLVM-exception", "APL-2-LLVM": "Apache-2.0 WITH LLVM-exception",
    "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-3-Clause": "BSD-3-Clause",
    "BSD-3-Clause~Google": "BSD-3-Clause", "Expat": "MIT", "MIT": "MIT", "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later", "MPL-2": "MPL-2.0", "MPL-2.0": "MPL-2.0", "Zlib": "Zlib", "zlib": "Zlib",
}
UNKNOWN = "NOASSERTION"


def output(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


class Packages:
    """Finds the packages of files."""

    def __init__(self):
        self.names = {}  # by file
        self.has_dpkg = subprocess.run(["sh", "-c", "command -v dpkg-query"], capture_output=True).returncode == 0

    def find(self, files):
        """Looks up many files at once."""
        real = {file: os.path.realpath(file) for file in files}
        # Packages list a file below /lib or /usr/lib, which are the same folder.
        listed = {}
        for path in set(real.values()):
            listed[path] = path
            if path.startswith("/usr/lib/"):
                listed[path.removeprefix("/usr")] = path
        if self.has_dpkg and listed:
            done = subprocess.run(["dpkg-query", "-S", *sorted(listed)], capture_output=True, text=True)
            for line in done.stdout.splitlines():
                packages, _, path = line.rpartition(": ")
                if path in listed:
                    self.names.setdefault(listed[path], packages.split(",")[0].strip())
        return {file: self.names.get(path) or self.installed_in(path) for file, path in real.items()}

    @staticmethod
    def installed_in(path):
        """The package of PyPI that a file is from, or else the folder that it is installed in."""
        parts = pathlib.Path(path).parts
        if "site-packages" in parts:
            return "pypi:" + os.sep.join(parts[:parts.index("site-packages") + 2])
        for folder in pathlib.Path(path).parents:
            if folder.name in ("include", "lib", "lib64", "targets"):
                return str(folder.parent)
        return str(pathlib.Path(path).parent)


def license_of(name):
    """The license of all files of a Debian package, if its copyright file can be read by programs."""
    try:
        text = pathlib.Path(f"/usr/share/doc/{name}/copyright").read_text(errors="replace")
    except OSError:
        return UNKNOWN
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(\S+?):[ \t]*(.*)$", paragraph, re.MULTILINE))
        if fields.get("Files") == "*" and fields.get("License"):
            return LICENSES.get(fields["License"].strip(), UNKNOWN)
    return UNKNOWN


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def purl(text):
    """A reference in the form of https://github.com/package-url/purl-spec."""
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:" + text}


def describe(name):
    """The SPDX package for a name that Packages.find returned."""
    package = {"SPDXID": identifier("Package-" + name.strip("/").replace(os.sep, "-")), "name": name,
               "downloadLocation": UNKNOWN, "filesAnalyzed": False, "licenseConcluded": UNKNOWN,
               "licenseDeclared": UNKNOWN, "copyrightText": UNKNOWN}
    if name.startswith("pypi:"):
        folder = pathlib.Path(name.removeprefix("pypi:"))
        package.update(SPDXID=identifier(f"Package-pypi-{folder.name}"), name=folder.name)
        for metadata in folder.parent.glob(f"{folder.name}-*.dist-info"):
            package["versionInfo"] = metadata.name.removesuffix(".dist-info").split("-")[1]
            package["externalRefs"] = [purl(f"pypi/{folder.name}@{package['versionInfo']}")]
        return package
    if name.startswith("/"):
        package["comment"] = "installed without a package of the system"
        if pathlib.Path(name).name.startswith("cuda"):
            package.update(name="NVIDIA CUDA Toolkit", supplier="Organization: NVIDIA")
            version = re.search(r"\d+\.\d+", pathlib.Path(name).name)
            if version:
                package["versionInfo"] = version.group()
        return package
    plain, form = name.split(":")[0], "${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Homepage}"
    version, architecture, source, source_version, homepage = output("dpkg-query", "-W", "-f", form, name).split("\t")
    package.update(name=plain, versionInfo=version, supplier="Organization: Debian", licenseDeclared=license_of(plain))
    package["sourceInfo"] = f"built from the source package {source} {source_version}"
    if homepage:
        package["homepage"] = homepage
    escaped = version.replace("+", "%2B").replace(":", "%3A")
    package["externalRefs"] = [purl(f"deb/debian/{plain}@{escaped}?arch={architecture}")]
    return package


def read_by(build, root, program):
    """The archives and headers that a program is made of, and the shared libraries that it needs, outside of the build."""
    own = re.compile(r"^lib/libpdl.*\.so")

    def inputs_of(target):
        return output("ninja", "-C", build, "-t", "inputs", target).splitlines()

    # Inputs of the own libraries are listed, too; they belong to these libraries.
    inputs = inputs_of(program)
    libraries = [name for name in inputs if own.match(name) and name != program]
    inputs = set(inputs).difference(*map(inputs_of, libraries))
    archives = {file for file in inputs if file.startswith("/") and file.endswith(".a")}
    objects = sorted(file for file in inputs if file.endswith(".o"))
    headers = set()
    for begin in range(0, len(objects), 500):
        for line in output("ninja", "-C", build, "-t", "deps", *objects[begin:begin + 500]).splitlines():
            path = pathlib.Path(os.path.normpath(os.path.join(build, line.strip())))
            is_own = path.is_relative_to(root) and "site-packages" not in path.parts
            if line.startswith("    ") and not is_own:
                headers.add(str(path))
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", build / program)))
    # With the paths where the dynamic linker finds them.
    loaded = re.findall(r"^\s(\S+) => (/\S+)", output("ldd", build / program), re.MULTILINE)
    shared = {path for name, path in loaded if name in needed and not name.startswith("libpdl")}
    return archives, shared, headers


def file_entry(build, path):
    content = path.read_bytes()
    return {"SPDXID": identifier("File-" + path.name), "fileName": "./" + str(path.relative_to(build)),
            "checksums": [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, content).hexdigest()}
                          for kind in ("sha1", "sha256")],
            "fileTypes": ["BINARY"], "licenseConcluded": "Apache-2.0", "copyrightText": UNKNOWN}


def verification_code(entries):
    """SPDX 2.3, 7.9: the SHA-1 of the sorted SHA-1s of all files."""
    sums = sorted(sum["checksumValue"] for entry in entries for sum in entry["checksums"] if sum["algorithm"] == "SHA1")
    return {"packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()}


def created(root):
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", root, "log", "-1", "--format=%ct").strip()
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(build):
    root = pathlib.Path(__file__).resolve().parent.parent
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text()).group(1)
    files = [path for pattern in PROGRAMS for path in sorted(build.glob(pattern)) if not path.is_symlink()]
    if not files:
        sys.exit(f"there is no program of pdl in {build}")
    packages, found, ways = Packages(), {}, {}
    for file in files:
        groups = read_by(build, root, str(file.relative_to(build)))
        names = packages.find([path for group in groups for path in group])
        for way, group in zip(WAYS, groups):
            for name in {names[path] for path in group}:
                ways.setdefault((file.name, name), way)
                if name not in found:
                    found[name] = describe(name)
    entries = [file_entry(build, file) for file in files]
    own = {"SPDXID": "SPDXRef-Package-pdl", "name": "pdl-lang", "versionInfo": version, "downloadLocation": UNKNOWN,
           "filesAnalyzed": True, "packageVerificationCode": verification_code(entries),
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": UNKNOWN}
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": own["SPDXID"]}]
    for entry in entries:
        relationships.append({"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS",
                              "relatedSpdxElement": entry["SPDXID"]})
    for (file, name), way in sorted(ways.items()):
        ends = [identifier("File-" + file), found[name]["SPDXID"]]
        if way == WAYS[2]:
            ends.reverse()
        relationships.append({"spdxElementId": ends[0], "relationshipType": way, "relatedSpdxElement": ends[1]})
    content = {"packages": [own, *(found[name] for name in sorted(found))], "files": entries,
               "relationships": relationships}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"pdl-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/pdl-{version}-{digest[:32]}",
            "creationInfo": {"created": created(root), "creators": ["Tool: pdl-make_sbom"]}, **content}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else build / "pdl.spdx.json"
    target.write_text(json.dumps(make(build), indent=1) + "\n")
    print(target)


if __name__ == "__main__":
    main()
