"""Who may use a client object: its own event loop, in its own process. Anything else is told so at once."""

from __future__ import annotations

import asyncio
import os

from runwire.errors import Closed, UsedAfterFork, WrongThread


class Guard:
    """Made on the loop that owns the object. Errors: UsedAfterFork, WrongThread, Closed."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.pid = os.getpid()
        self.closed = False

    @property
    def forked(self) -> bool:
        """In a child the sockets' threads do not exist: a send would vanish without a word."""
        return os.getpid() != self.pid

    def check(self) -> None:
        """Raises unless the caller runs on the owner's loop and the object is open."""
        if self.forked:
            raise UsedAfterFork("not usable after fork: connect again in the child process")
        try:
            here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is not self.loop:
            raise WrongThread("used off its event loop: use runwire.sync, or one connect() a loop")
        if self.closed:
            raise Closed("this client object was closed")
