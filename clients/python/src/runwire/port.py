"""One ZeroMQ socket on an event loop: the one place for limits, and for waking at the right time.

A message that arrives is handed to a callback, never to a future that somebody may cancel: so no
cancelled wait can lose it.
"""

from __future__ import annotations

import asyncio
from typing import Callable, Sequence

import zmq

from runwire import limits
from runwire.errors import Internal

OnMessage = Callable[[list[bytes]], None]


class Port:
    """Owner: the loop that made it. Bounds: both high-water marks, the message size, linger.

    `send` never waits: False where the peer is away or its queue is full; `on_writable` is called
    once when that may have changed. Errors: Internal where libzmq refuses the endpoint.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        kind: int,
        endpoint: str,
        on_message: OnMessage | None = None,
        on_writable: Callable[[], None] | None = None,
        topics: Sequence[bytes] = (),
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_message = on_message
        self._on_writable = on_writable
        self._blocked = False
        self._paused = False
        self._closed = False
        self._again: asyncio.Handle | None = None
        self._socket = context.socket(kind)
        try:
            self._set_limits(kind)
            for topic in topics:
                self._socket.setsockopt(zmq.SUBSCRIBE, topic)
            self._socket.connect(endpoint)
        except zmq.ZMQError as problem:
            self._socket.close(0)
            raise Internal(f"{endpoint}: {problem}") from problem
        self._fd = int(self._socket.getsockopt(zmq.FD))
        self._loop.add_reader(self._fd, self._turn)
        self._turn_soon()

    def _set_limits(self, kind: int) -> None:
        options = {
            zmq.LINGER: limits.LINGER_MS,
            zmq.MAXMSGSIZE: limits.MESSAGE_BYTES_MAX,
            zmq.SNDHWM: limits.SEND_MESSAGES_MAX,
            zmq.RCVHWM: limits.RECEIVE_MESSAGES_MAX,
            zmq.RECONNECT_IVL: limits.RECONNECT_MS,
            zmq.RECONNECT_IVL_MAX: limits.RECONNECT_MAX_MS,
            zmq.HANDSHAKE_IVL: limits.HANDSHAKE_MS,
            zmq.HEARTBEAT_IVL: limits.ZMTP_HEARTBEAT_MS,
            zmq.HEARTBEAT_TIMEOUT: limits.ZMTP_TIMEOUT_MS,
        }
        if kind in (zmq.DEALER, zmq.PUSH):
            # Nothing is queued for a peer that is away: a request would wait there beside its repeats.
            options[zmq.IMMEDIATE] = 1
        for option, value in options.items():
            self._socket.setsockopt(option, value)

    @property
    def paused(self) -> bool:
        return self._paused

    def send(self, frames: Sequence[bytes]) -> bool:
        """Hands the message to libzmq, if a peer is there to take it."""
        if self._closed:
            return False
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            self._blocked = True
            self._turn_soon()
            return False
        # Sending may swallow the wake-up of a message that arrived meanwhile.
        self._turn_soon()
        return True

    def pause(self) -> None:
        """Leaves further messages in the socket."""
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._turn_soon()

    def drain(self) -> None:
        """Takes what has arrived by now: for a caller that is about to judge silence."""
        self._turn()

    def close(self) -> None:
        """What was sent is flushed in the background for LINGER_MS."""
        if self._closed:
            return
        self._closed = True
        if self._again is not None:
            self._again.cancel()
        if not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        self._socket.close()

    def _turn_soon(self) -> None:
        if self._again is None and not self._closed:
            self._again = self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """The descriptor is edge-triggered: everything is taken, or another turn is asked for."""
        if self._again is not None:
            self._again.cancel()
            self._again = None
        for _ in range(limits.MESSAGES_PER_TURN_MAX):
            if self._closed:
                return
            if self._paused or self._on_message is None:
                break
            frames = self._receive()
            if frames is None:
                break
            self._on_message(frames)
        if not self._closed:
            self._look_again()

    def _receive(self) -> list[bytes] | None:
        """One whole message; of one with too many frames, enough for a decoder to refuse it."""
        try:
            frames = [self._socket.recv(zmq.NOBLOCK)]
            while self._socket.getsockopt(zmq.RCVMORE):
                more = self._socket.recv(zmq.NOBLOCK)
                if len(frames) <= limits.FRAMES_MAX:
                    frames.append(more)
        except zmq.Again:
            return None
        return frames

    def _look_again(self) -> None:
        """Asking for the events rearms the descriptor, and may be what swallows its wake-up."""
        events = int(self._socket.getsockopt(zmq.EVENTS))
        if events & zmq.POLLIN and not self._paused and self._on_message is not None:
            self._turn_soon()
        if events & zmq.POLLOUT and self._blocked:
            self._blocked = False
            if self._on_writable is not None:
                self._on_writable()
