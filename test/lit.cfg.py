"""Configuration of lit, which runs the RUN lines of each test in this folder, with these substitutions:

%pdl        the program
%test       this folder
%examples   the folder examples/
%docs       the folder docs/
%python     a Python interpreter, which has numpy only where the feature torch is required
%lib        the folder of the tests' plugins
FileCheck, not, count and split-file are in PATH.

Features for REQUIRES and UNSUPPORTED: cuda (the program can use a GPU), asan, tsan, protoc
(with the .proto file), dev-full, tmpfs, git, plugins (those of the tests were built), torch (the Python packages
torch and numpy are installed), transformers (the Python packages transformers and torch are installed).
"""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys

import lit.formats


def has_gpu():
    """Whether the program was built for CUDA and the driver shows a device."""
    if not os.path.exists(config.pdl_build + "/lib/libpdl_cuda.so"):
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def has_landlock():
    """Whether the kernel has Landlock, which --sandbox requires."""
    version = 1  # the flag of landlock_create_ruleset, system call 444, that asks for it
    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), version) >= 1


def can_mount():
    """Whether tests can mount file systems, which mostly requires root."""
    unshare = shutil.which("unshare")
    command = "mkdir -p /tmp && mount -t tmpfs -o size=4k tmpfs /tmp"
    return unshare is not None and subprocess.run([unshare, "-m", "sh", "-c", command], stderr=subprocess.DEVNULL).returncode == 0


config.name = "pdl"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pdl", ".test"]
config.excludes = ["Inputs", "broken", "cc", "faults", "golden", "ops", "round_trip", "soak"]
config.test_source_root = config.pdl_source + "/test"
config.test_exec_root = config.pdl_build + "/test"

config.environment["PATH"] = os.pathsep.join([config.pdl_tools, config.environment["PATH"]])
if config.pdl_library_path:
    config.environment["LD_LIBRARY_PATH"] = config.pdl_library_path
for name in ("HOME", "CUDA_VISIBLE_DEVICES", "DNNL_MAX_CPU_ISA", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%pdl", config.pdl_build + "/bin/pdl"),
    ("%test", config.test_source_root),
    ("%examples", config.pdl_source + "/examples"),
    ("%lib", config.pdl_build + "/test/lib"),
    ("%docs", config.pdl_source + "/docs"),
    ("%python", sys.executable),
]

if has_gpu():
    config.available_features.add("cuda")
if shutil.which("protoc", path=config.environment["PATH"]) and os.path.exists(config.pdl_source + "/proto"):
    config.available_features.add("protoc")
if shutil.which("git", path=config.environment["PATH"]):
    config.available_features.add("git")
if os.path.exists(config.pdl_build + "/test/lib"):
    config.available_features.add("plugins")
if importlib.util.find_spec("torch") and importlib.util.find_spec("numpy"):
    config.available_features.add("torch")
if importlib.util.find_spec("transformers") and importlib.util.find_spec("torch"):
    config.available_features.add("transformers")
if has_landlock():
    config.available_features.add("landlock")
if can_mount():
    config.available_features.add("tmpfs")
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
if config.pdl_sanitize:
    # A sanitizer reserves more address space than any limit allows.
    config.environment["PDL_NO_ADDRESS_LIMIT"] = "1"
if "address" in config.pdl_sanitize:
    config.available_features.add("asan")
if "thread" in config.pdl_sanitize:
    config.available_features.add("tsan")
    config.environment["PDL_THREAD_SANITIZER"] = "1"
