#!/usr/bin/env python3
"""random_gradients.py COUNT SEED: random networks of 5 to 30 calls, as tests in pdl.

Each is a layer from two f64[3, 4] to a number. Its test compares the derivative along a random
direction with the central difference, in f64; each fifth one its second derivative, too.
"""

import random
import sys

UNARY = ["sin({0})", "cos({0})", "tanh({0})", "sigmoid({0})", "softplus({0})", "gelu({0})", "silu({0})",
         "erf({0})", "exp(-{0} * {0})", "sqrt(1.0 + {0} * {0})", "log(2.0 + {0} ** 2)", "-{0}",
         "softmax({0})", "log_softmax({0}, axis=0)", "standardize({0}, eps=0.1)", "cumsum({0}, axis=1)",
         "flip({0}, axes=[0])", "{0} - mean({0}, axes=[1], keep=true)",
         "{0} + logsumexp({0}, axes=[0], keep=true)", "reshape(transpose({0}), [3, 4])",
         "concat({0}[:, 2:], {0}[:, :2], axis=1)", "gather({0}, [2, 0, 0])", "l2_normalize({0} + 3.0)"]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (1.5 + {1} * {1})", "atan2({0}, 2.0 + {1} * {1})",
          "({0} @ transpose({1})) @ {0} * 0.1", "{0} * sum({1}, axes=[0], keep=true) * 0.3",
          "where(cos({1}) > 2.0, {0}, {1} * {0})"]


def graph(draw, name):
    values, lines = ["a", "b"], []
    for i in range(draw.randint(5, 30)):
        rule = draw.choice(UNARY + BINARY)
        # Recent values are used most often, and some values many times.
        picked = [draw.choice(values[-3:] if draw.random() < 0.7 else values) for _ in range(2)]
        lines.append(f"  v{i} = {rule.format(*picked)}")
        values.append(f"v{i}")
    used = " + ".join(f"mean(tanh({v}))" for v in ["a * b"] + values[-4:])
    return (f"layer {name}(a: f64[3, 4], b: f64[3, 4]) {{\n" + "\n".join(lines) +
            f"\n  return {used}\n}}\n")


def matrix(draw):
    rows = [[round(draw.uniform(-1, 1), 3) for _ in range(4)] for _ in range(3)]
    return f"constant({rows}, dtype=f64)"


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    draw = random.Random(seed)
    for n in range(count):
        name = f"f{n}"
        print(graph(draw, name))
        print(f'test "{n}" {{')
        for value in ("a", "b", "da", "db"):
            print(f"  {value} = {matrix(draw)}")
        print("  h = constant(1e-5, dtype=f64)")
        print(f"  ga, gb = grad({name}(a, b), [a, b])")
        print("  derivative = sum(ga * da) + sum(gb * db)")
        print(f"  above = {name}(a + h * da, b + h * db)")
        print(f"  below = {name}(a - h * da, b - h * db)")
        print("  expect derivative ~= (above - below) / (2.0 * h) tol 1e-7")
        if n % 5 == 0:
            print("  more = a + h * da")
            print("  less = a - h * da")
            print(f"  up = grad({name}(more, b), more)")
            print(f"  down = grad({name}(less, b), less)")
            print("  expect grad(sum(ga * da), a) ~= (up - down) / (2.0 * h) tol 1e-6")
        print("}\n")


if __name__ == "__main__":
    main()
