"""Runs networks with random weights by the program `pdl`, and compares the results with those of PyTorch."""

import json
import pathlib
import re
import shlex
import subprocess

import numpy as np
import torch

DTYPES = {"F32": np.float32, "I64": np.int64}


class Failed(Exception):
    """The program reported an error."""


def call(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failed(f"{shlex.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return run.stdout


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, tensor in tensors.items():
        assert tensor.dtype == np.float32
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(map(np.ndarray.tobytes, tensors.values())))


def read_safetensors(path):
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__" and entry["dtype"] in DTYPES:
            first, last = entry["data_offsets"]
            flat = np.frombuffer(data[begin + first : begin + last], DTYPES[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def cookbook(docs, heading, index=0):
    """A block of source from a section of the cookbook."""
    _, section = pathlib.Path(docs, "cookbook.md").read_text().split(f"\n## {heading}\n", 1)
    return re.findall(r"^```pdl[^\n]*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[index]


class Network:
    """Source in `folder`, with random parameters: `values` as arrays, `weights` as tensors of PyTorch.

    `copies` has pairs of the names of a layer and of a state that is a copy of it, which gets values of its own.
    """

    def __init__(self, pdl, folder, source, settings=(), copies=(), seed=0):
        self.pdl, self.folder, self.source = pdl, pathlib.Path(folder), source
        self.settings = [f"--set={setting}" for setting in settings]
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "model.pdl").write_text(source)
        listing = call([pdl, "check", "-v", "model.pdl", *self.settings], self.folder)
        dims = re.findall(r"^  (\S+) +f32\[([\d, ]*)\]", listing, re.MULTILINE)
        self.parameters = [name for name, _ in dims]
        assert self.parameters, listing
        shapes = {name: tuple(int(size) for size in sizes.split(", ") if size) for name, sizes in dims}
        for layer, copy in copies:
            own = [name for name in self.parameters if name.startswith(layer + ".")]
            shapes.update({copy + name[len(layer) :]: shapes[name] for name in own})
        generator = np.random.default_rng(seed)
        self.values = {name: self._random(generator, name, shape) for name, shape in shapes.items()}
        # In f64, so that differences are the errors of pdl.
        self.weights = {name: torch.tensor(value.astype(np.float64)) for name, value in self.values.items()}
        for name in self.parameters:
            self.weights[name].requires_grad_()
        self._write_weights()

    def _write_weights(self):
        write_safetensors(self.folder / "weights.safetensors", self.values)

    def set(self, name, value):
        """Gives a parameter another value."""
        self.values[name] = value
        with torch.no_grad():
            self.weights[name].copy_(torch.tensor(value))
        self._write_weights()

    @staticmethod
    def _random(generator, name, shape):
        value = generator.standard_normal(shape)
        if len(shape) <= 1:
            value *= 0.3
        else:
            value /= np.prod(shape[1:] if len(shape) == 4 else shape[-2:-1]) ** 0.5
        if re.search(r"\.gamma$|\.skip$|(norm|ln)\w*\.weight$", name, re.IGNORECASE):
            value += 1
        return value.astype(np.float32)

    def tensors(self, inputs):
        """The inputs as tensors of PyTorch, in f64; also writes them for the program."""
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        np.savez(self.folder / "inputs.npz", **arrays)
        return {
            name: torch.tensor(array.astype(np.float64) if array.dtype == np.float32 else array)
            for name, array in arrays.items()
        }

    def run(self, inputs, outputs, lines=""):
        """The outputs, and the gradients of the value `loss` with respect to all parameters; `lines` are added to the
        source."""
        names = [f"gradient_{i}" for i in range(len(self.parameters))]
        asked = {name: name for name in outputs}
        asked.update({f"gradient of {p}": name for p, name in zip(self.parameters, names)})
        text = f"{self.source}\n{lines}\n"
        text += f"{', '.join(names)} = grad(loss, [{', '.join(self.parameters)}])\n"
        text += f"output {', '.join(names)}\n"
        (self.folder / "run.pdl").write_text(text)
        self.tensors(inputs)
        command = [self.pdl, "run", "run.pdl", "--input=inputs.npz", "--weights=weights.safetensors", *self.settings]
        call(command + [f"--output={name}={name}.npy" for name in asked.values()], self.folder)
        return {key: np.load(self.folder / f"{name}.npy") for key, name in asked.items()}

    def run_other(self, source, inputs, outputs, layer):
        """The outputs of a network that uses this one, `import "model.pdl"`, as `layer`."""
        (self.folder / "run.pdl").write_text(source)
        self.tensors(inputs)
        write_safetensors(self.folder / "layer.safetensors", {f"{layer}.{n}": v for n, v in self.values.items()})
        command = [self.pdl, "run", "run.pdl", "--input=inputs.npz", "--weights=layer.safetensors"]
        call(command + [f"--output={name}={name}.npy" for name in outputs], self.folder)
        return {name: np.load(self.folder / f"{name}.npy") for name in outputs}

    def train(self, inputs, steps, batch_size):
        """The parameters after some steps."""
        self.tensors(inputs)
        options = [f"--steps={steps}", f"--batch-size={batch_size}", "--no-shuffle", "--overwrite", "--out=out"]
        command = [self.pdl, "train", "model.pdl", "--data=inputs.npz", "--weights=weights.safetensors", *options]
        call(command + self.settings, self.folder)
        return read_safetensors(self.folder / "out" / "last.safetensors")

    def gradients(self, loss):
        """The gradients that PyTorch computes, with the names that `run` gives them."""
        grads = torch.autograd.grad(loss, [self.weights[p] for p in self.parameters], materialize_grads=True)
        return {f"gradient of {p}": g for p, g in zip(self.parameters, grads)}


def error(found, expected):
    """The largest difference of two sets of arrays with equal names, in relation to the largest element of an array (or
    to a hundredth of that of all gradients, since some are small differences of large terms). Integers and sizes must be
    equal."""
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    arrays = {name: np.asarray(value.detach() if torch.is_tensor(value) else value) for name, value in expected.items()}
    gradients = [np.abs(a).max(initial=0) for name, a in arrays.items() if name.startswith("gradient of ")]
    largest, worst = 0.0, ""
    for name, array in arrays.items():
        if found[name].shape != array.shape:
            return np.inf, f"{name}: {found[name].shape} and {array.shape}"
        if array.dtype.kind != "f":
            difference = 0.0 if np.array_equal(found[name], array) else np.inf
        else:
            least = 1e-2 * max(gradients) if name.startswith("gradient of ") else 1e-30
            scale = max(np.abs(array[np.isfinite(array)]).max(initial=0), least)
            same = found[name] == array
            difference = np.where(same, 0, np.abs(found[name] - np.where(same, 0, array))).max(initial=0) / scale
        if not difference <= largest:
            # nan is not within any tolerance.
            largest, worst = np.nan_to_num(difference, nan=np.inf, posinf=np.inf), name
    return largest, worst
