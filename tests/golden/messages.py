"""Vectors of every header, request and reply, made from the table of fields: each at its bounds.

A valid message is made of a sample for each field; an invalid one has exactly one thing wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

from pack import Raw, pack
from runwire import limits, protocol
from runwire.protocol import Bin16, Facts, Field, Flag, Items, Map, Text, Texts, Tuple, Uint

LOG = bytes(range(16))
OTHER = bytes(range(16, 32))
Made = dict[str, Any]


@dataclass(frozen=True)
class Vector:
    """`error` None: valid. `canonical`: these are the bytes that an encoder writes."""

    name: str
    message: str
    bytes: bytes
    error: str | None = None
    canonical: bool = False


@dataclass(frozen=True)
class Kind:
    """One message: its head with the name filled in, and its body."""

    name: str
    check: str
    head: tuple[Field, ...]
    body: tuple[Field, ...]
    fixed: Made

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.head + self.body


def kinds() -> Iterator[Kind]:
    for op, body in protocol.REQUESTS.items():
        yield Kind(f"request {op}", "request", protocol.REQUEST, body, {"op": op})
    for op, body in protocol.REPLIES.items():
        yield Kind(f"reply {op}", "reply", protocol.REPLY, body, {"op": op})
    for kind, body in protocol.DELIVERIES.items():
        yield Kind(f"delivery {kind}", "delivery", protocol.DELIVERY, body, {"kind": kind})
    yield Kind("ack acked", "ack", protocol.ACK[:5], (Field("acked", Uint()),), {})
    yield Kind("ack nack", "ack", protocol.ACK[:5], (Field("nack", Uint(1)), protocol.ACK[7]), {})
    for kind, body in protocol.LIVES.items():
        yield Kind(f"live {kind}", "live", protocol.LIVE, body, {"kind": kind})


# ---- Samples ---------------------------------------------------------------------------------------

SPAN = {"count": 2, "first": 7, "last": 8}
BY_KEY: Made = {
    "v": 1, "rid": 5, "client": OTHER, "log": LOG, "term": 3, "count": 2, "first": 7, "last": 8,
    "positions": [7, 8], "owners": [[2, OTHER, 4]], "taken": 1, "duplicates": [0],
    "subject": "run-1", "type": "acme.made", "data": '{"n":1}', "observer": "audit", "state": "open",
    "reason": "no room", "level": "acknowledged", "versions": [1], "message": "over a bound", "code": "too_large",
    "claims": [["run-1", 2]], "lost": ["run-2"], "live": "ipc:///run/live", "acks": "ipc:///run/acks",
    "deliver": "ipc:///run/a.1", "server": "runwire 1", "agent": "vectors 1", "sync": "always",
    "prefix": "run-", "facts": {"limit": 8, "subject": "run-1"}, "status": {"log.committed": 9, "store.state": "ok"},
    "max_events": 10, "max_bytes": 4096, "max": 10, "version": 2, "location": {"node": "a", "pid": "7"},
}


def sample(field: Field) -> Any:
    form = field.form
    if field.key in BY_KEY and not (isinstance(form, Uint) and not isinstance(BY_KEY[field.key], int)):
        return BY_KEY[field.key]
    if isinstance(form, Uint):
        return max(form.least, min(6, form.most))
    if isinstance(form, Bin16):
        return OTHER
    if isinstance(form, Flag):
        return True
    if isinstance(form, Text):
        return "run-0"
    if isinstance(form, Items) and isinstance(form.each, Map):
        return [whole(form.each.fields)]
    if isinstance(form, Items):
        return [4] * max(form.least, 1)
    if isinstance(form, Map):
        return whole(form.fields)
    raise TypeError(f"{field.key}: no sample")


def least(fields: tuple[Field, ...]) -> Made:
    return {field.key: sample(field) for field in fields if not field.optional}


def whole(fields: tuple[Field, ...]) -> Made:
    """Everything, but for what would contradict the rest."""
    return {field.key: sample(field) for field in fields}


def base(kind: Kind, complete: bool) -> Made:
    body = (whole if complete else least)(kind.fields) | kind.fixed
    if not complete and kind.name == "request append":
        body["events"] = [least(protocol.DRAFT) | {"ephemeral": True}]
    if not complete and kind.name == "reply append":
        body["taken"] = 0
    if not complete and "count" in body:
        body["count"] = 0
    if complete and kind.check == "reply":
        del body["error"]
    if complete and kind.name == "reply append":
        body["positions"] = [6]
    if complete and "count" in body:
        del body["positions"], body["owners"]
    return body


def ordered(kind: Kind, made: Made) -> Made:
    """In the page's order, and without what is the default: what an encoder writes."""
    known = {field.key: field for field in kind.fields}
    return {
        key: made[key] for key in known
        if key in made and not (known[key].optional and known[key].default is not None and made[key] == known[key].default)
    }


