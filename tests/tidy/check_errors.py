"""Every error code and every operation of the protocol is on docs/protocol.md, in its own words."""

import re
import sys
from pathlib import Path


def codes() -> list[str]:
    """The enumerators of ErrorCode, which are the strings on the wire."""
    body = re.search(r"enum class ErrorCode[^{]*\{(.*?)\n\};", Path("codec/base/error.hpp").read_text(), re.S)
    return re.findall(r"^\s*(\w+) = \d+,", body.group(1), re.MULTILINE) if body else []


def main() -> int:
    names = codes()
    page = Path("docs/protocol.md").read_text()
    source = Path("codec/base/error.cpp").read_text()
    bad = [f"error code {name} has no row in docs/protocol.md" for name in names
           if not re.search(rf"^\| `{name}` \|", page, re.MULTILINE)]
    bad += [f"error code {name} has no string in codec/base/error.cpp" for name in names
            if f'"{name}"' not in source]
    if len(names) < 20:
        bad.append(f"only {len(names)} codes were found: this check no longer reads the header")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
