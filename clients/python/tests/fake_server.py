"""A small server that speaks docs/protocol.md from memory, and breaks on demand.

It lives on a thread of its own, so that it goes on while a test's loop is busy. What it does wrong
is switched on by a test: lost replies, dropped PUB messages, silence, restarts.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, TypeVar

import msgpack
import zmq
import zmq.asyncio

from runwire.event import Event
from runwire.event_codec import encode_event

import uuid

T = TypeVar("T")


@dataclass
class Stored:
    """One durable event of the fake log."""

    event: Event
    encoded: bytes


@dataclass
class Observer:
    """What the fake knows of one required observer."""

    acked: int = 0
    epoch: int = 0
    sent: int = 0
    port: Any = None
    refusals: list[tuple[int, str]] = field(default_factory=list)


class FakeServer:
    """Owner: its thread; a test reaches in with do()."""

    def __init__(self, directory: str, *, heartbeat: float = 0.1, observers: tuple[str, ...] = ()) -> None:
        self.directory = directory
        self.endpoint = f"ipc://{directory}/requests"
        self.heartbeat = heartbeat
        self.log = os.urandom(16)
        self.term = 0
        self.events: list[Stored] = []
        self.by_subject: dict[str, list[int]] = {}
        self.ids: dict[bytes, tuple[int, int]] = {}
        self.observers = {name: Observer() for name in observers}
        self.claims: dict[str, tuple[bytes, int]] = {}
        self.earliest = 1
        self.page_events = 1024
        self.counters: Counter[bytes] = Counter()
        self.requests: Counter[str] = Counter()
        self.seen: list[dict[str, Any]] = []
        self.topics: set[bytes] = set()
        self.lose_replies = 0
        self.swallow_appends = 0
        self.drop_live = 0
        self.silent = False
        self.repeat_beacons = False
        self.slow_acks = False
        self._asked = asyncio.Event()
        self.refuse_next: dict[str, list[dict[str, Any]]] = {}
        self.published = 0
        self.held: list[tuple[bytes, list[bytes]]] = []
        self.hold_live = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    # ---- for tests ---------------------------------------------------------------------------

    def do(self, work: Callable[[], T]) -> T:
        """Runs `work` on the server's thread."""
        assert self._loop is not None
        result: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as problem:
                result.set_exception(problem)

        self._loop.call_soon_threadsafe(run)
        return result.result(20)

    def append(self, subject: str, type: str = "acme.step", data: str = "{}") -> None:
        """A durable event from somewhere else."""
        self.do(lambda: self._append_durable(subject, type, data, os.urandom(16), 1))

    def append_many(self, subject: str, count: int) -> None:
        def work() -> None:
            for _ in range(count):
                self._append_durable(subject, "acme.step", "{}", os.urandom(16), 1)

        self.do(work)

    def ephemeral(self, subject: str, data: str = "{}") -> None:
        self.do(lambda: self._publish_ephemeral(subject, "acme.delta", data, os.urandom(16)))

    def refuse(self, op: str, code: str, **facts: Any) -> None:
        """The next request of this kind is refused."""
        error = {"code": code, "message": f"the test said {code}", "facts": facts}
        self.do(lambda: self.refuse_next.setdefault(op, []).append(error))

    def stop_sockets(self) -> None:
        """As kill -9: sockets gone, log kept."""
        self.do(self._close_sockets)

    def start_sockets(self) -> None:
        """As a start after stop_sockets(): the next term."""
        self.do(self._open_sockets)

    def restart(self) -> None:
        def work() -> None:
            self._close_sockets()
            self._open_sockets()

        self.do(work)

    def wait(self, condition: Callable[[], bool], seconds: float = 10.0) -> None:
        """Until the condition holds on the server's thread."""
        end = time.monotonic() + seconds
        while not self.do(condition):
            assert time.monotonic() < end, "the condition never held"

    def close(self) -> None:
        loop = self._loop
        assert loop is not None
        self.do(self._close_sockets)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(10)

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        loop = asyncio.new_event_loop()
        self._loop = loop
        self._context = zmq.asyncio.Context()
        self._tasks: list[asyncio.Task[None]] = []
        loop.call_soon(self._open_sockets)
        loop.call_soon(self._ready.set)
        loop.run_forever()
        loop.run_until_complete(asyncio.sleep(0))
        self._context.destroy(0)
        loop.close()

    def _socket(self, kind: int, name: str) -> Any:
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.bind(f"ipc://{self.directory}/{name}")
        return socket

    def _open_sockets(self) -> None:
        assert self._loop is not None
        self.term += 1
        self.counters.clear()
        self.topics.clear()
        self.router = self._socket(zmq.ROUTER, "requests")
        self.pub = self._context.socket(zmq.XPUB)
        self.pub.linger = 0
        self.pub.setsockopt(zmq.XPUB_VERBOSE, 1)
        self.pub.bind(f"ipc://{self.directory}/live")
        self.acks = self._socket(zmq.PULL, "acks")
        loops = (self._serve_requests(), self._serve_topics(), self._serve_acks(), self._beat())
        self._tasks = [self._loop.create_task(work) for work in loops]

    def _close_sockets(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []
        for socket in (self.router, self.pub, self.acks):
            socket.close(0)
        for observer in self.observers.values():
            if observer.port is not None:
                observer.port.close(0)
                observer.port = None

    async def _serve_requests(self) -> None:
        while True:
            peer, *frames = await self.router.recv_multipart()
            request = msgpack.unpackb(frames[0])
            self.requests[request["op"]] += 1
            self.seen.append(request)
            if request["op"] == "read" and request.get("wait_ms"):
                assert self._loop is not None
                self._tasks.append(self._loop.create_task(self._read_later(peer, request)))
                continue
            if request["op"] == "append" and self.swallow_appends > 0:
                self.swallow_appends -= 1
                continue
            self._reply(peer, request)

    def _reply(self, peer: bytes, request: dict[str, Any]) -> None:
        refusals = self.refuse_next.get(request["op"])
        events = b""
        if refusals:
            body: dict[str, Any] = {"error": refusals.pop(0)}
        else:
            body, events = getattr(self, "_op_" + request["op"])(request)
        if self.lose_replies > 0:
            self.lose_replies -= 1
            return
        header = {
            "v": 1,
            "op": request["op"],
            "rid": request["rid"],
            "log": self.log,
            "term": self.term,
            **body,
        }
        frames = [peer, msgpack.packb(header)] + ([events] if events else [])
        asyncio.ensure_future(self.router.send_multipart(frames))

    async def _read_later(self, peer: bytes, request: dict[str, Any]) -> None:
        end = time.monotonic() + request["wait_ms"] / 1000
        while time.monotonic() < end and self._op_read(request)[0].get("count") == 0:
            await asyncio.sleep(0.005)
        self._reply(peer, request)

    # ---- operations --------------------------------------------------------------------------

    def _op_hello(self, _: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        return {
            "server": "fake",
            "versions": [1],
            "live": f"ipc://{self.directory}/live",
            "acks": f"ipc://{self.directory}/acks",
            "committed": len(self.events),
            "acknowledged": self.acknowledged,
            "earliest": self.earliest,
            "heartbeat_ms": int(self.heartbeat * 1000),
            "lease_ms": 1000,
            "ack_deadline_ms": 500,
            "sync": "always",
        }, b""

    @property
    def acknowledged(self) -> int:
        return min([len(self.events), *(each.acked for each in self.observers.values())])

    def _op_read(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if request.get("log", self.log) != self.log:
            return self._error("cursor_foreign", requested_log="other", log=self.log.hex()), b""
        subject, after = request.get("subject"), request["after"]
        level = request.get("level", "acknowledged")
        limit = self.acknowledged if level == "acknowledged" else len(self.events)
        positions = [
            position
            for position in (
                range(1, len(self.events) + 1) if subject is None else self.by_subject.get(subject, [])
            )
        ]
        visible = [position for position in positions if position <= limit]
        place = (lambda p: p) if subject is None else (lambda p: self.events[p - 1].event.seq)
        latest = place(visible[-1]) if visible else 0
        newest = place(positions[-1]) if positions else 0
        if after > newest:
            return self._error("cursor_ahead", requested=after, latest=newest), b""
        if after + 1 < self.earliest and newest:
            facts = {"requested": after, "earliest": self.earliest, "latest": latest}
            return self._error("cursor_expired", **facts, recovery=self.earliest - 1), b""
        count_max = min(request.get("max_events", 1024), self.page_events)
        page = [position for position in visible if place(position) > after][:count_max]
        end = (place(page[-1]) if page else after) >= latest and after <= max(latest, 0)
        body = {
            "count": len(page),
            "first": page[0] if page else 0,
            "last": page[-1] if page else 0,
            "next": place(page[-1]) if page else after,
            "latest": latest,
            "acknowledged": self.acknowledged,
            "committed": len(self.events),
            "earliest": self.earliest,
            "end": bool(end),
            "a_newer_field": [1, {"x": None}],
        }
        if page and page != list(range(page[0], page[-1] + 1)):
            body["positions"] = page
        return body, b"".join(self.events[position - 1].encoded for position in page)

    def _op_append(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        subject = request.get("subject")
        owner = self.claims.get(subject or "")
        body: dict[str, Any] = {"taken": 0, "seqs": [], "positions": []}
        if subject is not None:
            body["subject"] = subject
        body |= {"duplicates": [], "level": request.get("level", "committed"), "sync": "always"}
        if owner and owner != (request["client"], request.get("epoch")):
            return {**body, **self._error("not_owner")}, b""
        for index, item in enumerate(request["events"]):
            if item["type"] == "acme.refused":
                return {**body, **self._error("lifecycle", index=index)}, b""
            known = self.ids.get(item["id"])
            if known:
                body["duplicates"].append(index)
            elif item.get("ephemeral"):
                known = (0, 0)
                self._publish_ephemeral(subject, item["type"], item["data"], item["id"])
            else:
                known = self._append_durable(
                    subject, item["type"], item["data"], item["id"], item["version"]
                )
            if item["type"] in ("run.completed", "run.failed", "run.cancelled"):
                self.claims.pop(subject or "", None)
            body["taken"] += 1
            body["seqs"].append(known[0])
            body["positions"].append(known[1])
        return body, b""

    def _op_claim(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        held = self.claims.get(request["subject"])
        mine = (request["client"], request["epoch"])
        if held and held != mine and held[1] >= mine[1]:
            return self._error("fenced", epoch=held[1]), b""
        self.claims[request["subject"]] = mine
        last = len(self.by_subject.get(request["subject"], []))
        return {
            "subject": request["subject"],
            "epoch": mine[1],
            "lease_ms": 300,
            "last": last,
            "state": "open",
        }, b""

    def _op_renew(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        lost = [
            subject
            for subject, epoch in request["claims"]
            if self.claims.get(subject) != (request["client"], epoch)
        ]
        return {"lease_ms": 300, "lost": lost}, b""

    def _op_subjects(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        names = [
            name
            for name in sorted(self.by_subject)
            if name > request.get("after", "") and name.startswith(request.get("prefix", ""))
        ]
        page = names[: min(request.get("max", 1024), 2)]
        rows = [
            {
                "subject": name,
                "state": "open",
                "first": 1,
                "last": len(self.by_subject[name]),
                "first_position": self.by_subject[name][0],
                "last_position": self.by_subject[name][-1],
                "time": 5,
                "owner_term": 1,
            }
            for name in page
        ]
        return {"subjects": rows, "end": len(page) == len(names)}, b""

    def _op_observers(self, _: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        self._asked.set()
        rows = [
            {
                "observer": name,
                "state": "attached" if each.port else "absent",
                "epoch": each.epoch,
                "acked": each.acked,
                "owed": len(self.events) - each.acked,
                "in_flight": 0,
                "redeliveries": 0,
                "refusals": len(each.refusals),
            }
            for name, each in self.observers.items()
        ]
        return {"observers": rows}, b""

    def _op_status(self, _: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        return {"status": {"committed": len(self.events), "sync": "always"}}, b""

    def _op_attach(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        observer = self.observers.get(request["observer"])
        if observer is None:
            return self._error("not_found", observer=request["observer"]), b""
        if request.get("log", self.log) != self.log:
            return self._error("cursor_foreign"), b""
        if request.get("position", 0) > len(self.events):
            return self._error("cursor_ahead", requested=request["position"]), b""
        if observer.port is not None:
            self._to_observer(request["observer"], {"kind": "fenced", "current": observer.epoch + 1})
            observer.port.close(100)
        observer.epoch += 1
        observer.sent = observer.acked
        name = f"d-{observer.epoch}-{self.term}"
        observer.port = self._socket(zmq.PUSH, name)
        assert self._loop is not None
        self._loop.call_soon(self._deliver, request["observer"])
        return {
            "observer": request["observer"],
            "epoch": observer.epoch,
            "deliver": f"ipc://{self.directory}/{name}",
            "acks": f"ipc://{self.directory}/acks",
            "acked": observer.acked,
            "ack_deadline_ms": 500,
            "max_in_flight": 1024,
        }, b""

    def _op_detach(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        observer = self.observers[request["observer"]]
        if observer.port is not None and request["epoch"] == observer.epoch:
            observer.port.close(0)
            observer.port = None
        self._asked.set()
        return {}, b""

    def _error(self, code: str, **facts: Any) -> dict[str, Any]:
        return {"error": {"code": code, "message": f"fake {code}", "facts": facts}}

    # ---- observers ---------------------------------------------------------------------------

    def _to_observer(self, name: str, fields: dict[str, Any], events: bytes = b"") -> None:
        observer = self.observers[name]
        if observer.port is None:
            return
        header = {
            "v": 1,
            "kind": fields.pop("kind"),
            "observer": name,
            "log": self.log,
            "term": self.term,
            "epoch": observer.epoch,
            **fields,
        }
        frames = [msgpack.packb(header)] + ([events] if events else [])
        asyncio.ensure_future(observer.port.send_multipart(frames))

    def _deliver(self, name: str, size: int = 3) -> None:
        """Everything owed, a few events a message."""
        observer = self.observers[name]
        while observer.port is not None and observer.sent < len(self.events):
            first = observer.sent + 1
            last = min(observer.sent + size, len(self.events))
            frame = b"".join(stored.encoded for stored in self.events[first - 1 : last])
            fields = {"kind": "deliver", "count": last - first + 1, "first": first, "last": last}
            self._to_observer(name, {**fields, "again": False}, frame)
            observer.sent = last

    async def _serve_acks(self) -> None:
        while True:
            ack = msgpack.unpackb((await self.acks.recv_multipart())[0])
            observer = self.observers[ack["observer"]]
            if self.slow_acks:  # Overtaken by whatever is asked next.
                await self._asked.wait()
                self._asked.clear()
            if observer.port is None:
                continue
            if (ack["epoch"], ack["term"], ack["log"]) != (observer.epoch, self.term, self.log):
                continue
            before = observer.acked
            if "nack" in ack:
                observer.acked = max(before, ack["nack"] - 1)
                observer.refusals.append((ack["nack"], ack["reason"]))
                observer.sent = observer.acked
                assert self._loop is not None
                self._loop.call_later(0.01, self._deliver, ack["observer"])
            else:
                assert ack["acked"] <= observer.sent, "an ack of what was never delivered"
                observer.acked = max(before, ack["acked"])
            self._publish_acknowledged()

    # ---- live --------------------------------------------------------------------------------

    async def _serve_topics(self) -> None:
        while True:
            frame = await self.pub.recv()
            topic = frame[1:]
            if frame[:1] == b"\x01":
                self.topics.add(topic)
                if topic != b"!/":
                    self._beacon(topic)
            else:
                self.topics.discard(topic)

    def _beacon(self, topic: bytes) -> None:
        if topic == b"*/":
            body: dict[str, Any] = {"last": self.published}
        else:
            positions = self.by_subject.get(topic[:-1].decode(), [])
            last = len([position for position in positions if position <= self.published])
            body = {"subject": topic[:-1].decode(), "last": last, "state": "open"}
        self._send_live(topic, {"kind": "beacon", "owner_term": 1, **body})

    def beacons(self) -> None:
        """Repeats the beacons of all topics."""
        self.do(lambda: [self._beacon(topic) for topic in self.topics if topic != b"!/"])

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.heartbeat)
            if self.silent:
                continue
            self._send_live(b"!/", {"kind": "heartbeat"}, forced=True)
            for topic in sorted(self.topics - {b"!/"}) if self.repeat_beacons else ():
                self._beacon(topic)
            for name, observer in self.observers.items():
                self._to_observer(name, {"kind": "heartbeat", "acked": observer.acked})

    def _send_live(
        self, topic: bytes, fields: dict[str, Any], events: bytes = b"", forced: bool = False
    ) -> None:
        self.counters[topic] += 1
        header = {
            "v": 1,
            "kind": fields.pop("kind"),
            "log": self.log,
            "term": self.term,
            "n": self.counters[topic],
            "acknowledged": self.acknowledged,
            **fields,
        }
        frames = [topic, msgpack.packb(header)] + ([events] if events else [])
        if self.drop_live > 0 and not forced:
            self.drop_live -= 1
        elif not self.silent and not self.pub.closed:
            asyncio.ensure_future(self.pub.send_multipart(frames))

    def _append_durable(
        self, subject: str, type: str, data: str, identity: bytes, version: int
    ) -> tuple[int, int]:
        positions = self.by_subject.setdefault(subject, [])
        seq, position = len(positions) + 1, len(self.events) + 1
        event = Event(
            uuid.UUID(bytes=identity), type, 5, subject, seq, version, position, {}, data, b""
        )
        positions.append(position)
        self.events.append(Stored(event, encode_event(event)))
        self.ids[identity] = (seq, position)
        for name in self.observers:
            self._deliver(name)
        self._publish_acknowledged()
        return seq, position

    def _publish_acknowledged(self) -> None:
        while self.published < self.acknowledged:
            stored = self.events[self.published]
            event = stored.event
            self.published += 1
            common = {"kind": "events", "count": 1, "first": event.position, "last": event.position}
            assert event.subject is not None
            mine = {"subject": event.subject, "prev": event.seq - 1, "owner_term": 1}
            self._send_live(event.subject.encode() + b"/", {**common, **mine}, stored.encoded)
            self._send_live(b"*/", {**common, "prev": event.position - 1}, stored.encoded)

    def _publish_ephemeral(self, subject: str | None, type: str, data: str, identity: bytes) -> None:
        event = Event(uuid.UUID(bytes=identity), type, 5, subject, 0, 0, 0, {}, data, b"")
        frame = encode_event(event)
        common = {"kind": "events", "count": 1, "first": 0, "last": 0}
        seq = len(self.by_subject.get(subject or "", []))
        topic = (subject or "").encode() + b"/"
        self._send_live(topic, {**common, "subject": subject or "", "prev": seq}, frame)
        self._send_live(b"*/", {**common, "prev": self.published}, frame)