# ---- Valid -----------------------------------------------------------------------------------------


def valid(kind: Kind) -> Iterator[Vector]:
    def vector(what: str, made: Made, canonical: bool = False) -> Vector:
        return Vector(f"{kind.name}: {what}", kind.check, pack(made), canonical=canonical)

    full = base(kind, True)
    yield vector("what it must have", base(kind, False))
    yield vector("everything", ordered(kind, full), canonical=True)
    yield vector("an unknown field is passed over", full | {"x_newer": {"a": [1, None, -5, 1.5]}})
    backwards = {"v": 1} | dict(reversed([pair for pair in full.items() if pair[0] != "v"]))
    yield vector("the order behind v is free", backwards)
    for field in kind.fields:
        if field.key in kind.fixed or field.key == "v":
            continue
        for what, made in edges(kind, field, full):
            yield vector(f"{field.key} {what}", made)
    yield from special_valid(kind, full)


def edges(kind: Kind, field: Field, full: Made) -> Iterator[tuple[str, Made]]:
    form = field.form
    if field.key in ("count", "first", "last", "taken", "positions", "owners", "seqs"):
        return  # They belong together: see special_valid.
    if isinstance(form, Uint):
        yield f"is {form.least}", full | {field.key: form.least}
        yield f"is {form.most}", full | {field.key: form.most}
    elif isinstance(form, Text) and not form.words:
        yield f"of {form.most} bytes", full | {field.key: "a" * form.most}
    elif isinstance(form, Text):
        for word in form.words:
            yield f"is {word}", full | {field.key: word}
    elif isinstance(form, Flag):
        yield "is false", full | {field.key: False}
    elif isinstance(form, Items) and field.key != "events":
        yield f"of {form.most}", full | {field.key: full.get(field.key, sample(field))[:1] * form.most}
    elif isinstance(form, Facts):
        yield f"of {form.most}", full | {field.key: {f"f{at:04}": at for at in range(form.most)}}


def special_valid(kind: Kind, full: Made) -> Iterator[Vector]:
    def vector(what: str, made: Made, canonical: bool = False) -> Vector:
        return Vector(f"{kind.name}: {what}", kind.check, pack(made), canonical=canonical)

    keys = {field.key for field in kind.body}
    if "count" in keys:
        apart = full | {"count": 3, "first": 7, "last": 12, "positions": [7, 9, 12], "owners": [[1, LOG, 1], [2, OTHER, 5]]}
        yield vector("places apart, and owners", ordered(kind, apart), canonical=True)
        yield vector("ephemeral events only", ordered(kind, full | {"count": 4, "first": 0, "last": 0}), canonical=True)
        yield vector("the most events", full | {"count": 8192, "first": 1, "last": 8192})
    if kind.name == "reply append":
        yield vector("nothing taken", full | {"taken": 0, "seqs": [], "positions": []})
        yield vector("as many as a request has", full | {"taken": 1024, "seqs": [9] * 1024, "positions": [8] * 1024})
    if kind.check == "reply":
        error = {"code": "backpressure", "message": "full", "facts": {"limit": 3}}
        yield vector("refused", {key: full[key] for key in ("v", "op", "rid", "log", "term")} | {"error": error})
        yield vector("an error beside the answer", full | {"error": error})
        yield vector("a code of a newer server", full | {"error": error | {"code": "too_newer"}})
    if kind.name == "request append":
        yield from append_valid(full)


def append_valid(full: Made) -> Iterator[Vector]:
    def vector(what: str, made: Made) -> Vector:
        return Vector(f"request append: {what}", "request", pack(made))

    draft = full["events"][0]
    yield vector("1024 events", full | {"events": [draft] * 1024})
    yield vector("4 MiB of data", full | {"events": [draft | {"data": '"' + "a" * (limits.DATA_BYTES_MAX - 2) + '"'}] * 4})
    yield vector("a type of 64 bytes", full | {"events": [draft | {"type": "a" * 64}]})
    yield vector("version 2^32-1", full | {"events": [draft | {"version": limits.VERSION_MAX}]})
    yield vector("8 entries of a location", full | {"events": [draft | {"location": {f"k{at}": "v" for at in range(8)}}]})
    yield vector("a location at its bounds", full | {"events": [draft | {"location": {"k" * 64: "v" * 256}}]})
    yield vector("ephemeral events need no subject", {
        key: value for key, value in full.items() if key != "subject"
    } | {"events": [draft | {"ephemeral": True}]})
    for scope in ("run", "turn", "model", "tool", "interaction"):
        for step in ("started", "completed", "failed", "cancelled"):
            yield vector(f"{scope}.{step}", full | {"events": [draft | {"type": f"{scope}.{step}"}]})


