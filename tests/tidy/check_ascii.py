"""Sources are ASCII. Only a string in a test or a Python program may hold other characters."""

import io
import re
import sys
import tokenize
from pathlib import Path

ROOMS = ("codec", "engine", "bus", "bridge", "tests", "bench", "examples", "clients", "cmake")
CPP_STRING = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"')


def blank_strings(match: re.Match[str]) -> str:
    return "\n" * match.group(0).count("\n")


def cpp_without_strings(text: str) -> str:
    return CPP_STRING.sub(blank_strings, text)


def python_without_strings(text: str) -> str:
    """Only what is not inside a string that is a value: docstrings count as comments do."""
    lines = [""] * (text.count("\n") + 2)
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts_statement = previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
        if token.type != tokenize.STRING or starts_statement:
            lines[token.start[0] - 1] += token.string.replace("\n", " ")
        previous = token.type
    return "\n".join(lines)


def judged_text(path: Path, text: str) -> str:
    if path.suffix == ".py":
        return python_without_strings(text)
    if path.parts[0] == "tests" and path.suffix in (".cpp", ".hpp"):
        return cpp_without_strings(text)
    return text


def sources() -> list[Path]:
    wanted = {".hpp", ".cpp", ".h", ".py", ".sh", ".cmake"}
    found = [p for room in ROOMS for p in Path(room).rglob("*")
             if p.is_file() and (p.suffix in wanted or p.name == "CMakeLists.txt")]
    return sorted(found) + [Path("dev"), Path(".ci/run"), Path("tests/tidy/run"), Path("CMakeLists.txt")]


def main() -> int:
    bad = 0
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if text.isascii():
            continue
        for number, line in enumerate(judged_text(path, text).split("\n"), 1):
            if not line.isascii():
                strange = next(c for c in line if ord(c) > 127)
                print(f"{path}:{number}: U+{ord(strange):04X} is not ASCII")
                bad += 1
    return 1 if bad else 0


sys.exit(main())
