#!/usr/bin/env python3
"""random_weights.py PDL OUT.safetensors FILE.pdl [OPTION]...: writes untrained weights of a network, to try
networks that load trained ones. The options are those of `pdl dump`, such as --set width=4."""

import json
import math
import random
import re
import struct
import subprocess
import sys

DECLARED = re.compile(r"^(?:param|state) (\S+): f32\[([\d, ]*)\]", re.MULTILINE)


def main(pdl, out, *arguments):
    text = subprocess.run([pdl, "dump", "--emit=ir", *arguments], check=True, capture_output=True, text=True).stdout
    header, data, numbers = {}, [], random.Random(0)
    for name, dims in DECLARED.findall(text):
        shape = [int(size) for size in dims.split(",") if size.strip()]
        count, fan_in = math.prod(shape), math.prod(shape[1:])
        # Scales and variances are 1, shifts and means 0.
        if len(shape) > 1:
            values = [numbers.gauss(0, fan_in**-0.5) for _ in range(count)]
        else:
            values = [float(name.endswith(("gamma", "var")))] * count
        begin = 4 * sum(map(len, data))
        data.append(values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, begin + 4 * count]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(out, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in data:
            file.write(struct.pack(f"<{len(values)}f", *values))


main(*sys.argv[1:])
