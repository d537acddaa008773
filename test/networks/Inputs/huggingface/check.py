"""check.py PDL EXAMPLES CHECKPOINTS FOLDER: loads each checkpoint of CHECKPOINTS (see make.py) into its network of
EXAMPLES by a few lines of source in FOLDER, and compares the logits."""

import array
import pathlib
import shutil
import subprocess
import sys

# The input, the values of attrs, and the options of load.
NETWORKS = {
    "llama": (
        "ids: i64[N, T] in 0..50",
        "vocabulary=50, width=16, hidden=24, depth=2, heads=4, kv_heads=2",
        '{cast=true, rename={"model": ""}, transpose=["*_proj.weight", "lm_head.weight"]}',
    ),
    "bert": (
        "ids: i64[N, T] in 0..50",
        "vocabulary=50, width=32, hidden=48, depth=2, heads=4, positions=64",
        '{cast=true, rename={"encoder.layer": "encoder.block"}, '
        'transpose=["*.dense.weight", "*.query.weight", "*.key.weight", "*.value.weight"]}',
    ),
    "gpt2": ("ids: i64[N, T] in 0..50", "vocabulary=50, width=32, depth=2, heads=4, positions=64", "{cast=true}"),
    "vit": (
        "image: f32[N, 3, 16, 16]",
        "classes=10, size=16, patch=4, width=32, hidden=48, depth=2, heads=4",
        '{cast=true, rename={"encoder.layer": "encoder.block"}, '
        'transpose=["*.dense.weight", "*.query.weight", "*.key.weight", "*.value.weight", "classifier.weight"]}',
    ),
}


def floats(path):
    """The elements of a .npy file of f32."""
    data = path.read_bytes()
    assert b"'<f4'" in data[:80], path
    elements = array.array("f")
    elements.frombytes(data[10 + int.from_bytes(data[8:10], "little") :])
    return elements


def check(pdl, examples, checkpoint, place, file):
    """The largest difference of the logits; loads `file`, a name in the folder of the checkpoint."""
    declared, settings, options = NETWORKS[checkpoint.name]
    shutil.copytree(checkpoint, place, dirs_exist_ok=True)
    for source in examples.glob("*.pdl"):
        shutil.copy(source, place)
    name = declared.partition(":")[0]
    (place / "main.pdl").write_text(
        f'import "{checkpoint.name}.pdl" as network\n'
        f"input {declared}\n"
        f"layer model = network({settings})\n"
        f'load "{file}" into model with {options}\n'
        f"output logits = model({name}).logits\n"
    )
    command = [pdl, "run", "main.pdl", "--input", "inputs.npz", "--output", "logits=found.npy"]
    run = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stderr:
        print(f"{checkpoint.name}: {run.stderr}")
        return float("inf")
    found, expected = floats(place / "found.npy"), floats(place / "logits.npy")
    # nan is not within any tolerance.
    differences = [abs(a - b) if a == a else float("inf") for a, b in zip(found, expected, strict=True)]
    return max(differences)


def main(pdl, examples, checkpoints, folder):
    failed = False
    for checkpoint in sorted(pathlib.Path(checkpoints).iterdir()):
        if not checkpoint.is_dir():
            continue
        for file in ("model.safetensors.index.json", "model-*.safetensors"):
            place = pathlib.Path(folder, checkpoint.name)
            difference = check(pdl, pathlib.Path(examples), checkpoint, place, file)
            print(f"{checkpoint.name} from {file}: {difference:.2g}")
            failed |= not difference <= 1e-4
    sys.exit(1 if failed else 0)


main(*sys.argv[1:])
