#!/usr/bin/env python3
"""run_models.py FOLDER: runs the models of FOLDER in ONNX Runtime.

Each subfolder has `model.onnx` and its inputs as TensorProtos, `input_0.pb`, `input_1.pb`, and so on. It gets the
outputs as `output_0.pb` and so on, or `error.txt` with the reason why there are none. Models run in another process,
which is started again after a crash.

Exit status 77 where Python has no onnx or no onnxruntime.
"""

import pathlib
import subprocess
import sys

try:
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def tensors(folder, kind):
    """The names of existing files in order."""
    number = 0
    while (path := folder / f"{kind}_{number}.pb").exists():
        yield path
        number += 1


def run(folder):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # ONNX Runtime's operators, not its fusions.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    if any("bfloat16" in value.type for value in session.get_inputs() + session.get_outputs()):
        raise NotImplementedError("NOT_IMPLEMENTED: bf16 has no counterpart in NumPy")
    feeds = {}
    for path in tensors(folder, "input"):
        tensor = onnx.load_tensor(path)
        feeds[tensor.name] = onnx.numpy_helper.to_array(tensor)
    names = [output.name for output in session.get_outputs()]
    for number, (name, values) in enumerate(zip(names, session.run(names, feeds))):
        onnx.save_tensor(onnx.numpy_helper.from_array(values, name), folder / f"output_{number}.pb")


def work(folders):
    for folder in folders:
        try:
            run(folder)
        # Its exceptions have no common class.
        except Exception as error:  # pylint: disable=broad-exception-caught
            (folder / "error.txt").write_text(str(error))
        (folder / "done").touch()


def main(root):
    folders = sorted(pathlib.Path(root).iterdir())
    while folders:
        # The list is short enough for a command line.
        part = folders[:200]
        status = subprocess.run([sys.executable, __file__, "--worker", *map(str, part)], check=False).returncode
        rest = [folder for folder in part if not (folder / "done").exists()]
        if rest:
            (rest[0] / "error.txt").write_text(f"crashed with status {status}")
        folders = rest[1:] + folders[200:]


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        work(map(pathlib.Path, sys.argv[2:]))
    else:
        main(sys.argv[1])
