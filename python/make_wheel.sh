#!/usr/bin/env bash
# make_wheel.sh BUILD PYTHON FOLDER [OTHER…]: makes a wheel of the build in BUILD, with its program and the C++ libraries that it
# needs except those of glibc, g++, CUDA and MPI. PYTHON must have the packages in requirements.txt. The module is built
# again for each OTHER, a CPython with headers; the packages for that come from PyPI. Prints the paths of the wheels.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd) python=$2 folder=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export PATH=$(dirname "$python"):$PATH PDL_BUILD=$build
wheel() { "$@" -w "$work/raw" "$root" >&2; }
wheel "$python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation
for other; do
  wheel "$other" -m pip wheel -q --disable-pip-version-check --no-deps
done
mkdir -p "$folder"
rm -f "$folder"/pdl_lang-*.whl
for raw in "$work"/raw/*.whl; do
  "$python" -m auditwheel -v repair --strip --exclude 'libcu*' --exclude 'libnv*' \
    --exclude 'libmpi*' -w "$folder" \
    "$raw" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
done
ls "$folder"/pdl_lang-*.whl
