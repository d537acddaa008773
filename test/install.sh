#!/usr/bin/env bash
# install.sh BUILD: installs to an empty prefix, moves it, and builds and tests each example that is a CMake project
# against it. Examples that are not plugins are built as on a machine without LLVM's headers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log" && exit 1; }
mv "$work/first" "$work/moved"
"$work/moved/bin/pdl" version

for list in "$root"/examples/*/CMakeLists.txt; do
  [[ -e $list ]] || continue
  example=$(basename "$(dirname "$list")")
  echo "== examples/$example"
  cmake -G Ninja -S "$root/examples/$example" -B "$work/$example" --log-level=WARNING \
    -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" \
    -Dpdl_NO_LLVM_HEADERS="$(grep -q pdl_add_plugin "$list" && echo OFF || echo ON)"
  cmake --build "$work/$example"
  ctest --test-dir "$work/$example" --output-on-failure --no-tests=error
done
