#!/usr/bin/env python3
"""Writes transformer.onnx: a small transformer encoder as PyTorch exports it, with random weights.

usage: transformer.py OUT.onnx        (requires PyTorch and the package onnx; the tests require neither)
"""

import math
import sys

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        n, t, width = x.shape

        def split(y):
            return y.view(n, t, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        y = torch.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, width=32, heads=4, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.blocks(x))


def main():
    torch.manual_seed(0)
    model = Transformer().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    torch.onnx.export(model, (torch.randn(2, 5, 32),), sys.argv[1], opset_version=16, dynamo=False,
                      input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "batch", 1: "tokens"}, "y": {0: "batch", 1: "tokens"}})


if __name__ == "__main__":
    main()
