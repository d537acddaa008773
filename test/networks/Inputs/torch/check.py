"""check.py PDL EXAMPLES DOCS FOLDER: computes what networks of EXAMPLES and of DOCS/cookbook.md compute in PyTorch as
well, with the same random weights, and compares results, losses and gradients. Each line of output is the name of a
network, the largest relative error, and where it is."""

import pathlib
import sys

import torch

import base
import networks
import others  # noqa: F401, adds its checks
import sequences  # noqa: F401


def main(pdl, examples, docs, folder):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    failed = False
    for name, check in base.CHECKS.items():
        try:
            found, expected = check(base.Context(pdl, pathlib.Path(examples), docs, pathlib.Path(folder, name)))
            difference, worst = networks.error(found, expected)
            print(f"{name}: {len(expected)} results, error {difference:.1e} ({worst})")
            failed |= not difference <= 1e-5
        except networks.Failed as problem:
            print(f"{name}: {problem}")
            failed = True
    sys.exit(1 if failed else 0)


main(*sys.argv[1:])
