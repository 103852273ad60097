#!/usr/bin/env python3
"""Follows one run, or the whole fleet, and goes on through restarts: `follow.py [SUBJECT] [AFTER]`."""

import asyncio
import sys

import runwire


async def main(subject: str | None = None, after: str = "0") -> None:
    async with await runwire.connect() as bus:
        async for event in bus.events(subject, after=int(after)):
            place = "live" if event.ephemeral else f"{event.position:>4}"
            print(f"{place}  {event.subject or '-':<24} {event.type:<20} {event.data_json[:60]}", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:3]))
    except KeyboardInterrupt:
        sys.exit(130)
    except runwire.Error as error:
        sys.exit(f"follow: {error}")
