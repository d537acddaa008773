#!/usr/bin/env python3
"""Writes test/layers/{lstm,gru,rnn,bidirectional}.pdl: the recurrent layers compared with PyTorch's.

    test/layers/generate.py [--pdl PROGRAM]

Requires numpy, ml_dtypes and torch, like test/ops/generate; `pdl fmt` formats the files.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "test" / "ops" / "generate"))
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402
import torch  # noqa: E402
from cases import Ragged, spell  # noqa: E402

SIZE, INPUTS, LENGTHS, STEPS = 3, 2, [3, 0, 4, 1], 4
MODULES = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}


def short(values):
    return np.round(np.asarray(values, np.float64), 10)


def make(kind, bidirectional=False, **options):
    torch.manual_seed(7)
    module = MODULES[kind](INPUTS, SIZE, batch_first=True, bidirectional=bidirectional,
                           **options).double()
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(torch.from_numpy(short(value.numpy())))
    return module, {name: value.detach().numpy() for name, value in module.named_parameters()}


def feeds(path, weights, suffix=""):
    lines = [f"feed {path}.w_x = {spell(weights['weight_ih_l0' + suffix].T)}",
             f"feed {path}.w_h = {spell(weights['weight_hh_l0' + suffix].T)}"]
    if "bias_ih_l0" in weights:
        lines += [f"feed {path}.b_x = {spell(weights['bias_ih_l0' + suffix])}",
                  f"feed {path}.b_h = {spell(weights['bias_hh_l0' + suffix])}"]
    return lines


def sequences():
    return short(np.random.default_rng(3).uniform(-2, 2, (len(LENGTHS), STEPS, INPUTS)))


def run(module, x, states, reverse=False):
    """Runs each sequence individually: values of the steps, and last states by their kind."""
    every, last = [], []
    directions = 2 if module.bidirectional else 1
    for n, length in enumerate(LENGTHS):
        first = [np.repeat(s[n][None, None], directions, 0) for s in states]
        if length == 0:
            every.append(np.zeros((0, directions * SIZE)))
            last.append([f[:, 0].reshape(-1) for f in first])
            continue
        part = x[n, :length][::-1] if reverse else x[n, :length]
        given = [torch.from_numpy(f.copy()) for f in first]
        with torch.no_grad():
            y, final = module(torch.from_numpy(part.copy())[None],
                              tuple(given) if len(given) > 1 else given[0])
        final = final if len(given) > 1 else (final,)
        y = y[0].numpy()
        every.append(y[::-1] if reverse else y)
        last.append([f[:, 0].numpy().reshape(-1) for f in final])
    return every, [np.stack(column) for column in zip(*last)]


def padded(every):
    y = np.zeros((len(LENGTHS), STEPS, every[0].shape[1]))
    for n, part in enumerate(every):
        y[n, :len(part)] = part
    return y


def expects(names, every, last, is_ragged):
    y = Ragged([np.ascontiguousarray(part) for part in every], "f64") if is_ragged else padded(every)
    lines = [f"expect {names[0]} ~= {spell(y)} tol 1e-9"]
    return lines + [f"expect {name} ~= {spell(value)} tol 1e-9"
                    for name, value in zip(names[1:], last)]


def test(name, lines):
    return f'test "{name}" {{\n' + "\n".join("  " + line for line in lines) + "\n}\n"


def head(kind):
    return (f"# RUN: %pdl test %s\n"
            f"# `{kind}` against PyTorch's; written by test/layers/generate.py. Change that, not this.\n\n"
            f"input ragged: f64[N, ~S, {INPUTS}]\n"
            f"input padded: f64[M, T, {INPUTS}]\n"
            f"input lengths: i64[M]\n")


def layer_file(kind):
    x = sequences()
    is_lstm = kind == "lstm"
    random = np.random.default_rng(5)
    states = [short(random.uniform(-1, 1, (len(LENGTHS), SIZE))) for _ in range(2 if is_lstm else 1)]
    zeros = [np.zeros_like(s) for s in states]
    extra = ", cell" if is_lstm else ""
    results = ["last", "cell"] if is_lstm else ["last"]
    text = head(kind)
    kinds = "hc"[:len(states)]
    text += "".join(f"input {name}0: f64[N, {SIZE}]\n" for name in kinds)
    text += "".join(f"input {name}1: f64[M, {SIZE}]\n" for name in kinds)
    given = ", ".join(f"{name}={name}0" for name in kinds)
    given_padded = ", ".join(f"{name}={name}1" for name in kinds)
    calls = {
        "a": f"{kind}(ragged, size={SIZE})",
        "b": f"{kind}(ragged, {given}, size={SIZE}, reverse=true)",
        "p": f"{kind}(padded, lengths=lengths, size={SIZE})",
        "q": f"{kind}(padded, {given_padded}, lengths=lengths, size={SIZE}, reverse=true)",
        "f": f"{kind}(padded, size={SIZE}, bias=false)",
    }
    for name, call in calls.items():
        extra_names = "".join(f", {name}_{result}" for result in results)
        text += f"{name}{extra_names} = {call}\n"
    text += "\n"
    module, weights = make(kind)
    rows = Ragged([x[n, :length] for n, length in enumerate(LENGTHS)], "f64")
    lengths = f"[{', '.join(map(str, LENGTHS))}]"
    first = [[f"feed {name}{i} = {spell(value)}" for name, value in zip(kinds, states)]
             for i in range(2)]
    names = lambda name: [name] + [f"{name}_{result}" for result in results]  # noqa: E731
    text += test("ragged", [f"feed ragged = {spell(rows)}"] + feeds("a", weights) +
                 expects(names("a"), *run(module, x, zeros), True)) + "\n"
    text += test("ragged, reversed, with first states",
                 [f"feed ragged = {spell(rows)}"] + first[0] + feeds("b", weights) +
                 expects(names("b"), *run(module, x, states, True), True)) + "\n"
    text += test("padded", [f"feed padded = {spell(x)}", f"feed lengths = {lengths}"] +
                 feeds("p", weights) + expects(names("p"), *run(module, x, zeros), False)) + "\n"
    text += test("padded, reversed, with first states",
                 [f"feed padded = {spell(x)}", f"feed lengths = {lengths}"] + first[1] +
                 feeds("q", weights) + expects(names("q"), *run(module, x, states, True), False)) + "\n"
    plain, plain_weights = make(kind, bias=False)
    with torch.no_grad():
        y, final = plain(torch.from_numpy(x))
    final = [f[0].numpy() for f in (final if is_lstm else (final,))]
    text += test("without lengths and bias", [f"feed padded = {spell(x)}"] +
                 feeds("f", plain_weights) +
                 [f"expect {name} ~= {spell(value)} tol 1e-9"
                  for name, value in zip(names("f"), [y.numpy()] + final)])
    return text


def bidirectional_file():
    x = sequences()
    text = head("bidirectional")
    call = f"forward=gru(size={SIZE}), backward=gru(size={SIZE})"
    text += (f"a, a_last = bidirectional(ragged, {call})\n"
             f"p, p_last = bidirectional(padded, lengths=lengths, {call})\n"
             f"f, f_last = bidirectional(padded, {call})\n\n")
    module, weights = make("gru", bidirectional=True)
    rows = Ragged([x[n, :length] for n, length in enumerate(LENGTHS)], "f64")
    zeros = [np.zeros((len(LENGTHS), SIZE))]

    def both(path):
        return feeds(f"{path}.forward", weights) + feeds(f"{path}.backward", weights, "_reverse")

    every, last = run(module, x, zeros)
    text += test("ragged", [f"feed ragged = {spell(rows)}"] + both("a") +
                 expects(["a", "a_last"], every, last, True)) + "\n"
    lengths = f"[{', '.join(map(str, LENGTHS))}]"
    text += test("padded", [f"feed padded = {spell(x)}", f"feed lengths = {lengths}"] + both("p") +
                 expects(["p", "p_last"], every, last, False)) + "\n"
    with torch.no_grad():
        y, final = module(torch.from_numpy(x))
    final = np.concatenate([final[0].numpy(), final[1].numpy()], 1)
    text += test("without lengths", [f"feed padded = {spell(x)}"] + both("f") + [
        f"expect f ~= {spell(y.numpy())} tol 1e-9", f"expect f_last ~= {spell(final)} tol 1e-9"])
    return text


def main():
    pdl = sys.argv[2] if sys.argv[1:2] == ["--pdl"] else max(
        ROOT.glob("build/*/bin/pdl"), key=lambda path: path.stat().st_mtime)
    written = []
    for kind in ["lstm", "gru", "rnn"]:
        written.append(HERE / f"{kind}.pdl")
        written[-1].write_text(layer_file(kind))
    written.append(HERE / "bidirectional.pdl")
    written[-1].write_text(bidirectional_file())
    subprocess.run([pdl, "fmt", *written], check=True)


if __name__ == "__main__":
    main()
