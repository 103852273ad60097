"""No function is longer than 70 lines: a reader should see a whole one at once.

A ratchet: one that is in long_functions.txt may shrink, not grow, and leaves the list when it is
short enough. `check_functions.py --list` prints what such a list would hold now.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LINES_MAX = 70
ROOMS = ("codec", "engine", "bus", "bridge", "tests", "bench", "examples", "clients")
BASELINE = Path("tests/tidy/long_functions.txt")
# Longest first: raw strings, comments, strings, characters (but not the ' of 10'000).
NOISE = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|/\*(?:.|\n)*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"'
                   r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'")
SCOPE = re.compile(r"(?:^|[;{}>\s])(namespace|class|struct|union|enum|extern)\b[^;()=]*$")
# `X(int q) : a_{q}, b_`: the brace that follows is still a member's, not the body's.
MEMBER = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:).*[\w>]\s*$", re.DOTALL)
NAME = re.compile(r"([\w~:]+|operator\s*\S+)\s*\(")


def quiet(text: str) -> str:
    """The text without comments and strings, line for line."""
    def blank(match: re.Match[str]) -> str:
        return '""' + "\n" * match.group(0).count("\n") if match.group(0)[0] in "R\"" else \
            "\n" * match.group(0).count("\n")
    # Preprocessor lines would leave half of a brace pair behind an #if.
    return re.sub(r"^[ \t]*#[^\n]*", "", NOISE.sub(blank, text), flags=re.MULTILINE)


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """(name, lines) of each outermost brace pair that is not a namespace, a type or a value."""
    scopes: list[str] = []  # "scope", "function" or "other", one for each open brace.
    line, head, began, name = 1, "", 0, ""
    for char in quiet(text):
        line += char == "\n"
        if char == "{":
            inside = "function" in scopes
            if SCOPE.search(head) and not inside:
                kind = "scope"
            elif "(" in head and not inside and head.count("(") == head.count(")") and not MEMBER.search(head):
                kind = "function"
                found = NAME.search(head)
                name, began = (found.group(1) if found else "?"), line
            else:
                kind = "other"
            scopes.append(kind)
            # An initialiser list goes on behind its braces: its head is not finished yet.
            head = head if kind == "other" and not inside else ""
        elif char == "}":
            if scopes and scopes.pop() == "function":
                yield name, line - began + 1
                head = ""
            elif "(" not in head:
                head = ""
            else:
                head += "}"
        elif char == ";":
            head = ""
        else:
            head += char


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions() -> tuple[dict[str, int], int]:
    found: dict[str, int] = {}
    seen = 0
    for path in sorted(p for room in ROOMS for p in Path(room).rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".py"):
            continue
        functions = python_functions if path.suffix == ".py" else cpp_functions
        for name, lines in functions(path.read_text()):
            seen += 1
            if lines > LINES_MAX:
                key = f"{path} {name}"
                found[key] = max(lines, found.get(key, 0))
    return found, seen


def main() -> int:
    found, seen = long_functions()
    if "--list" in sys.argv:
        print("\n".join(f"{key} {lines}" for key, lines in found.items()))
        return 0
    allowed: dict[str, int] = {}
    for row in BASELINE.read_text().splitlines():
        if row and not row.startswith("#"):
            key, _, lines = row.rpartition(" ")
            allowed[key] = int(lines)
    bad = [f"{key}: {lines} lines, {allowed.get(key, LINES_MAX)} are allowed"
           for key, lines in found.items() if lines > allowed.get(key, LINES_MAX)]
    bad += [f"{key} is short enough now: take it out of {BASELINE}" for key in allowed if key not in found]
    if seen < 50:
        bad.append(f"only {seen} functions were found: this check no longer reads the source")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
