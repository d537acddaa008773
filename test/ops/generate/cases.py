"""Cases of operators, and how they become `test` blocks.

A family file has one function per operator, marked with @operator, that is given a Table and adds
cases to it. Expected numbers come from NumPy, SciPy, PyTorch or onnx.reference, computed in double
precision where the reference can, never from pdl.
"""

import sys
import zlib

import ml_dtypes
import numpy as np

bf16 = ml_dtypes.bfloat16
NAMES = {
    np.dtype(np.float16): "f16", np.dtype(bf16): "bf16", np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64", np.dtype(np.int8): "i8", np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32", np.dtype(np.int64): "i64", np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16", np.dtype(np.uint32): "u32", np.dtype(np.uint64): "u64",
    np.dtype(np.bool_): "bool",
}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
FLOATS = ["f32", "f64", "f16", "bf16"]
# The integer dtypes that operators compute with; STORED ones are only converted by casts.
SIGNED = ["i8", "i32", "i64"]
INTS = SIGNED + ["u8"]
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ["bool"]
STORED = ["i16", "u16", "u32", "u64"]
# |a - b| <= tolerance * max(1, |b|); None is the default of `~=`.
TOLERANCES = {"f32": 1e-6, "f64": 1e-14, "f16": 1e-3, "bf16": 8e-3}

OPERATORS = {}
FAMILIES = {}  # the family's file of each operator


def operator(name):
    """Marks the function that adds the cases of the operator `name`."""
    def add(function):
        assert name not in OPERATORS, f"{name} has cases already"
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        OPERATORS[name] = function
        FAMILIES[name] = frame.f_globals["__name__"] + ".py"
        return function
    return add


def name_of(dtype):
    return NAMES[np.dtype(dtype)]


def is_float(dtype):
    return (dtype if isinstance(dtype, str) else name_of(dtype)) in FLOATS


def array(values, dtype):
    """An array of the dtype that pdl calls `dtype`; integers that do not fit wrap around."""
    values = np.asarray(values)
    with np.errstate(all="ignore"):
        if not is_float(dtype) and values.dtype.kind in "iu":
            return values.astype(np.int64 if values.dtype.kind == "i" else np.uint64).astype(
                DTYPES[dtype])
        return values.astype(np.float64).astype(DTYPES[dtype]) if is_float(
            dtype) else values.astype(DTYPES[dtype])


def numbers(dtype, shape, low=-3, high=3, seed=0):
    """Different numbers in [low, high], in no order: multiples of 1/16 for floats (fewer bits where
    more are needed to tell them apart); for integers, the range that `dtype` has."""
    count = int(np.prod(shape, dtype=np.int64))
    random = np.random.default_rng(zlib.crc32(repr((dtype, tuple(shape), seed)).encode()))
    if dtype == "bool":
        values = np.arange(count) % 3 != 1
        return random.permutation(values).reshape(shape)
    if not is_float(dtype):
        if dtype.startswith("u"):
            low = max(low, 0)
        pool = np.arange(int(np.ceil(low)), int(np.floor(high)) + 1)
        return array(random.choice(pool, count, replace=count > len(pool)).reshape(shape), dtype)
    step = 16
    while (high - low) * step < 2 * count:
        step *= 2
    pool = np.arange(np.ceil(low * step), np.floor(high * step) + 1) / step
    return array(random.choice(pool, count, replace=False).reshape(shape), dtype)


def specials(dtype="f32"):
    """nan, both infinities, both zeros, and ordinary numbers."""
    return array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5], dtype)


def exact(function, *arrays, dtype=None):
    """function(arrays) in double precision (integers: in 64 bits), rounded to the first array's
    dtype, or to `dtype`."""
    def widen(x):
        if not isinstance(x, np.ndarray) or x.dtype == np.bool_:
            return x
        if is_float(x.dtype):
            return x.astype(np.float64)
        return x.astype(np.uint64 if name_of(x.dtype) == "u64" else np.int64)
    with np.errstate(all="ignore"):
        result = function(*[widen(x) for x in arrays])
    first = next(x for x in arrays if isinstance(x, np.ndarray))
    rounded = [array(part, dtype or name_of(first.dtype))
               for part in (result if isinstance(result, tuple) else (result,))]
    return tuple(rounded) if isinstance(result, tuple) else rounded[0]


class Ragged:
    """Sequences of different lengths: a list of arrays, or of lists of arrays, of one dtype. Two
    operands of a call want different labels."""

    def __init__(self, rows, dtype, label="x"):
        self.rows, self.dtype, self.label = rows, DTYPES[dtype], label

    def input(self, number):
        """Name and type of the input of that number, which takes it."""
        part, dims = self.rows, [f"N{number}"]
        while isinstance(part, list):
            dims.append(f"~{'S' if isinstance(part[0], list) else 'T'}{number}")
            part = part[0]
        sizes = [str(n) for n in part.shape[1:]]
        name = "_".join([self.label, name_of(self.dtype)] + sizes + (["deep"] if len(dims) > 2 else []))
        return name, f"{name_of(self.dtype)}[{', '.join(dims + sizes)}]"


class Dim(str):
    """Text that stands in a list of sizes, or anywhere, as it is."""


