"""LSTM, GRU and RNN over batches and sequences of any size."""

import itertools

import numpy
import onnx
from models import FLOAT, INT32, RANDOM, Case, floats, make, node, run_runtime, value

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def swapped(array):
    return numpy.ascontiguousarray(array.swapaxes(0, 1))


class Recurrent:
    """A model of one node. `give` names what it is given besides x, w and r: b, lengths, states, p."""

    def __init__(self, op, give="b", outputs=None, direction="forward", layout=0, sizes=("T", "N"), width=4,
                 weights=True,
                 **attributes):
        give = give.split()
        d, gates = 2 if direction == "bidirectional" else 1, GATES[op]
        self.layout, self.give, self.d, self.width = layout, give, d, width
        self.states = ["h0", "c0"] if op == "LSTM" else ["h0"]
        constants = {"w": 0.6 * floats(d, gates * width, 3), "r": 0.6 * floats(d, gates * width, width)}
        if "b" in give:
            constants["b"] = 0.6 * floats(d, 2 * gates * width)
        if "p" in give:
            constants["p"] = 0.6 * floats(d, 3 * width)
        inputs = [value("x", self.order(*sizes, 3))]
        if "lengths" in give:
            inputs.append(value("lengths", [sizes[1]], INT32))
        if "states" in give:
            inputs += [value(name, self.order(d, sizes[1], width)) for name in self.states]
        self.weights = {} if weights else constants
        inputs += [value(name, array.shape, FLOAT) for name, array in self.weights.items()]
        names = ["x", "w", "r", "b" if "b" in give else "-", "lengths" if "lengths" in give else "-"]
        names += [name if "states" in give else "-" for name in self.states] + ["p"] * ("p" in give)
        every = ["y", "y_h", "y_c"] if op == "LSTM" else ["y", "y_h"]
        outputs = outputs.split() if outputs else every
        made = node(op, " ".join(names).rstrip(" -"), " ".join(o if o in outputs else "-" for o in every),
                    hidden_size=width, direction=direction, **attributes)
        if layout:
            made.attribute.append(onnx.helper.make_attribute("layout", layout))
        self.outputs = outputs
        self.model = make([made], inputs, outputs, constants if weights else {}, opset=22)

    def order(self, first, second, last):
        return [second, first, last] if self.layout else [first, second, last]

    def feeds(self, steps, rows):
        fed = {"x": floats(*self.order(steps, rows, 3))}
        if "lengths" in self.give:
            # ONNX Runtime ignores the initial states of a row without steps.
            shortest = 1 if "states" in self.give or self.layout else 0
            fed["lengths"] = RANDOM.integers(min(shortest, steps), steps + 1, rows).astype("int32")
        if "states" in self.give:
            fed |= {name: floats(*self.order(self.d, rows, self.width)) for name in self.states}
        return fed | self.weights

    def by_steps(self):
        """What the model with a layout gives, by one without, which ONNX Runtime can run."""
        other = onnx.ModelProto()
        other.CopyFrom(self.model)
        attributes = other.graph.node[0].attribute
        attributes.remove(next(a for a in attributes if a.name == "layout"))
        for info in other.graph.input:
            if info.name in ("x", *self.states):
                dims = list(info.type.tensor_type.shape.dim)
                sizes = [dim.dim_param or dim.dim_value for dim in dims]
                info.CopyFrom(value(info.name, [sizes[1], sizes[0], sizes[2]]))

        def expect(fed):
            fed = {name: swapped(a) if name in ("x", *self.states) else a for name, a in fed.items()}
            got = dict(zip(self.outputs, run_runtime(other.SerializeToString(), fed)))
            return [got[name].transpose(2, 0, 1, 3) if name == "y" else swapped(got[name]) for name in self.outputs]

        return expect


def variants():
    """Arguments of Recurrent."""
    for op, direction in itertools.product(GATES, ("forward", "reverse", "bidirectional")):
        for give in ("", "b", "b lengths", "b states", "b lengths states"):
            yield op, {"direction": direction, "give": give}
        yield op, {"direction": direction, "layout": 1}
        yield op, {"direction": direction, "layout": 1, "give": "b lengths states"}
        yield op, {"direction": direction, "clip": 0.3}
        if op == "LSTM":
            yield op, {"direction": direction, "give": "b lengths states p", "clip": 0.4}
        if op == "GRU":
            yield op, {"direction": direction, "linear_before_reset": 1, "give": "b lengths"}
    for op in GATES:
        yield op, {"outputs": "y"}
        yield op, {"outputs": "y_h"}
        yield op, {"sizes": (5, 2)}
        yield op, {"sizes": (5, 2), "give": "b lengths", "weights": False, "direction": "bidirectional"}
        yield op, {"width": 1}
    yield "LSTM", {"outputs": "y y_c"}
    yield "LSTM", {"give": "b p"}
    yield "LSTM", {"input_forget": 1}
    yield "LSTM", {"give": "b p", "weights": False, "sizes": (3, 2)}
    yield "GRU", {"linear_before_reset": 1}
    yield "GRU", {"linear_before_reset": 1, "give": "", "clip": 0.2}
    yield "GRU", {"linear_before_reset": 1, "weights": False, "direction": "bidirectional"}
    # Each activation takes as many of the remaining activation_alpha and activation_beta as it needs.
    yield "RNN", {"activations": ["Relu"]}
    yield "RNN", {"activations": ["Affine"], "activation_alpha": [0.3], "activation_beta": [0.1]}
    yield "RNN", {"activations": ["ScaledTanh"], "activation_alpha": [0.7], "activation_beta": [0.8]}
    yield "RNN", {"activations": ["LeakyRelu", "Softsign"], "activation_alpha": [0.3], "direction": "bidirectional"}
    yield "GRU", {"activations": ["HardSigmoid", "Softsign"]}
    yield "GRU", {"activations": ["HardSigmoid", "LeakyRelu"], "activation_alpha": [0.3, 0.1], "activation_beta": [0.4]}
    yield "LSTM", {"activations": ["HardSigmoid", "Tanh", "Elu"], "activation_alpha": [0.3, 0.7],
                   "activation_beta": [0.45]}
    yield "LSTM", {"activations": ["Sigmoid", "ThresholdedRelu", "Softplus"], "activation_alpha": [0.2]}


def cases():
    for op, arguments in variants():
        model = Recurrent(op, **arguments)
        sizes = [(1, 1), (6, 3)] if "sizes" not in arguments else [arguments["sizes"]]
        if arguments == {"direction": "bidirectional", "give": "b lengths"}:
            sizes += [(300, 2)]
        feeds = [model.feeds(*s) for s in sizes]
        name = " ".join([op, *(f"{key}={word}" for key, word in arguments.items())])
        yield Case(name, model.model, feeds, model.by_steps() if model.layout else None)
