#!/usr/bin/env python3
"""Prints the page docs/grammar.md: the rules of grammar/Pdl.g4 without their actions.

    print_grammar.py GRAMMAR            prints the page
    print_grammar.py GRAMMAR --check PAGE   fails if PAGE differs
"""

import difflib
import re
import sys

# Tokens that the token source derives from others, as they appear in a source.
WRITTEN = {
    "REC": "'{'", "INPUT": "'input'", "OUTPUT": "'output'", "PARAM": "'param'", "STATE": "'state'",
    "ATTR": "'attr'", "UPDATE": "'update'", "LOAD": "'load'", "TEST_": "'test'", "FEED": "'feed'",
    "ERROR": "'error'", "ELSE_IF": "'else' 'if'",
}
EXPLAINED = {
    "NUMBER": "has a digit on both sides of the point, since `0..n` is a range; `_` may separate digits",
    "NAME": "letters, digits and `_`",
    "STRING": "on one line, with the escapes `\\n` `\\t` `\\r` `\\0` `\\\\` `\\\"` and `\\u{1F600}`",
    "COMMENT": "ignored; `##` documents the declaration that follows, or the one on its line",
    "NL": "ends a statement",
    "WS": "separates words",
}
PAGE = """# Grammar

The grammar of `.pdl` files, printed from `grammar/Pdl.g4` by `cmake/print_grammar.py`. `?` is none or one, `*` any
number, `+` one or more, `|` separates alternatives, and quoted text is literal. [language.md](language.md) explains the
meaning of the statements.

## Rules

A file is a sequence of `statement NL`.

```
{rules}
```

An expression is a sequence of operands with operators between them. The table lists the operators from the loosest
binding to the tightest. `**` is right-associative, and all others are left-associative; comparisons, `in` and ranges
take two operands and do not chain.

| operators | |
|---|---|
| `\\|>` | a call must follow |
| `or` | |
| `and` | |
| `not` | a prefix |
| `==` `!=` `<` `<=` `>` `>=` `in` | |
| `..` `..=` | after `in` only |
| `+` `-` | |
| `*` `/` `//` `%` `@` | |
| `-` | as a prefix |
| `**` | |

## Words

These words are reserved and cannot be names: {reserved}.

These words are keywords only in their own positions in the grammar, and ordinary names everywhere else: {soft}.

{tokens}

## Lines

The rules above do not say where a line may break. `NL` is the end of a line, except

- inside `( )`, `[ ]` and the braces of a record;
- where the next line, not counting blank lines and comments, begins with `|>`;
- after another `NL`, and after the `{{` of a block.

The `}}` of a block ends the statement before it. A `{{` opens a record after `=`, `(`, `,`, `[` and `with`, and a block
anywhere else; `else` must be on the same line as the `}}` before it. A comma may precede a closing bracket. Brackets,
blocks, signs and powers can be nested 256 deep.
"""


def without_actions(text):
    """Removes `{…}`; quoted braces are kept."""
    result, i = "", 0
    while i < len(text):
        if text[i] == "'":
            end = text.index("'", i + 1) + 1
            result += text[i:end]
            i = end
        elif text[i] == "{":
            i = text.index("}", i) + 1
        else:
            result += text[i]
            i += 1
    return result


def tidy(rule):
    for token, written in WRITTEN.items():
        rule = re.sub(rf"\b{token}\b", written, rule)
    lines = []
    for line in rule.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        words = re.sub(r" +", " ", line.strip())
        words = words.replace("( ", "(").replace(" )", ")")
        if words == "|":
            continue
        if not words:
            continue
        # Join a line with the one before it if they fit.
        joins = lines and words[0] not in "|)" and lines[-1].strip() != ")"
        if joins and len(lines[-1]) + len(words) < 100:
            lines[-1] += " " + words
        else:
            lines.append(indent + words)
    rule = "\n".join(lines)
    rule = re.sub(r"\n\s*\|\)", ")?", rule)
    rule = re.sub(r"\((\w+|'[^']+')\)(?=[?*+])", r"\1", rule)
    rule = re.sub(r"\((\([^()]*\))\)", r"\1", rule)
    return re.sub(r"^\(([^()]*)\)$", r"\1", rule).rstrip()


def page(grammar):
    grammar = re.sub(r"^ *//.*\n", "", grammar, flags=re.M)
    grammar = re.sub(r"^@parser::\w+ \{.*?^\}\n", "", grammar, flags=re.M | re.S)
    grammar = without_actions(grammar[grammar.index("unit :"):])
    rules, tokens, keywords = [], [], []
    for match in re.finditer(r"^(fragment )?(\w+)\s*:((?:'(?:\\.|[^'\\])*'|\[(?:\\.|[^\]\\])*\]|[^;'\[])*);",
                             grammar, flags=re.M):
        name, body = match.group(2), match.group(3)
        if name.islower() or name[0].islower():
            if name == "unit":
                continue
            body = tidy(body.strip())
            body = re.sub(r"\n\s*(?=[?*+])", "", body)
            separator = "\n  " if "\n" in match.group(0).split(":")[0] else " "
            rules.append(f"{name}{separator}::= {body}")
        elif re.fullmatch(r"\s*'[a-z]+'\s*", body):
            keywords.append(body.strip().strip("'"))
        elif not re.fullmatch(r"\s*'[^']+'\s*", body):
            body = body.replace("-> skip", "").strip()
            if match.group(1):
                EXPLAINED[name] = "used in the rule above"
            tokens.append(f"| `{name}` | `{body}` | {EXPLAINED[name]} |".replace("|>", "\\|>"))
    soft = {word for word in keywords if f"'{word}'" in grammar[grammar.index("\nname"):].split(";")[0]}
    contextual = {written.strip("'") for token, written in WRITTEN.items() if token not in ("REC", "ELSE_IF")}

    def listed(words):
        return ", ".join(f"`{word}`" for word in sorted(words))

    def row(text):
        cells = text.split(" | ")
        return " | ".join(cells[:1] + [" \\| ".join(cells[1:-1])] + cells[-1:]) if len(cells) > 3 else text

    table = "\n".join(["| token | | |", "|---|---|---|"] + [row(token) for token in tokens])
    return PAGE.format(rules="\n\n".join(rules), reserved=listed(set(keywords) - soft),
                       soft=listed(soft | contextual), tokens=table)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = page(file.read())
    if len(sys.argv) == 2:
        sys.stdout.write(text)
        return 0
    with open(sys.argv[3], encoding="utf-8") as file:
        stored = file.read()
    sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True),
                                               sys.argv[3], "print_grammar.py " + sys.argv[1]))
    return stored != text


if __name__ == "__main__":
    sys.exit(main())
