#!/usr/bin/env bash
# bundle.sh BUILD FILE packs everything that another machine needs to run the tests into FILE, a .tar.xz: the
# program, its shared libraries, the tests, and lit with its tools. The machine must have Python, glibc
# (Debian 12's or newer), and for a GPU the driver and the CUDA libraries.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1 file=$2
limit=$((40 * 1000 * 1000))
llvm=$(sed -n 's/^config.pdl_tools = "\(.*\)"$/\1/p' "$build/test/lit.site.cfg.py")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/pdl-tests
mkdir -p "$top"/{bin,lib,tools,test/bin,examples}

install -m 755 "$build/bin/pdl" "$top/bin/"
install -m 755 "$llvm"/{FileCheck,not,count,split-file} "$top/tools/"
if compgen -G "$build/test/bin/*" >/dev/null; then
  install -m 755 "$build"/test/bin/* "$top/test/bin/"
fi
soname=$(objdump -p "$build/lib/libpdl.so" | sed -n 's/^ *SONAME *//p')
install -m 755 "$build/lib/libpdl.so" "$top/lib/$soname"
if [[ -e $build/lib/libpdl_cuda.so ]]; then
  install -m 755 "$build/lib/libpdl_cuda.so" "$top/lib/"
fi

# Their shared libraries, except those of glibc, CUDA and its driver.
find "$top" -type f -perm /100 -print0 | xargs -0 -n 1 ldd |
  sed -n 's/^[[:space:]]*[^ ]* => \(\/[^ ]*\) .*/\1/p' | sort -u |
  while read -r library; do
    case ${library##*/} in
      ld-linux* | libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | libresolv.so*) ;;
      libcublas* | libcudnn* | libcuda* | libnvrtc* | libnvJitLink* | "$soname") ;;
      *) install -m 644 "$library" "$top/lib/" ;;
    esac
  done
find "$top" -type f -perm /100 -print0 | xargs -0 strip --strip-unneeded

# The tests (files that git does not ignore), and lit.
git -C "$root" ls-files -z -co --exclude-standard -- test examples docs |
  tar -C "$root" --null --files-from=- -c | tar -C "$top" -x
cp -rL "$llvm/../build/utils/lit" "$top/lit"
find "$top/lit" -name __pycache__ -prune -exec rm -r {} +
rm -rf "$top/lit/tests" "$top/lit/examples"
install -m 755 "$root/test/run-tests.sh" "$top/"
cat >"$top/test/lit.site.cfg.py" <<'PY'
import os

top = os.environ["PDL_BUNDLE"]
config.pdl_source = top
config.pdl_build = top
config.pdl_tools = top + "/tools"
config.pdl_sanitize = ""
config.pdl_library_path = os.environ["PDL_LIBRARY_PATH"]

lit_config.load_config(config, top + "/test/lit.cfg.py")
PY
if [[ -e $top/lib/libpdl_cuda.so ]]; then
  objdump -p "$top/lib/libpdl_cuda.so" | sed -n 's/^ *NEEDED *\(lib\(cu\|nv\).*\)/\1/p' >"$top/cuda-libraries"
fi

tar -C "$work" --sort=name --owner=0 --group=0 -c pdl-tests | xz -9e -T0 >"$file.new"
size=$(stat -c %s "$file.new")
if ((size >= limit)); then
  echo "bundle: $size bytes exceed the limit of $limit bytes" >&2
  rm "$file.new"
  exit 1
fi
mv "$file.new" "$file"
echo "$file: $size bytes"
