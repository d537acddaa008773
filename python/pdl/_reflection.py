"""The declarations of operators and layers, for generators of wrappers and other tools."""

from __future__ import annotations

import json
import os
from typing import Any

from pdl import _pdl


def declarations() -> dict[str, Any]:
    """The declarations of all operators, those of plugins too, and of the standard layers.

    Returns
    -------
    dict
        ``"ops"`` is a list of messages ``OpProto``, ``"layers"`` one of ``LayerDef``, each as a dict with the fields
        of ``pdl.proto`` that are set, as in protobuf's JSON format

    Examples
    --------
    >>> {one["type"]: one["comment"] for one in pdl.declarations()["ops"]}["cos"]
    """
    found: dict[str, Any] = json.loads(_pdl.declarations())
    return found


def declarations_proto() -> bytes:
    """The same as a serialized message ``OpProtoList``; see ``proto_file``."""
    return _pdl.declarations_proto()


def proto_file() -> str:
    """The path of ``pdl.proto``, from which protoc generates the messages of declarations and stored networks."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "pdl.proto")
