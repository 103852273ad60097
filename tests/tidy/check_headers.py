"""Each header compiles alone, and twice: a missing include or guard shows at once.

Slow (a compiler run a header), hence a header is judged again only when it or a project header that
it includes has changed; what passed is remembered in build/tidy/headers.
"""

import hashlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOMS = ("codec", "engine", "bus", "bridge", "tests", "bench")
FLAGS = ["-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
         "-Wsign-conversion", "-Wold-style-cast", "-Wnon-virtual-dtor", "-Werror", "-DMSGPACK_NO_BOOST",
         "-I.", "-x", "c++", "-"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PASSED = Path("build/tidy/headers")


@cache
def closure(path: Path) -> frozenset[Path]:
    """The header and every project header that it sees, itself included."""
    seen: set[Path] = set()
    left = [path]
    while left:
        header = left.pop()
        if header in seen or not header.is_file():
            continue
        seen.add(header)
        left += [Path(name) for name in INCLUDE.findall(header.read_text())]
    return frozenset(seen)


def fingerprint(path: Path) -> str:
    digest = hashlib.sha256(" ".join([str(path), *FLAGS]).encode())
    for header in sorted(closure(path)):
        digest.update(str(header).encode() + b"\0" + header.read_bytes() + b"\0")
    return digest.hexdigest()


def compile_alone(path: Path) -> str:
    """What the compiler had to say; empty when the header is well."""
    line = f'#include "{path}"\n'
    done = subprocess.run([os.environ.get("CXX", "g++"), *FLAGS], input=line * 2, text=True,
                          capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def main() -> int:
    known = set(PASSED.read_text().split()) if PASSED.is_file() else set()
    headers = sorted(p for room in ROOMS for p in Path(room).rglob("*.hpp"))
    prints = {path: fingerprint(path) for path in headers}
    changed = [path for path in headers if prints[path] not in known]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = dict(zip(changed, pool.map(compile_alone, changed), strict=True))
    bad = {path: text for path, text in complaints.items() if text}
    for path, text in bad.items():
        print(f"{path} does not compile alone:\n{text}")
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    PASSED.write_text("".join(prints[p] + "\n" for p in headers if p not in bad))
    return 1 if bad else 0


sys.exit(main())
