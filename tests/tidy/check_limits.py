"""docs/limits.md and the headers name the same bounds with the same defaults.

Those of codec/base/limits.hpp stand by their names; every other constant of a header that is a
bound (`..._max`, and all of a bounds.hpp) stands as `folder/header::name`. Where the Python client
has a bound of the same name as one of limits.hpp, it has the same value.
"""

import re
import sys
from pathlib import Path

LIMITS = Path("codec/base/limits.hpp")
ROOMS = ("codec", "engine", "bus", "bridge")
CONSTANT = re.compile(
    r"(?:inline|static) constexpr (?P<type>[\w:]+)\s+(?P<name>\w+)\s*(?:=\s*(?P<value>[^;]+)|\{(?P<braced>[^}]+)\});"
)
ROW = re.compile(r"^\| `(?P<name>[\w/:]+)` \| (?P<value>[^|]+?) \|", re.MULTILINE)
# Counts have no unit, sizes are in bytes, times in milliseconds.
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "B": 1, "ms": 1, "s": 1000}


def evaluate(expression: str, known: dict[str, int]) -> int:
    """The few forms that the headers use: literals, casts by braces, <<, +, *, other constants."""
    text = re.sub(r"std::(?:size_t|uint64_t)\{(\d+)\}", r"\1", expression).replace("'", "").replace("limits::", "")
    text = " ".join(text.split())
    if not re.fullmatch(r"[\w\s<+*()-]+", text):
        raise ValueError(f"cannot read '{expression}'")
    return int(eval(text, {"__builtins__": {}}, dict(known)))


def constants_of(header: Path, known: dict[str, int], bounds_only: bool) -> dict[str, int]:
    found: dict[str, int] = {}
    for match in CONSTANT.finditer(header.read_text()):
        if bounds_only and not match["name"].endswith("_max"):
            continue
        value = evaluate(match["value"] or match["braced"], known | found)
        found[match["name"]] = value * 1000 if match["type"].endswith("::seconds") else value
    return found


def constants() -> dict[str, int]:
    limits = constants_of(LIMITS, {}, bounds_only=False)
    found = dict(limits)
    for header in sorted(path for room in ROOMS for path in Path(room).rglob("*.hpp")):
        if header != LIMITS:
            own = constants_of(header, limits, bounds_only=header.name != "bounds.hpp")
            found |= {f"{header.with_suffix('')}::{name}": value for name, value in own.items()}
    return found


def rows() -> dict[str, int]:
    found: dict[str, int] = {}
    for match in ROW.finditer(Path("docs/limits.md").read_text()):
        number, _, unit = match["value"].partition(" ")
        if unit not in UNITS:
            raise ValueError(f"limits.md: {match['name']}: unit '{unit}' is none of {sorted(UNITS)}")
        if match["name"] in found:
            raise ValueError(f"limits.md: {match['name']} has two rows")
        found[match["name"]] = int(number.replace(",", "")) * UNITS[unit]
    return found


def python_limits() -> dict[str, int]:
    """Those of the client whose name is one of the header's: DATA_BYTES_MAX is data_bytes_max."""
    text = Path("clients/python/src/runwire/limits.py").read_text()
    found = re.findall(r"^([A-Z_]+): Final = ([\d_]+(?: << \d+)?)$", text, re.MULTILINE)
    return {name.lower(): evaluate(value.replace("_", ""), {}) for name, value in found}


def main() -> int:
    code, page = constants(), rows()
    bad = [f"{name} has no row in docs/limits.md" for name in code if name not in page]
    bad += [f"{name} is in docs/limits.md only" for name in page if name not in code]
    bad += [f"{name} is {code[name]} in the code and {page[name]} in docs/limits.md"
            for name in code if name in page and code[name] != page[name]]
    bad += [f"{name} is {code[name]} in the code and {value} in the Python client"
            for name, value in python_limits().items() if code.get(name, value) != value]
    if len(code) < 20:
        bad.append(f"only {len(code)} constants were found: this check no longer reads the header")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
