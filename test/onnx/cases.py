"""The operators' tests (test/ops) as individual networks, for test/onnx/export.py.

A case is a `test` block: `NAME: TYPE = LITERAL` becomes an input that is fed, what `expect` names
an output, and the number beside it what must come out.
"""

import re

import numpy

NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i32": "int32",
         "i64": "int64", "u8": "uint8", "bool": "bool"}
TYPED = re.compile(r"^(\w+): (\w+)\[([^\]]*)\]( in [^=]+)? = (.*)$")
EXPECT = re.compile(r"^expect (\w+) ~= (.*?)(?: tol ([-+.\w]+))?$")
NAMES = {"nan": numpy.nan, "inf": numpy.inf, "true": True, "false": False, "__builtins__": {}}


def literal(text):
    """The value of a literal, or None if it is another expression."""
    if not re.fullmatch(r"[-+\[\](),.\deE_\s]*(?:(?:nan|inf|true|false)[-+\[\](),.\deE_\s]*)*", text):
        return None
    try:
        return eval(text, dict(NAMES))  # pylint: disable=eval-used
    except SyntaxError:
        return None


class Case:
    """A network: its source, its inputs, and the expected outputs with tolerances."""

    def __init__(self, name, layers):
        self.name = name
        self.layers = layers  # those of the file
        self.lines, self.feeds, self.wanted, self.bf16 = [], {}, {}, set()
        self.is_fed = False  # a network of its own

    def outputs(self):
        """The output statements, with bf16 cast to f32, since NumPy has no bf16."""
        return [f"output {name} = cast({name}, to=f32)" if name in self.bf16 else f"output {name}"
                for name in self.wanted]

    def text(self):
        return "\n".join(self.layers + self.lines + self.outputs()) + "\n"

    def symbolic(self):
        """The same network with a symbol for each size of its inputs, equal ones for equal sizes."""
        def dims(match):
            sizes = [s.strip() for s in match[3].split(",") if s.strip()]
            return f"input {match[1]}: {match[2]}[{', '.join('S' + s if s != '1' else s for s in sizes)}]"
        # A call's own type has numbers in it.
        lines = [line if "bf16" in line else re.sub(r"^(\w+): \w+\[[^\]]*\] = ", r"\1 = ", line)
                 for line in self.lines]
        lines = [re.sub(r"^input (\w+): (\w+)\[([^\]]*)\]", dims, line) for line in lines]
        return "\n".join(self.layers + lines + self.outputs()) + "\n"


def statements(path):
    """The statements of a file; lines are joined inside brackets."""
    begun = ""
    for line in open(path):
        line = begun + (line.strip() if begun else line.rstrip("\n"))
        if sum(map(line.count, "([")) > sum(map(line.count, ")]")) and not line.startswith("#"):
            begun = line + " "
            continue
        begun = ""
        yield line


def read(path):
    """All cases of a file that can be written as networks."""
    cases, case, layers = [], None, []
    for line in statements(path):
        if match := re.match(r'^test "(.*)" (?:with .*)?\{$', line):
            case = Case(match[1], layers)
        elif line == "}" and case is not None:
            if case.wanted and not case.is_fed:
                cases.append(case)
            case = None
        elif case is not None:
            add(case, line.strip())
        elif line.startswith("layer ") or (layers and layers[-1] != "}"):
            layers.append(line)
    return cases


def add(case, line):
    if match := EXPECT.match(line):
        value = literal(match[2])
        if value is not None:
            case.wanted[match[1]] = (value, float(match[3] or 1e-5))
        return
    case.is_fed |= line.startswith("feed ")
    if line.startswith(("expect", "#")) or not line:
        return
    match = TYPED.match(line)
    if match and match[2] in NUMPY and re.fullmatch(r"[\d, ]*", match[3]):
        value = literal(match[5])
        if value is not None:
            sizes = [int(s) for s in match[3].split(",") if s.strip()]
            array = numpy.array(value, dtype=NUMPY[match[2]])
            case.feeds[match[1]] = array.reshape(sizes)
            case.lines.append(f"input {match[1]}: {match[2]}[{match[3]}]{match[4] or ''}")
            return
    elif typed := re.match(r"^(\w+): bf16\[", line):
        case.bf16.add(typed[1])
    case.lines.append(line)
