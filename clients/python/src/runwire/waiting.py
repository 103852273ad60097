"""Waiting with a bound. asyncio.wait_for of Python 3.11 can swallow a cancellation; this cannot."""

from __future__ import annotations

import asyncio


async def wait_set(event: asyncio.Event, seconds: float) -> None:
    """Returns when the event is set, which it also is after `seconds`; clears it."""
    timer = asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()