def literal(value):
    """An array or a number as pdl spells it."""
    if isinstance(value, list):
        return "[" + ", ".join(literal(part) for part in value) + "]"
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return "[" + ", ".join(literal(part) for part in value) + "]"
    value = np.asarray(value)
    if value.dtype == np.bool_:
        return "true" if value else "false"
    if value.dtype.kind in "iu":
        return str(int(value))
    number = float(value)
    if np.isnan(number):
        return "nan"
    if np.isinf(number):
        return "inf" if number > 0 else "-inf"
    # bf16 is written as a float with few digits; NumPy has the shortest form of the other dtypes.
    text = shortest_bf16(value) if value.dtype == bf16 else np.format_float_scientific(
        value[()], unique=True, trim="0")
    mantissa, exponent = text.split("e")
    if -5 <= int(exponent) < 8:
        plain = np.format_float_positional(np.float64(text), unique=True, trim="0")
        return plain
    return f"{mantissa}e{int(exponent)}"


def shortest_bf16(value):
    for digits in range(1, 10):
        text = np.format_float_scientific(np.float64(value), precision=digits, unique=False, trim="0")
        if bf16(float(text)) == value:
            return text
    return text


def attribute(value):
    if isinstance(value, Dim):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(attribute(part) for part in value) + "]"
    if isinstance(value, float):
        return literal(np.float64(value))
    return literal(np.asarray(value))


def type_of(value):
    return f"{name_of(value.dtype)}[{', '.join(map(str, value.shape))}]"


def spell(value):
    """An expression that gives the array: a literal where the language has one."""
    if isinstance(value, Ragged):
        return literal(value.rows)
    if value.size == 0 and 0 in value.shape[:-1]:
        # A list cannot express the lengths of rows that it does not have.
        return f"zeros([{', '.join(map(str, value.shape))}], dtype={name_of(value.dtype)})"
    return literal(value)


def declared(name, value):
    return f"{name}: {type_of(value)} = {spell(value)}"


class Table:
    """The cases of one operator."""

    def __init__(self, name):
        self.name = name
        self.tests = []
        self.names = set()
        self.inputs = {}
        self.declarations = []

    def declare(self, text):
        """What the file begins with: layers that cases use."""
        self.declarations.append(text.strip() + "\n")

    def raw(self, name, *lines):
        """A test written by hand: the lines of its block."""
        unique, count = name, 1
        while unique in self.names:
            count += 1
            unique = f"{name} {count}"
        self.names.add(unique)
        body = "\n".join("  " + line for line in lines)
        self.tests.append(f'test "{unique}" {{\n{body}\n}}\n')

    def case(self, name, inputs, want, tol=None, **attributes):
        """One call. `inputs`: a list of arrays (None: left out), or a dict from input names to
        arrays. `want`: the result, or a tuple of all results; a dict from output names to arrays
        checks only those. `tol`: one number, or one per result; by default, the dtype's."""
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        named = isinstance(inputs, dict)
        arrays = list(inputs.values()) if named else list(inputs)
        names = list(inputs) if named else list("xyzuvw") + [f"x{i}" for i in range(6, len(arrays))]
        lines = []
        for i, value in enumerate(arrays):
            if isinstance(value, Ragged):
                names[i], type_text = value.input(len(self.inputs) + 1)
                self.inputs.setdefault(names[i], type_text)
                lines.append(f"feed {names[i]} = {spell(value)}")
            elif value is not None:
                lines.append(declared(names[i], value))
        arguments = [f"{n}={n}" if named else ("none" if v is None else n)
                     for n, v in zip(names, arrays) if not (named and v is None)]
        arguments += [f"{key}={attribute(value)}" for key, value in attributes.items()]
        call = f"{self.name}({', '.join(arguments)})"
        want = want if isinstance(want, (dict, tuple, Ragged)) else np.asarray(want)
        if isinstance(want, dict):
            results = [(f"r_{key}", value) for key, value in want.items()]
            lines += [f"r_{key}: {type_of(value)} = {call}.{key}" for key, value in want.items()]
        elif isinstance(want, tuple):
            results = [(f"r{i}", value) for i, value in enumerate(want)]
            lines.append(f"{', '.join(n for n, _ in results)} = {call}")
            lines += [f"{n}: {type_of(value)} = {n}" for n, value in results]
        else:
            results = [("r", want)]
            is_ragged = isinstance(want, Ragged)
            lines.append(f"r = {call}" if is_ragged else f"r: {type_of(want)} = {call}")
        tolerances = tol if isinstance(tol, (list, tuple)) else [tol] * len(results)
        for (result, value), tolerance in zip(results, tolerances):
            if tolerance is None:
                tolerance = TOLERANCES.get(name_of(value.dtype))
            suffix = "" if tolerance is None else f" tol {attribute(float(tolerance))}"
            lines.append(f"expect {result} ~= {spell(value)}{suffix}")
        self.raw(name, *lines)

    def refused(self, name, message, call, *declarations):
        """`call` (text) is refused with a message that holds `message`."""
        self.raw(name, *declarations, f'expect error "{message}" in {call}')

    def text(self, source):
        head = (f"# Cases of `{self.name}`; written by test/ops/generate/run.py from {source}.\n"
                "# Change that, not this.\n")
        inputs = "".join(f"input {name}: {text}\n" for name, text in self.inputs.items())
        parts = ([inputs] if inputs else []) + self.declarations + self.tests
        return head + "\n" + "\n".join(parts)


def one_stream(t, call):
    """Calls that name the same stream have the same numbers."""
    named = f'{call[:-1]}, stream="one")'
    t.raw("calls of one stream agree", f"x = {named}", f"y = {named}", "expect x == y")
