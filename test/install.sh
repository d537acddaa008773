#!/usr/bin/env bash
# install.sh BUILD: installs to an empty prefix, moves it, and builds and tests each example that is a CMake project
# against it, and the C program of examples/embed with the flags of pkg-config. Examples that are not plugins are built as
# on a machine without LLVM's headers.
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

echo "== examples/embed, with pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name pdl.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -Wall -Werror -o "$work/c" "$root/examples/embed/main.c" $(pkg-config --cflags --libs pdl) \
  -Wl,-rpath,"$(pkg-config --variable=libdir pdl)"
"$work/moved/bin/pdl" compile "$root/examples/embed/model.pdl" -o "$work/model.pdlc"
(cd "$work" && ./c)
[[ $(pkg-config --modversion pdl) == "$("$work/moved/bin/pdl" version | sed -n '1s/^pdl \([0-9.]*\).*/\1/p')" ]]
