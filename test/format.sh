#!/usr/bin/env bash
# format.sh PDL [OPTION…]: runs `pdl fmt` on the .pdl files of this repository, except the sources of stored
# networks, and files that are wrong on purpose.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pdl=$1
shift
find . -path ./build -prune -o -name '.?*' -prune -o -path ./test/golden -prune -o \
  -type d \( -name broken -o -name mistakes -o -name Inputs \) -prune -o \
  -name '*.pdl' -type f -print0 | sort -z | xargs -0 -r "$pdl" fmt "$@"
