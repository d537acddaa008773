#!/usr/bin/env bash
# wheel.sh BUILD PYTHON: makes a wheel, installs it in a fresh virtual environment, and runs its command, a training of
# two processes and the quick start of the README there. All libraries except glibc, those of g++ and MPI must come from
# the wheel or from NumPy's wheel.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 python=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'cat "$work/log"' ERR
touch "$work/log"

wheel=$("$root/python/make_wheel.sh" "$build" "$python" "$work/wheel")
echo "made $(basename "$wheel"), $(stat -c %s "$wheel") bytes"
"$python" -m venv "$work/venv"

# The command, where nothing else is installed.
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$wheel"
alone() { (cd / && env -i "PATH=$work/venv/bin" "$@"); }
version=$(sed -n 's/^project(pdl VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
[[ -n $version && $(alone pdl --version | head -1) == "pdl $version" ]]
[[ $(basename "$wheel") == "pdl_lang-$version-"* ]]
alone pdl run "$root/examples/digits/digits.pdl" --input "image=$root/examples/digits/images.npy" >"$work/digits"
grep -q '^digit: i64\[200\] =$' "$work/digits"
[[ $(echo 'sum([1.0, 2.0])' | alone pdl repl) == "f32[] = 3.0" ]]
status=0
alone pdl check /no/such/file.pdl 2>"$work/log" || status=$?
[[ $status == 1 ]]
echo "the command runs"

# Two processes train as one, by Gloo in the wheel and by the MPI of the system.
cat >"$work/line.pdl" <<'PDL'
input x: f32[N]
input t: f32[N]
param w: f32[] = ones()
loss = mean(square(w * x - t))
minimize loss with sgd(lr=0.01)
PDL
printf 'x,t\n1,2\n2,4\n3,6\n4,8\n' >"$work/line.csv"
train=(pdl train "$work/line.pdl" --data "$work/line.csv" --batch-size 4 --micro-batch 2 --epochs 3 -o)
trains_alike() { cmp "$work/$1/last.safetensors" "$work/alone/last.safetensors" && echo "two processes train with $1"; }
alone "${train[@]}" "$work/alone" >"$work/log" 2>&1
if [[ -f $build/lib/libpdl_gloo.so ]]; then
  for rank in 0 1; do
    alone "${train[@]}" "$work/gloo" --rank $rank --world 2 --rendezvous "$work/meet" >>"$work/log" 2>&1 &
  done
  wait %1
  wait %2
  trains_alike gloo
fi
for mpi in openmpi mpich; do
  if [[ -f $build/lib/libpdl_$mpi.so ]] && launcher=$(command -v mpirun.$mpi); then
    [[ $mpi == mpich ]] || launcher+=" --allow-run-as-root --oversubscribe"
    (cd / && PATH=$work/venv/bin:$PATH $launcher -n 2 "${train[@]}" "$work/$mpi") >"$work/log" 2>&1
    trains_alike $mpi
  fi
done

if ! "$work/venv/bin/pip" install -q --disable-pip-version-check --retries 2 "$wheel" 2>"$work/log"; then
  cat "$work/log"
  # Skipped without network access, since NumPy cannot be installed.
  grep -q "Could not find a version that satisfies the requirement numpy" "$work/log" && exit 77
  exit 1
fi

unset PYTHONPATH
cd "$work"
ln -s "$root/examples" examples
# The code blocks of the quick start in the README.
sed -n '/^```python$/,/^```$/{/^```/!p}' "$root/python/README.md" >quick_start.py
cat >>quick_start.py <<'PY'
import importlib.metadata
import subprocess
import sys

version = importlib.metadata.version("pdl-lang")
said = subprocess.run([sys.executable, "-m", "pdl", "--version"], capture_output=True, text=True).stdout
assert "message NetworkDesc" in open(pdl.proto_file()).read()
assert pdl.__version__ == version and said.startswith(f"pdl {version}\n"), (version, said)

here = sys.prefix
mapped = {line.split()[-1] for line in open("/proc/self/maps") if line.rstrip().endswith(".so") or ".so." in line}
system = ("ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++", "libgcc_s", "libutil")
own = [path for path in mapped if "/site-packages/" in path]
python = {path for path in mapped if "lib-dynload" in path or "libpython" in path or path.startswith(sys.base_prefix)}
others = [p for p in mapped - set(own) - python if not p.rsplit("/", 1)[-1].startswith(system)]
# System libraries that Python's own modules need.
needed_by_python = ("libz.so", "libssl", "libcrypto", "libffi", "libbz2", "liblzma", "libuuid", "libexpat")
foreign = [p for p in others if not p.rsplit("/", 1)[-1].startswith(needed_by_python)]
assert own and not foreign, foreign
PY
"$work/venv/bin/python" quick_start.py >out.txt
grep -q "hidden = fc(image, size=56" out.txt
echo "the quick start runs"
