#!/usr/bin/env python3
"""Checks that classes and functions stay small, within the limits of LIMITS, and pages within those of MAX_WORDS.
Classes and functions are counted in sources as clang-format lays them out.

  check_sizes.py ROOT
"""

import math
import pathlib
import re
import sys

# The most lines of a function and the most methods of a class, by folder.
LIMITS = {
    "frontend": (60, 30),
    "ir": (60, math.inf),
    **{name: (80, math.inf) for name in ("bench", "kernels", "model", "onnx", "python", "runtime", "tools", "view")},
}
# The most words of a page, as `wc -w` counts them. Everyone who is new reads it, so it has no details.
MAX_WORDS = {"docs/architecture.md": 2000}
# Comments, and literals, which may hold braces; a digit separator is none.
SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
SCOPE = re.compile(r"^\s*(?:inline )?(?:namespace\b|extern \"\s*\")")
CLASS = re.compile(r"^\s*(?:template\s*)?(?:class|struct|union)\s+(?:PDL_API\s+)?([\w:]+)[^()=]*$", re.DOTALL)


def blank(match):
    """Removes all but the quotes and the line breaks."""
    text = match.group(0)
    quote = text[0] if text[0] in "\"'" else ""
    return quote + "\n" * text.count("\n") + quote


def without_templates(text):
    """Removes template arguments."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


def is_function(head):
    """Whether `head`, the code before a '{' or ';', declares a function."""
    head = without_templates(head).strip()
    if re.match(r"(?:using|typedef|friend|static_assert|enum)\b", head) or re.match(r"^[^(]*=(?!=)", head):
        return False
    match = re.search(r"(operator\s*\S+?|~?[\w:~]+)\s*\(", head)
    return match is not None and match.group(1) not in ("if", "for", "while", "switch", "catch", "alignas")


def is_counted(head, name):
    """Whether a declaration in the class `name` counts as a method. Constructors, deleted functions and overrides
    do not."""
    head = without_templates(head).strip()
    if not is_function(head) or re.search(r"=\s*(?:delete|default)$|\boverride$", head):
        return False
    return not re.match(rf"(?:explicit |constexpr )*~?{re.escape(name.split('::')[-1])}\(", head)


def check(text, max_lines, max_methods):
    """Yields (line, problem) for each class and function that is too long."""
    text = SKIPPED.sub(blank, text)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE) if "\\\n" in text else re.sub(
        r"^[ \t]*#[^\n]*", "", text, flags=re.MULTILINE)
    # The enclosing braces: [kind, name, line, methods].
    stack = [["scope", "", 0, 0]]
    begin = 0  # of the current declaration
    parentheses = 0
    for i, c in enumerate(text):
        if stack[-1][0] == "body" and c not in "{}":
            continue
        if c in "()":
            parentheses += 1 if c == "(" else -1
        if parentheses:
            continue
        if c == ":" and re.search(r"\b(?:public|private|protected)\s*$", text[begin:i]):
            begin = i + 1
        elif c == ";":
            if stack[-1][0] == "class" and is_counted(text[begin:i], stack[-1][1]):
                stack[-1][3] += 1
            begin = i + 1
        elif c == "{":
            head = text[begin:i]
            line = text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
            match = CLASS.match(without_templates(head))
            if stack[-1][0] == "body":
                kind, name = "body", ""
            elif SCOPE.match(head):
                kind, name = "scope", ""
            elif match:
                kind, name = "class", match.group(1)
            elif is_function(head):
                match = re.search(r"([\w:~]+)\s*\(", without_templates(head))
                kind, name = "function", match.group(1) if match else "an operator"
                if stack[-1][0] == "class":
                    stack[-1][3] += is_counted(head, stack[-1][1])
            else:
                kind, name = "other", ""
            # Of a function's body only its end is searched for.
            stack.append(["body" if kind in ("function", "other", "body") else kind, name, line, 0])
            stack[-1].append(kind)
            if kind in ("scope", "class"):
                begin = i + 1
        elif c == "}":
            kind, name, line, methods, what = stack.pop() if len(stack) > 1 else ["", "", 0, 0, ""]
            lines = text.count("\n", 0, i) + 2 - line
            if what == "function" and lines > max_lines:
                yield line, f"{name} has {lines} lines; at most {max_lines} are allowed"
            if what == "class" and methods > max_methods:
                yield line, f"{name} has {methods} methods; at most {max_methods} are allowed"
            if what != "other" and stack[-1][0] != "body":
                begin = i + 1


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    for folder, (max_lines, max_methods) in LIMITS.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            for line, problem in check(path.read_text(), max_lines, max_methods):
                print(f"{path.relative_to(root)}:{line}: {problem}")
                count += 1
    for name, max_words in MAX_WORDS.items():
        words = len((root / name).read_text(encoding="utf-8").split())
        if words > max_words:
            print(f"{name}: the page has {words} words; at most {max_words} are allowed. Move details to the page of "
                  "their subject, such as docs/kernels.md")
            count += 1
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
