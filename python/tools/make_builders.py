#!/usr/bin/env python3
"""Writes a C++ header with a typed function for each operator, which adds a call to a pdl::Graph.

    pdl ops --format=json > ops.json
    make_builders.py ops.json builders.h

Needs nothing but that file; the header needs pdl's public headers.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import textwrap
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pdl"))
from _declarations import Attribute, Declaration, read  # type: ignore[import-not-found]  # noqa: E402

HEADER = """// A function for each operator, which adds a call of it to a Graph. Made by make_builders.py.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/op_registry.h"

/// Each takes the graph, the operands, the attributes that must be given, a record of the others, and
/// a name for the result. An Error is what the compiler would say.
namespace pdl::build {

using Values = llvm::SmallVector<Value*, 2>;

namespace internal {

inline llvm::Expected<Values> Call(Graph& graph, const char* type, llvm::ArrayRef<Value*> operands,
                                   llvm::ArrayRef<NamedAttribute> attributes, llvm::StringRef name) {
  const OpDef* def = GlobalRegistry().Find(type);
  if (!def) return llvm::createStringError("no operator is called '%s'", type);
  auto complete = CompleteAttributes(def->signature, attributes);
  if (!complete) return complete.takeError();
  std::vector<std::string> names;
  for (size_t i = 0; i < def->signature.NumResults(*complete); ++i)
    names.push_back(graph.NewName(i == 0 ? name.str() : (name + "_" + llvm::Twine(i)).str()));
  auto op = graph.AddOpWithValues(*def, operands, std::move(*complete), names);
  if (!op) return op.takeError();
  return Values((*op)->results().begin(), (*op)->results().end());
}

inline llvm::Expected<Value*> CallOne(Graph& graph, const char* type,
                                      llvm::ArrayRef<Value*> operands,
                                      llvm::ArrayRef<NamedAttribute> attributes,
                                      llvm::StringRef name) {
  llvm::Expected<Values> results = Call(graph, type, operands, attributes, name);
  if (!results) return results.takeError();
  return results->front();
}

template <typename T>
void Give(const char* name, const std::optional<T>& value,
          llvm::SmallVectorImpl<NamedAttribute>& attributes) {
  if (value) attributes.push_back({name, *value});
}

}  // namespace internal
"""

TYPES = {
    "INT": "int64_t",
    "FLOAT": "double",
    "STRING": "std::string",
    "BOOLEAN": "bool",
    "DTYPE": "pdl::DType",
    "SHAPE": "pdl::Shape",
    "TENSOR": "pdl::Constant",
    "BLOCK": "BlockId",
}
# What C++ does not take as names.
WORDS = set(
    "and auto bool break case char class const continue default delete do double else enum explicit "
    "export extern false float for friend goto if inline int long namespace new not operator or private "
    "public register return short signed sizeof static struct switch template this throw true try "
    "typedef typename union unsigned using virtual void volatile while xor".split()
)


def camel(name: str) -> str:
    """ "cos_sim" is CosSim."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def word(name: str) -> str:
    """A name that C++ takes."""
    return name + "_" if name in WORDS else name


def cpp_type(attribute: Attribute) -> str:
    """The type of an attribute's value."""
    if attribute.type == "SHAPE" and attribute.choices:
        return "AttributeValue"  # a Shape, or one of the words
    name = TYPES[attribute.type]
    return f"std::vector<{name}>" if attribute.is_list else name


def number(value: float) -> str:
    """A double."""
    if value != value:
        return "std::numeric_limits<double>::quiet_NaN()"
    if value in (float("inf"), float("-inf")):
        return ("-" if value < 0 else "") + "std::numeric_limits<double>::infinity()"
    return repr(float(value))


def literal(attribute: Attribute, value: Any) -> str:
    """A default in C++."""
    if isinstance(value, list):
        items = ", ".join(
            f"pdl::Dim({one})" if attribute.type == "SHAPE" else repr(one) for one in value
        )
        return f"{'pdl::Shape' if attribute.type == 'SHAPE' else ''}{{{items}}}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if attribute.type == "FLOAT":
        return number(value)
    if attribute.type == "DTYPE":
        return f"pdl::DType::k{value.upper() if value != 'bool' else 'Bool'}"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def comment(text: str, indent: str = "") -> str:
    """A documentation comment."""
    return "".join(f"{indent}/// {line}\n" for line in textwrap.wrap(text, 96 - len(indent)))


def builder(declaration: Declaration) -> str:
    """The record of its attributes, and its function."""
    name = camel(declaration.name)
    given = [one for one in declaration.attributes if not one.counted]
    required = [one for one in given if one.required]
    others = [one for one in given if not one.required]
    text = "\n"
    if others:
        text += f"struct {name}Attributes {{\n"
        for one in others:
            text += comment(one.comment, "  ")
            if one.has_default:
                text += f"  {cpp_type(one)} {word(one.name)} = {literal(one, one.default)};\n"
            else:
                text += f"  std::optional<{cpp_type(one)}> {word(one.name)} = std::nullopt;\n"
        text += "};\n"

    several = len(declaration.outputs) > 1 or bool(declaration.results_from)
    parameters = ["Graph& graph"]
    body = ["llvm::SmallVector<Value*, 4> operands;", "llvm::SmallVector<NamedAttribute, 4> given;"]
    optional: list[str] = []
    for one in declaration.inputs:
        value = word(one.name)
        if one.repeatable:
            parameters.append(f"llvm::ArrayRef<Value*> {value}")
            body.append(f"operands.append({value}.begin(), {value}.end());")
            if one.count:
                body.append(
                    f'given.push_back({{"{one.count}", static_cast<int64_t>({value}.size())}});'
                )
        elif one.optional:
            optional.append(f"Value* {value} = nullptr")
            body.append(f"if ({value}) operands.push_back({value});")
        else:
            parameters.append(f"Value* {value}")
            body.append(f"operands.push_back({value});")
    for attribute in required:
        parameters.append(f"{cpp_type(attribute)} {word(attribute.name)}")
        body.append(f'given.push_back({{"{attribute.name}", std::move({word(attribute.name)})}});')
    for attribute in others:
        access = f"attributes.{word(attribute.name)}"
        if attribute.has_default:
            body.append(f'given.push_back({{"{attribute.name}", {access}}});')
        else:
            body.append(f'internal::Give("{attribute.name}", {access}, given);')
    parameters += optional
    if others:
        parameters.append(f"const {name}Attributes& attributes = {{}}")
    parameters.append(f'llvm::StringRef name = "{declaration.name}"')
    result, call = ("Values", "Call") if several else ("Value*", "CallOne")
    body.append(f'return internal::{call}(graph, "{declaration.name}", operands, given, name);')
    text += comment(declaration.comment)
    text += f"inline llvm::Expected<{result}> {name}({', '.join(parameters)}) {{\n"
    return text + "".join(f"  {line}\n" for line in body) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("json", type=pathlib.Path)
    parser.add_argument("header", type=pathlib.Path)
    arguments = parser.parse_args()
    ops, _ = read(arguments.json.read_text())
    text = (
        HEADER
        + "".join(builder(ops[name]) for name in sorted(ops))
        + "\n}  // namespace pdl::build\n"
    )
    arguments.header.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
