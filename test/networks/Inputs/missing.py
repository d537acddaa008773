"""missing.py PDL FOLDER LIST [--warnings]: checks networks whose operators may not all exist yet.

Each line of LIST is a file of FOLDER, options for `pdl check`, a colon, and the names of operators and
layers that do not exist, or of `grad`. No other error may be reported; warnings only with --warnings. Every .pdl file of
FOLDER must be listed; '!' precedes one that is not checked here.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

UNKNOWN = re.compile(r"no operator or layer is called '([^']*)'|'(grad)' is not part of this version yet")


def check(pdl, folder, words, wanted, warnings):
    """The problems of one network."""
    run = subprocess.run(
        [pdl, "check", "--diagnostics=json", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    missing, complaints = set(), []
    for line in run.stderr.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            complaints.append(line)
            continue
        unknown = UNKNOWN.match(found["message"])
        if found["severity"] == "error" and unknown:
            missing.add(unknown.group(1) or unknown.group(2))
        elif found["severity"] == "error" or not warnings:
            start = found.get("range", {}).get("start", {})
            place = f"{found.get('file', '')}:{start.get('line', '')}:{start.get('column', '')}"
            complaints.append(f"{place}: {found['severity']}: {found['message']} [{found['code']}]")
    if missing != set(wanted):
        complaints.append(f"missing are: {' '.join(sorted(missing))}; the list says: {' '.join(wanted)}")
    if run.returncode != (1 if missing else 0) and not complaints:
        complaints.append(f"exit status {run.returncode}")
    return complaints


def main(pdl, folder, listing, *options):
    failed, listed = False, set()
    for line in pathlib.Path(listing).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("!"):
            listed.add(line[1:].strip())
            continue
        words, _, names = line.rpartition(":")
        words = shlex.split(words)
        listed.add(words[0])
        for complaint in check(pdl, folder, words, names.split(), "--warnings" in options):
            failed = True
            print(f"{words[0]}: {complaint}")
    for path in sorted(pathlib.Path(folder).rglob("*.pdl")):
        name = path.relative_to(folder).as_posix()
        if name not in listed:
            failed = True
            print(f"{name}: is not in {listing}")
    return failed


sys.exit(main(*sys.argv[1:]))