# ---- Invalid ---------------------------------------------------------------------------------------


def invalid(kind: Kind) -> Iterator[Vector]:
    def vector(what: str, made: Made | bytes, error: str = "invalid") -> Vector:
        frame = made if isinstance(made, bytes) else pack(made)
        return Vector(f"{kind.name}: {what}", kind.check, frame, error)

    full = base(kind, True)
    frame = pack(full)
    yield vector("cut by a byte", frame[:-1])
    yield vector("a byte behind it", frame + b"\xc0")
    yield vector("another major", full | {"v": 2}, "unsupported")
    yield vector("v does not stand first", {key: full[key] for key in reversed(full)})
    yield vector("no v", {key: value for key, value in full.items() if key != "v"})
    for field in kind.fields:
        if field.key != "v" and not field.optional and not (kind.check == "ack" and field in kind.body):
            yield vector(f"no {field.key}", {key: value for key, value in full.items() if key != field.key})
        if field.key in full and field.key not in ("v", "error"):
            yield from bad_field(kind, field, full)
    yield from special_invalid(kind, full)


def bad_field(kind: Kind, field: Field, full: Made) -> Iterator[Vector]:
    def vector(what: str, value: Any, error: str = "invalid") -> Vector:
        return Vector(f"{kind.name}: {field.key} {what}", kind.check, pack(full | {field.key: value}), error)

    form = field.form
    yield vector("is nil", None)
    if isinstance(form, Uint):
        yield vector("is negative", -1)
        yield vector("is text", "1")
        if field.key not in ("count",):
            yield vector("is over its most", form.most + 1)
        if form.least > 0:
            yield vector("is under its least", form.least - 1)
    elif isinstance(form, Text):
        yield vector("is a bin", b"abc")
        if field.key not in ("op", "kind") and not form.words:
            yield vector("is a byte too long", "a" * (form.most + 1), "too_large")
        if form.rule is not None:
            yield vector("has a space", "a b")
            yield vector("is empty", "")
        if form.words:
            yield vector("is another word", "soon")
    elif isinstance(form, Bin16):
        yield vector("is 15 bytes", bytes(15))
        yield vector("is 17 bytes", bytes(17))
        yield vector("is text", "a" * 16)
    elif isinstance(form, Flag):
        yield vector("is 1", 1)
    elif isinstance(form, Items):
        yield vector("is a map", {})
        yield vector("is one too long", full[field.key][:1] * (form.most + 1), "too_large")
        if form.least > 0:
            yield vector("is empty", [])
    elif isinstance(form, Facts):
        yield vector("is a list", [])
        yield vector("has one too many", {f"f{at:04}": at for at in range(form.most + 1)}, "too_large")
        yield vector("has a flag", {"limit": True})


def special_invalid(kind: Kind, full: Made) -> Iterator[Vector]:
    def vector(what: str, made: Made, error: str = "invalid") -> Vector:
        return Vector(f"{kind.name}: {what}", kind.check, pack(made), error)

    keys = {field.key for field in kind.body}
    name = "op" if "op" in full else "kind"
    if name in full:
        yield vector(f"an unknown {name}", full | {name: "newer"}, "unsupported")
    if "count" in keys:
        yield vector("last before first", full | {"first": 8, "last": 7})
        yield vector("first without last", full | {"last": 0})
        yield vector("more places than events", full | {"count": 1})
        yield vector("positions that do not grow", full | {"count": 3, "last": 8, "positions": [7, 7, 8]})
        yield vector("positions that begin elsewhere", full | {"positions": [6, 8]})
        yield vector("more positions than events", full | {"last": 9, "positions": [7, 8, 9]})
        yield vector("owners that do not add up", full | {"owners": [[1, LOG, 1]]})
        yield vector("an owner of two parts", full | {"owners": [[2, LOG]]})
        yield vector("more events than a message has", full | {"count": 8193})
    if kind.check == "reply":
        yield vector("an error without a code", full | {"error": {"message": "no"}})
        yield vector("17 facts", full | {"error": {"code": "invalid", "facts": {f"f{at}": 1 for at in range(17)}}}, "too_large")
    if kind.name == "reply append":
        yield vector("fewer sequences than taken", full | {"taken": 2})
    if kind.name == "ack acked":
        yield vector("both acked and nack", full | {"nack": 3})
        yield vector("neither acked nor nack", {key: value for key, value in full.items() if key != "acked"})
    if kind.name == "request renew":
        yield vector("a claim of three", full | {"claims": [["run-1", 1, 1]]}, "too_large")
        yield vector("a claim of epoch 0", full | {"claims": [["run-1", 0]]})
    if kind.name == "request append":
        yield from append_invalid(full)


