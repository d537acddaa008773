#!/usr/bin/env bash
# make_wheel.sh BUILD PYTHON FOLDER: a wheel of the build in BUILD, with the C++ libraries that it needs
# inside, but for those of glibc, of g++ and of CUDA. PYTHON has what requirements.txt lists. Prints
# the path of the wheel.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd) python=$2 folder=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export PATH=$(dirname "$python"):$PATH
PDL_BUILD=$build "$python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation \
  -w "$work/raw" "$root" >&2
mkdir -p "$folder"
rm -f "$folder"/pdl-*.whl
"$python" -m auditwheel -v repair --strip --exclude 'libcu*' --exclude 'libnv*' -w "$folder" \
  "$work"/raw/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
ls "$folder"/pdl-*.whl
