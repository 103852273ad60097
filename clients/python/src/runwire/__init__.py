"""Runwire: read and write the event bus of an agent fleet.

```python
import asyncio, runwire

async def main():
    async with await runwire.connect() as bus:
        async for event in bus.events("run-1"):
            print(event.seq, event.type, event.data)

asyncio.run(main())
```

Code without an event loop uses `runwire.sync`. Everything here is written from docs/protocol.md.
"""

from runwire.bus import Bus, connect
from runwire.claims import Claim
from runwire.errors import (
    Backpressure,
    Closed,
    Conflict,
    Corrupt,
    CursorAhead,
    CursorError,
    CursorExpired,
    CursorForeign,
    Error,
    Fenced,
    Internal,
    Invalid,
    Lifecycle,
    Locked,
    NotFound,
    NotOwner,
    ObserverRefused,
    ObserverTimeout,
    OutOfOrder,
    SlowConsumer,
    StoreFailed,
    StoreFull,
    TimedOut,
    TooLarge,
    Unavailable,
    UnexpectedSeq,
    Unsupported,
    UsedAfterFork,
    WrongThread,
)
from runwire.event import Draft, Event, Receipt
from runwire.ids import new_event_id
from runwire.join import Counters
from runwire.observer import Observation
from runwire.rows import ObserverInfo, SubjectInfo
from runwire.stream import EventStream
from runwire.upcast import Upcasts

__version__ = "0.1.0"

__all__ = [
    "Backpressure",
    "Bus",
    "Claim",
    "Closed",
    "Conflict",
    "Corrupt",
    "Counters",
    "CursorAhead",
    "CursorError",
    "CursorExpired",
    "CursorForeign",
    "Draft",
    "Error",
    "Event",
    "EventStream",
    "Fenced",
    "Internal",
    "Invalid",
    "Lifecycle",
    "Locked",
    "NotFound",
    "NotOwner",
    "Observation",
    "ObserverInfo",
    "ObserverRefused",
    "ObserverTimeout",
    "OutOfOrder",
    "Receipt",
    "SlowConsumer",
    "StoreFailed",
    "StoreFull",
    "SubjectInfo",
    "TimedOut",
    "TooLarge",
    "Unavailable",
    "UnexpectedSeq",
    "Unsupported",
    "Upcasts",
    "UsedAfterFork",
    "WrongThread",
    "connect",
    "new_event_id",
]
