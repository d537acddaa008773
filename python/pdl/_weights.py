"""Weights files, and how to load them: the rules of docs/weights.md."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from pdl import _pdl
from pdl._arrays import to_array
from pdl._check import path_of, shown_path
from pdl.errors import FileError

__all__ = ["WeightFile", "weights"]

_TORCH = (".pt", ".pth", ".bin", ".ckpt")


class WeightFile:
    """A weights file and how to load it; made by :func:`pdl.weights`."""

    def __init__(self, path: str, rules: list[tuple[str, str]]) -> None:
        self.path = path
        self.rules = rules

    def __repr__(self) -> str:
        return f"pdl.weights({', '.join([repr(self.path), *(f'{name}={value}' for name, value in self.rules)])})"

    def described(self) -> tuple[str, dict[str, Any] | None, list[tuple[str, str]]]:
        """The form that the extension module takes: the path, tensors if they were read here, and the rules."""
        tensors = None
        if self.path.endswith(_TORCH):
            tensors = read_torch(self.path)
        elif self.path.endswith(tuple(f"{end}.index.json" for end in _TORCH)):
            tensors = _read_torch_index(self.path)
        return self.path, tensors, self.rules


def weights(
    path: str | os.PathLike[str],
    *,
    cast: bool = False,
    partial: bool = False,
    rename: Mapping[str, str] | None = None,
    transpose: str | Iterable[str] = (),
) -> WeightFile:
    """Describes weights for the argument ``weights`` of ``pdl.load``, ``pdl.compile`` and ``pdl.train``.

    Parameters
    ----------
    path : str or path
        a .safetensors file, the index of a checkpoint in several files (.json), a pattern such as
        "model-\\*.safetensors", or a file of PyTorch (.pt, .pth, .bin), which is read by ``torch.load`` with
        ``weights_only=True``
    cast : bool
        converts between f16, bf16, f32 and f64
    partial : bool
        the network uses a part of the file: tensors that it does not use are no warning
    rename : dict, optional
        replacements of parts of the names in the file
    transpose : list of str
        patterns of the names of matrices to transpose; a pattern after "!" exempts what it matches

    Examples
    --------
    >>> pdl.weights("model-*.safetensors", cast=True, rename={"encoder.layer": "encoder.block"})
    """
    for name, value in (("cast", cast), ("partial", partial)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    patterns = [transpose] if isinstance(transpose, str) else list(transpose)
    pairs = dict(rename or {})
    for text in [*patterns, *pairs, *pairs.values()]:
        if not isinstance(text, str):
            raise TypeError(f"names of tensors must be strings, not {type(text).__name__}")
    for old in pairs:
        if ":" in old:
            raise ValueError(f"a name to be replaced cannot contain ':', got {old!r}")
    rules = [(name, "true") for name, given in (("cast", cast), ("partial", partial)) if given]
    rules += [("rename", f"{old}:{new}") for old, new in pairs.items()]
    rules += [("transpose", pattern) for pattern in patterns]
    return WeightFile(path_of(path), rules)


def read_torch(path: str) -> dict[str, _pdl.Tensor]:
    """The tensors of a PyTorch file, by name."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise FileError(
            f"cannot read '{shown_path(path)}': files of PyTorch are read by PyTorch, which is not installed; "
            "save the weights as .safetensors instead",
            "PDL0401",
        ) from None
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # PyTorch raises several kinds for a broken or an unsafe file
        first = str(error).strip().split("\n", 1)[0]
        raise FileError(f"cannot read '{shown_path(path)}': {first}", "PDL0401") from None
    if isinstance(loaded, Mapping) and isinstance(loaded.get("state_dict"), Mapping):
        loaded = loaded["state_dict"]
    if not isinstance(loaded, Mapping):
        raise FileError(f"cannot read '{shown_path(path)}': it contains no tensors by name", "PDL0401")
    tensors = {}
    for name, value in loaded.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise FileError(f"cannot read '{shown_path(path)}': {name!r} is not a tensor", "PDL0401")
        tensors[name] = _pdl.tensor(to_array(value.detach().contiguous(), None))
    return tensors


def _read_torch_index(path: str) -> dict[str, _pdl.Tensor]:
    """The tensors of the PyTorch files that an index lists."""
    try:
        with open(path, encoding="utf-8") as file:
            files = json.load(file)["weight_map"]
        names = sorted(set(files.values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"cannot read '{shown_path(path)}': {type(error).__name__}: {error}", "PDL0401") from None
    tensors: dict[str, _pdl.Tensor] = {}
    for name in names:
        if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", ".."):
            raise FileError(f"'{name}' of the index '{shown_path(path)}' is not a file in the index's folder", "PDL0403")
        for tensor, value in read_torch(os.path.join(os.path.dirname(path), name)).items():
            if files.get(tensor) == name:
                tensors[tensor] = value
    missing = sorted(set(files) - set(tensors))
    if missing:
        raise FileError(f"cannot read '{shown_path(path)}': '{files[missing[0]]}' has no tensor '{missing[0]}'", "PDL0401")
    return tensors
