"""Where the server is: the url given, RUNWIRE_URL, or the user's own ipc path.

>>> check_endpoint("tcp://127.0.0.1:7411")
'tcp://127.0.0.1:7411'
"""

from __future__ import annotations

import os
import stat

from runwire.errors import Invalid
from runwire.limits import ENDPOINT_BYTES_MAX

SCHEMES = ("ipc://", "tcp://")


def resolve_endpoint(url: str | None) -> str:
    """The endpoint to connect to. `Invalid` where it is none, or where its directory is another's."""
    return check_endpoint(url or os.environ.get("RUNWIRE_URL") or default_endpoint())


def default_endpoint() -> str:
    """`$XDG_RUNTIME_DIR/runwire/requests`, else `/tmp/runwire-UID/requests`; the same as the server's."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return f"ipc://{runtime}/runwire/requests"
    directory = f"/tmp/runwire-{os.getuid()}"
    _check_directory(directory)
    return f"ipc://{directory}/requests"


def check_endpoint(url: str) -> str:
    """The url, if a client may connect to it."""
    if not url.startswith(SCHEMES) or len(url) <= len("tcp://"):
        raise Invalid(f"url: {url!r} is neither ipc://PATH nor tcp://HOST:PORT")
    if len(url.encode()) > ENDPOINT_BYTES_MAX:
        raise Invalid(f"url: at most {ENDPOINT_BYTES_MAX} bytes")
    if "*" in url:
        raise Invalid(f"url: {url!r} names no peer")
    return url


def _check_directory(directory: str) -> None:
    """In a directory that others can write to, anybody could stand where the server should."""
    try:
        found = os.lstat(directory)
    except FileNotFoundError:
        return  # no server has been here yet; connecting will say so
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not own or stat.S_IMODE(found.st_mode) & 0o077:
        raise Invalid(
            f"{directory} is not a directory of yours with mode 0700; remove it or set RUNWIRE_URL"
        )
