#!/usr/bin/env bash
# Runs the tests of a bundle (./dev bundle) where it was unpacked: ./run-tests.sh [lit argument…]
#
# CUDA's libraries are searched for in CUDA_HOME, in the dynamic linker's search path, below /usr/local/cuda*, and
# in the folders nvidia/* of Python packages, where PyTorch installs them. PYTHON names the interpreter.
set -uo pipefail
PDL_BUNDLE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PDL_BUNDLE PDL_LIBRARY_PATH=$PDL_BUNDLE/lib
python=${PYTHON:-python3}

cuda_folders() {
  [[ -z ${CUDA_HOME:-} ]] || printf '%s\n' "$CUDA_HOME"/{lib64,lib}
  printf '%s\n' /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /usr/local/cuda-*/targets/*/lib
  "$python" - <<'PY'
import glob, site, sys
for folder in dict.fromkeys(sys.path + site.getsitepackages() + [site.getusersitepackages()]):
    if folder:
        print("\n".join(sorted(glob.glob(glob.escape(folder) + "/nvidia/*/lib"))))
PY
}

if [[ -e $PDL_BUNDLE/cuda-libraries ]]; then
  mapfile -t folders < <(cuda_folders)
  while read -r library; do
    if ldconfig -p 2>/dev/null | grep -qF "$library"; then continue; fi
    found=
    for folder in "${folders[@]}"; do
      [[ -n $folder && -e $folder/$library ]] && found=$folder && break
    done
    if [[ -z $found ]]; then
      echo "$library was not found; set CUDA_HOME to the folder whose lib or lib64 holds it" >&2
    elif [[ :$PDL_LIBRARY_PATH: != *:$found:* ]]; then
      PDL_LIBRARY_PATH+=:$found
    fi
  done <"$PDL_BUNDLE/cuda-libraries"
fi
echo "libraries: $PDL_LIBRARY_PATH"
echo "device: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo none)"

failed=0 count=0
for device in cpu cuda; do
  status=0
  LD_LIBRARY_PATH=$PDL_LIBRARY_PATH "$PDL_BUNDLE/test/ops/run.sh" "$PDL_BUNDLE/bin/pdl" $device || status=$?
  ((status == 77)) && continue
  count=$((count + 1))
  if ((status != 0)); then
    echo "FAILED: operators on $device"
    failed=$((failed + 1))
  fi
done
for program in "$PDL_BUNDLE"/test/bin/*; do
  [[ -x $program ]] || continue
  count=$((count + 1))
  if ! (cd "$PDL_BUNDLE/test" && LD_LIBRARY_PATH=$PDL_LIBRARY_PATH "$program" --gtest_brief=1); then
    echo "FAILED: ${program##*/}"
    failed=$((failed + 1))
  fi
done
echo "$((count - failed)) of $count test programs passed"

"$python" "$PDL_BUNDLE/lit/lit.py" -sv "$@" "$PDL_BUNDLE/test" || failed=$((failed + 1))
((failed == 0))
