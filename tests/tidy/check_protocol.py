"""docs/protocol.md names every message and every field that the source has, each in its own section.

The table of the Python client is compared with the page; that C++ has the same messages is what the
golden vectors hold; here only their names are compared.
"""

import json
import re
import sys
from pathlib import Path

sys.path[:0] = ["clients/python/src", "tests/golden"]

import recipe  # noqa: E402
from runwire import protocol  # noqa: E402
from runwire.protocol import Field, Items, Map  # noqa: E402

PAGE = Path("docs/protocol.md").read_text()
EXAMPLE = re.compile(r"^Vector `([^`]+)`:\n\n```hex\n([^`]+)```", re.MULTILINE)
EXAMPLES_LEAST = 6
NAMES = re.compile(r'(?:KnownOperation|KnownAnswer)\{\s*"(\w+)"')


def sections() -> dict[str, str]:
    """Text by heading. A heading of two messages stands for both."""
    found: dict[str, str] = {}
    for part in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        for name in heading.split(","):
            found[name.strip()] = text
    return found


def keys(fields: tuple[Field, ...]) -> set[str]:
    found: set[str] = set()
    for field in fields:
        found.add(field.key)
        form = field.form.each if isinstance(field.form, Items) else field.form
        if isinstance(form, Map):
            found |= keys(form.fields)
    return found


def missing(what: str, wanted: set[str], text: str) -> list[str]:
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", text))))
    return [f"docs/protocol.md: {what} does not name `{key}`" for key in sorted(wanted - words)]


def examples() -> list[str]:
    """The hex of the page is that of the vectors that it names."""
    vectors: dict[str, bytes] = {}
    for name in ("events-valid", "messages-valid"):
        for line in Path(f"tests/golden/v1/{name}.ndjson").read_text().splitlines():
            row = json.loads(line)
            vectors[row["name"]] = recipe.read(row["bytes"])
    found = EXAMPLE.findall(PAGE)
    bad = [f"docs/protocol.md: the example `{name}` is not that vector" for name, text in found
           if vectors.get(name) != bytes.fromhex(text)]
    if len(found) < EXAMPLES_LEAST:
        bad.append(f"docs/protocol.md: only {len(found)} examples in hex")
    return bad


def main() -> int:
    page = sections()
    numbers, requests = page["3. Numbers that every message carries"], page["4. Requests: ROUTER"]
    span = keys(protocol.SPAN)
    bad = examples()
    bad += missing("section 3", span | {"log", "term"}, numbers)
    bad += missing("section 4", keys(protocol.REQUEST) | keys(protocol.REPLY), requests)
    for op in protocol.REQUESTS:
        if op not in page:
            bad.append(f"docs/protocol.md: no section of `{op}`")
            continue
        wanted = keys(protocol.REQUESTS[op]) | (keys(protocol.REPLIES[op]) - span)
        bad += missing(f"the section of {op}", wanted, page[op])
    observers = page["5. Required observers: PUSH and acks"]
    for kind, fields in protocol.DELIVERIES.items():
        bad += missing(f"section 5 ({kind})", {kind} | keys(protocol.DELIVERY) | keys(fields) - span, observers)
    bad += missing("section 5 (ack)", keys(protocol.ACK), observers)
    live = page["6. Live: PUB"]
    for kind, fields in protocol.LIVES.items():
        bad += missing(f"section 6 ({kind})", {kind} | keys(protocol.LIVE) | keys(fields) - span, live)
    for file, table in (("requests", protocol.REQUESTS), ("replies", protocol.REPLIES)):
        names = set(NAMES.findall(Path(f"codec/wire/{file}.cpp").read_text()))
        if names != set(table):
            bad.append(f"codec/wire/{file}.cpp and the Python client differ: {sorted(names ^ set(table))}")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
