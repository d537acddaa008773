"""Networks as parts of a graph: the graph's source imports each as a file."""

from __future__ import annotations

import difflib
import os
import re
from typing import Any, Mapping

from pdl._functions import declarations
from pdl._graph import Value
from pdl._network import Network
from pdl._render import Renderer
from pdl.errors import Error, RunError

def call(network: Network, inputs: Mapping[str, Any]) -> dict[str, Value]:
    """Calls a network on values of a graph and returns its outputs as values of that graph.

    Called by the extension module. All calls of one network in a graph share its parameters and states. If inputs
    are missing, the outputs that depend on them are omitted."""
    graph = next(one.graph for one in inputs.values() if isinstance(one, Value))
    types = network.inputs
    for name in inputs:
        if name not in types:
            near = difflib.get_close_matches(str(name), types, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise RunError(f"the network has no input '{name}'{hint} [PDL0502]", "PDL0502")
    missing = [name for name in types if name not in inputs]
    text, outputs = network.program.text_without(missing)
    renderer = Renderer(lambda one: isinstance(one, Value), graph.capture)
    operands = []
    for name in types:
        if name in inputs:
            given = inputs[name]
            if isinstance(given, Value) and given.graph is not graph:
                raise Error(f"'{given.name}' belongs to another graph")
            operands.append(renderer.operand(given, name))
    part = graph.part(network, _name_of(network), text)
    names = {output: graph.new_name(f"{part}_{output}") for output in outputs}
    values = graph.define_all(list(names.values()), f"{part}({', '.join(operands)})")
    return dict(zip(names, values))


def _name_of(network: Network) -> str:
    """The network's name in a graph, derived from its file name."""
    stem = os.path.splitext(os.path.basename(network.program.name))[0]
    name = re.sub(r"\W", "_", stem, flags=re.ASCII).strip("_")
    if not name or name[0].isdigit() or name == "text":
        return "net"
    return f"{name}_net" if any(name in one for one in declarations()) else name
