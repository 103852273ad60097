"""The runs that this client holds: renewed while it lives, claimed again after a server restart."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from runwire import limits
from runwire.connection import Connection, checked
from runwire.errors import Error, Fenced, Lifecycle, NotOwner, TooLarge
from runwire.event_codec import check_subject
from runwire.waiting import wait_set

RENEW_SHARE = 0.3
"""Of the lease: how long after one renewal the next is sent."""
RUN_TERMINALS = frozenset(["run.completed", "run.failed", "run.cancelled"])


@dataclass(frozen=True)
class Claim:
    """A run that this client appends to and nobody else."""

    subject: str
    epoch: int
    lease: float
    """Seconds without a renewal after which the run is closed as failed (`owner_lost`)."""
    last: int
    """The run's last sequence when it was claimed."""
    state: str


@dataclass
class _Held:
    epoch: int
    lost: bool = False


class Claims:
    """Owner: the bus. Bound: CLAIMS_MAX. Errors: `fenced` names the holder's epoch."""

    def __init__(self, connection: Connection, lease: float) -> None:
        self._connection = connection
        self._lease = lease
        self._held: dict[str, _Held] = {}
        self._renewal: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._restarted = False

    async def claim(self, subject: str, epoch: int = 1) -> Claim:
        """Takes the run; appends to it then carry the epoch."""
        check_subject(subject)
        if subject not in self._held and len(self._held) >= limits.CLAIMS_MAX:
            raise TooLarge(f"claims: at most {limits.CLAIMS_MAX} a client")
        claim = await self._ask(subject, epoch)
        self._held[subject] = _Held(epoch)
        if self._renewal is None:
            self._renewal = asyncio.get_running_loop().create_task(self._renew_for_ever())
        return claim

    def epoch_of(self, subject: str | None) -> int | None:
        """The epoch to append under. A lost claim keeps it: the refusal then says `fenced`."""
        held = self._held.get(subject) if subject is not None else None
        return None if held is None else held.epoch

    def forget(self, subject: str | None) -> None:
        """The run has ended, and its claim with it."""
        if subject is not None:
            self._held.pop(subject, None)

    def restarted(self) -> None:
        """The server was restarted: every claim is taken again with the same epoch."""
        self._restarted = True
        self._wake.set()

    async def claim_again(self, subject: str) -> bool:
        """Whether the run is still, or again, this client's."""
        held = self._held.get(subject)
        if held is None or held.lost:
            return False
        try:
            await self._ask(subject, held.epoch)
        except (Fenced, Lifecycle, NotOwner):
            held.lost = True
        return not held.lost

    def close(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()

    async def _ask(self, subject: str, epoch: int) -> Claim:
        fields = {"subject": subject, "epoch": epoch}
        reply = checked(await self._connection.call("claim", fields), "claim").fields
        self._lease = max(reply.uint("lease_ms"), 1) / 1000
        return Claim(
            reply.text("subject"),
            reply.uint("epoch"),
            self._lease,
            reply.uint("last"),
            reply.text("state"),
        )

    async def _renew_for_ever(self) -> None:
        while True:
            await wait_set(self._wake, self._lease * RENEW_SHARE)
            everything, self._restarted = self._restarted, False
            try:
                for subject in list(self._held) if everything else await self._renew():
                    await self.claim_again(subject)
            except Error:
                self._restarted = everything  # the server is away: the next turn tries again

    async def _renew(self) -> list[str]:
        """Renews; returns those that the server says are no longer held."""
        claims = [[subject, held.epoch] for subject, held in self._held.items() if not held.lost]
        if not claims:
            return []
        reply = checked(await self._connection.call("renew", {"claims": claims}), "renew").fields
        return reply.texts("lost", limits.CLAIMS_MAX)