def append_invalid(full: Made) -> Iterator[Vector]:
    draft = full["events"][0]

    def vector(what: str, change: Made, error: str = "invalid") -> Vector:
        return Vector(f"request append: {what}", "request", pack(full | {"events": [draft | change]}), error)

    for key in ("id", "type", "data"):
        less = {name: value for name, value in draft.items() if name != key}
        yield Vector(f"request append: an event without {key}", "request", pack(full | {"events": [less]}), "invalid")
    yield vector("a type in capitals", {"type": "Acme.Made"})
    yield vector("a type of 65 bytes", {"type": "a" * 65}, "too_large")
    yield vector("data that is a map", {"data": {}})
    yield vector("data over 1 MiB", {"data": "a" * (limits.DATA_BYTES_MAX + 1)}, "too_large")
    yield vector("version 0", {"version": 0})
    yield vector("version 2^32", {"version": limits.VERSION_MAX + 1})
    yield vector("a location of no entries", {"location": {}})
    yield vector("a location of 9 entries", {"location": {f"k{at}": "v" for at in range(9)}}, "too_large")
    yield vector("a location with an empty key", {"location": {"": "v"}})
    yield vector("a location key of 65 bytes", {"location": {"k" * 65: "v"}}, "too_large")
    yield vector("a location value of 257 bytes", {"location": {"k": "v" * 257}}, "too_large")
    mebibyte = [draft | {"data": '"' + "a" * (limits.DATA_BYTES_MAX - 2) + '"'}] * 4
    over = full | {"events": [*mebibyte, draft | {"data": "1"}]}
    yield Vector("request append: over 4 MiB of data", "request", pack(over), "too_large")
    orphan = {key: value for key, value in full.items() if key != "subject"} | {"events": [draft | {"ephemeral": False}]}
    yield Vector("request append: a durable event without subject", "request", pack(orphan), "invalid")


def any_header() -> Iterator[Vector]:
    """What is refused before anybody asks which message it is."""
    ping: Made = {"v": 1, "op": "status", "rid": 1, "client": OTHER}

    def vector(what: str, frame: bytes, error: str = "invalid") -> Vector:
        return Vector(f"header: {what}", "request", frame, error)

    def nested(levels: int) -> Raw:
        return Raw(b"\x91" * (levels - 1) + b"\x90")

    yield vector("empty", b"")
    yield vector("a list", b"\x90")
    yield vector("an empty map", b"\x80")
    yield vector("a key that is a number", pack({"v": 1} | {"x": 1})[:-3] + b"\x05\x01")
    yield vector("a key twice", b"\x85" + pack(ping)[1:] + pack("rid") + b"\x02")
    yield vector("a key twice inside", pack(ping | {"x": Raw(b"\x82\xa1a\x01\xa1a\x02")}))
    yield vector("an extension", pack(ping | {"x": Raw(b"\xd4\x01\x00")}))
    yield vector("the byte c1", pack(ping | {"x": Raw(b"\xc1")}))
    yield vector("text that is not UTF-8", pack(ping | {"x": Raw(b"\xa2\xc3\x28")}))
    yield vector("a surrogate in text", pack(ping | {"x": Raw(b"\xa3\xed\xa0\x80")}))
    yield vector("a text of 4 GiB that is not there", pack(ping | {"x": Raw(b"\xdb\xff\xff\xff\xff")}))
    yield vector("a list of 2^32-1 that is not there", pack(ping | {"x": Raw(b"\xdd\xff\xff\xff\xff")}))
    yield vector("a map of 2^32-1 that is not there", pack(ping | {"x": Raw(b"\xdf\xff\xff\xff\xff")}))
    yield vector("nested 65 deep", pack(ping | {"x": nested(64)}), "too_large")
    yield vector("65,537 values", pack(ping | {"x": [0] * 65536}), "too_large")
    yield vector("v is 2^63", pack(ping | {"v": 1 << 63}), "unsupported")
    yield vector("v is text", pack(ping | {"v": "1"}), "unsupported")
    yield Vector("header: nested 64 deep", "request", pack(ping | {"x": nested(63)}))
    yield Vector("header: integers in longer forms", "request", pack(ping | {"rid": Raw(b"\xcf" + bytes(7) + b"\x09")}))
