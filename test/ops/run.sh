#!/bin/sh
# run.sh PDL DEVICE: the tests of the operators on that device; 77 where there is no such device.
set -eu
pdl=$1 device=$2
ops=$(dirname "$0")
# Operators and layers without kernels on CUDA, see docs/limits.md.
cpu_only=" cholesky cofactor det eigh expm inverse lstsq matrix_power pinv qr slogdet solve svd triangular_solve "
if ! echo 'output y = ones([1])' | "$pdl" run - --device="$device" >/dev/null 2>&1; then
  [ "$device" = cpu ] && exit 1
  echo "no device '$device'" && exit 77
fi
set --
for file in "$ops"/*.pdl; do
  case "$device $cpu_only" in
    cuda*" $(basename "$file" .pdl) "*) ;;
    *) set -- "$@" "$file" ;;
  esac
done
"$pdl" test "$@" --device="$device" --as-written
"$pdl" test "$@" --device="$device"
