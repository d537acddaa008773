#!/bin/sh
# run.sh PDL DEVICE: the tests of the operators on that device; 77 where there is no such device.
set -eu
pdl=$1 device=$2
ops=$(dirname "$0")
if ! echo 'output y = ones([1])' | "$pdl" run - --device="$device" >/dev/null 2>&1; then
  [ "$device" = cpu ] && exit 1
  echo "no device '$device'" && exit 77
fi
"$pdl" test "$ops" --device="$device" --as-written
"$pdl" test "$ops" --device="$device"
