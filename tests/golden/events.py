"""Vectors of events: every field at its bounds, every scope and terminal, and each way to be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

from pack import Raw, eight, integer, map_head, pack

ID = bytes.fromhex("01890a5dac96774bbcceb302099a8057")
SCOPES = ("run", "turn", "model", "tool", "interaction")
STEPS = ("started", "completed", "failed", "cancelled")
EPHEMERAL = ("text.delta", "reasoning.delta", "tool.input.delta", "tool.progress")
Description = dict[str, Any]


@dataclass(frozen=True)
class Vector:
    """Valid: `event` describes it. Invalid: `error` is the code that it must give."""

    name: str
    bytes: bytes
    event: Description | None = None
    error: str | None = None


def sample(**change: Any) -> Description:
    made: Description = {
        "id": ID.hex(), "type": "acme.made", "time": 1_700_000_000_000_000, "location": {}, "subject": "run-1",
        "version": 1, "seq": 7, "data": '{"n":1}', "unknown": "",
    }
    return made | change


def ephemeral(**change: Any) -> Description:
    return sample(version=0, seq=0) | change


def fields_of(event: Description) -> list[tuple[str, Any]]:
    fields: list[tuple[str, Any]] = [("id", bytes.fromhex(event["id"])), ("type", event["type"]), ("time", eight(event["time"]))]
    if event["location"]:
        fields.append(("location", dict(sorted(event["location"].items(), key=lambda pair: pair[0].encode()))))
    if event["subject"]:
        fields.append(("subject", event["subject"]))
    if event["seq"]:
        fields.append(("durable", {"version": event["version"], "seq": eight(event["seq"])}))
    return [*fields, ("data", event["data"])]


def encode(event: Description, unknown: list[tuple[str, Any]] = []) -> bytes:
    return of_pairs([*fields_of(event), *unknown])


def of_pairs(pairs: list[tuple[Any, Any]]) -> bytes:
    return map_head(len(pairs)) + b"".join(pack(key) + pack(value) for key, value in pairs)


# ---- Valid -----------------------------------------------------------------------------------------


def valid() -> Iterator[Vector]:
    def vector(name: str, event: Description, unknown: list[tuple[str, Any]] = []) -> Vector:
        raw = b"".join(pack(key) + pack(value) for key, value in unknown)
        return Vector(name, encode(event, unknown), event | {"unknown": raw.hex()})

    yield vector("durable", sample())
    yield vector("ephemeral", ephemeral())
    yield vector("ephemeral without a subject", ephemeral(subject=""))
    for scope in SCOPES:
        for step in STEPS:
            yield vector(f"{scope}.{step}", sample(type=f"{scope}.{step}"))
    for content in ("text", "reasoning", "tool.input"):
        for step in ("started", "ended"):
            yield vector(f"{content}.{step}", sample(type=f"{content}.{step}"))
    for name in EPHEMERAL:
        yield vector(name, ephemeral(type=name))
    yield vector("observer.skipped", sample(type="observer.skipped", subject="_runwire"))
    yield vector("a type that a newer peer reserved", sample(type="run.paused"))
    yield from at_bounds(vector)
    yield from with_unknown(vector)


def at_bounds(vector: Any) -> Iterator[Vector]:
    yield vector("id of zeros", sample(id="00" * 16))
    yield vector("id of ones", sample(id="ff" * 16))
    for size in (1, 31, 32, 64):
        yield vector(f"type of {size} bytes", sample(type="a" * size))
    yield vector("type with digits and underscores", sample(type="a_1.0_.9"))
    for time in (0, 1, (1 << 32), (1 << 53) - 1):
        yield vector(f"time {time}", sample(time=time))
    for size in (1, 31, 32, 128):
        yield vector(f"subject of {size} bytes", sample(subject="S" * size))
    yield vector("subject of every character", sample(subject="AZaz09._~-"))
    for version in (1, 127, 128, 255, 256, 65535, 65536, (1 << 32) - 1):
        yield vector(f"version {version}", sample(version=version))
    for seq in (1, 127, 128, (1 << 32), (1 << 53) - 1):
        yield vector(f"seq {seq}", sample(seq=seq))
    for size in (1, 31, 32, 255, 256, 65535, 65536, 1 << 20):
        yield vector(f"data of {size} bytes", sample(data="1" * size if size < 16 else '"' + "d" * (size - 2) + '"'))
    yield vector("data with text of four bytes a letter", sample(data='"\U0001f980\u00e9\u20ac"'))
    for count in (1, 2, 8):
        yield vector(f"location of {count}", sample(location={f"k{at}": f"v{at}" for at in range(count)}))
    yield vector("location at its bounds", sample(location={"k" * 64: "v" * 256}))
    yield vector("location with an empty value", sample(location={"node": ""}))
    yield vector("location ordered by bytes, not by length", sample(location={"b": "1", "aa": "2", "a": "3", "\u00e9": "4"}))


def with_unknown(vector: Any) -> Iterator[Vector]:
    forms: dict[str, Any] = {
        "nil": None, "false": False, "true": True, "zero": 0, "a uint8": 200, "a uint16": 60000, "a uint32": 1 << 31,
        "a uint64": 1 << 63, "a negative": -5, "an int64": -(1 << 40), "a float": 1.5, "a text": "x", "a bin": b"\x00\x01",
        "a list": [1, [2, [3]]], "a map": {"a": 1, "b": {"c": 2}}, "an empty map": {}, "an empty list": [],
    }
    for name, value in forms.items():
        yield vector(f"unknown field: {name}", sample(), [("newer", value)])
        yield vector(f"unknown field of an ephemeral event: {name}", ephemeral(), [("newer", value)])
    yield vector("unknown fields in arrival order", sample(), [("z", 1), ("a", 2), ("m", 3)])
    yield vector("sixteen fields", sample(), [(f"u{at}", at) for at in range(10)])
    yield vector("fifteen fields", sample(), [(f"u{at}", at) for at in range(9)])
    yield vector("unknown fields of 4 KiB", sample(), [("u", b"u" * (4096 - 5))])
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    yield vector("an unknown field nested 63 deep", sample(), [("u", deep)])


# ---- Invalid ---------------------------------------------------------------------------------------


def invalid() -> Iterator[Vector]:
    good = encode(sample(location={"a": "1", "b": "2"}))
    for at in (0, 1, 5, 20, 30, len(good) // 2, len(good) - 1):
        yield Vector(f"cut at byte {at}", good[:at], error="invalid")
    yield Vector("a byte behind it", good + b"\xc1", error="invalid")
    yield Vector("a list", b"\x90", error="invalid")
    yield Vector("a map of three", b"\x83" + good[1:], error="invalid")
    yield Vector("a map head of 16 bits for 7 pairs", b"\xde\x00\x07" + good[1:], error="invalid")
    yield Vector("a map head of 32 bits", b"\xdf\x00\x00\x00\x07" + good[1:], error="invalid")
    yield Vector("more fields declared than there are", b"\x88" + good[1:], error="invalid")
    yield Vector("fewer fields declared than there are", b"\x86" + good[1:], error="invalid")
    yield from wrong_order()
    yield from wrong_value()
    yield from wrong_form()
    yield from wrong_location()
    yield from wrong_unknown()


def wrong_order() -> Iterator[Vector]:
    pairs = fields_of(sample(location={"a": "1"}))
    for at, (key, _) in enumerate(pairs):
        if key not in ("location", "durable"):
            yield Vector(f"no {key}", of_pairs(pairs[:at] + pairs[at + 1 :]), error="invalid")
        yield Vector(f"{key} twice", of_pairs(pairs[: at + 1] + pairs[at:]), error="invalid")
        if at > 0:
            swapped = pairs[: at - 1] + [pairs[at], pairs[at - 1]] + pairs[at + 1 :]
            yield Vector(f"{key} before {pairs[at - 1][0]}", of_pairs(swapped), error="invalid")
        for name, value in (("nil", None), ("a list", []), ("false", False), ("a float", 1.5)):
            changed = pairs[:at] + [(key, value)] + pairs[at + 1 :]
            yield Vector(f"{key} is {name}", of_pairs(changed), error="invalid")


def wrong_value() -> Iterator[Vector]:
    def vector(name: str, error: str = "invalid", **change: Any) -> Vector:
        return Vector(name, encode(sample(**change)), error=error)

    for name, text in {
        "empty": "", "with a capital": "Acme", "that begins with a digit": "1a", "that ends with a dot": "a.",
        "that begins with a dot": ".a", "with two dots": "a..b", "with a space": "a b", "with a dash": "a-b",
        "beyond ASCII": "\u00e9", "with a line end": "a\n", "with a zero": "a\0",
    }.items():
        yield vector(f"type {name}", type=text)
    yield vector("type of 65 bytes", "too_large", type="a" * 65)
    for name, text in {
        "with a space": "a b", "with a slash": "a/b", "with a star": "*", "beyond ASCII": "\u00e9",
        "with a line end": "a\n", "with a zero": "a\0", "with a colon": "a:b",
    }.items():
        yield vector(f"subject {name}", subject=text)
    yield vector("subject of 129 bytes", "too_large", subject="a" * 129)
    yield vector("time 2^53", time=1 << 53)
    yield vector("time 2^64-1", time=(1 << 64) - 1)
    yield vector("seq 2^53", seq=1 << 53)
    yield vector("version 0", version=0)
    yield vector("version 2^32", version=1 << 32)
    yield vector("data over 1 MiB", "too_large", data='"' + "d" * ((1 << 20) - 1) + '"')
    yield vector("a durable event without a subject", subject="")


def replaced(key: str, value: Any) -> bytes:
    return of_pairs([(name, value if name == key else each) for name, each in fields_of(sample(location={"a": "1"}))])


def wrong_form() -> Iterator[Vector]:
    def vector(name: str, key: str, raw: bytes, error: str = "invalid") -> Vector:
        return Vector(name, replaced(key, Raw(raw)), error=error)

    yield vector("id of 15 bytes", "id", b"\xc4\x0f" + bytes(15))
    yield vector("id of 17 bytes", "id", b"\xc4\x11" + bytes(17))
    yield vector("id in a longer head", "id", b"\xc5\x00\x10" + bytes(16))
    yield vector("id as text", "id", b"\xb0" + b"a" * 16)
    yield vector("type in a longer head", "type", b"\xd9\x04acme")
    yield vector("type as a bin", "type", b"\xc4\x04acme")
    yield vector("time in shortest form", "time", integer(5))
    yield vector("time that is signed", "time", b"\xd3" + bytes(8))
    yield vector("subject in a longer head", "subject", b"\xd9\x01a")
    yield vector("subject that is not UTF-8", "subject", b"\xa2\xc3\x28")
    yield vector("data in a longer head", "data", b"\xd9\x02{}")
    yield vector("data that is not UTF-8", "data", b'\xa4"\xc3\x28"')
    yield vector("data with a surrogate", "data", b'\xa5"\xed\xa0\x80"')
    yield vector("data with an overlong letter", "data", b'\xa4"\xc0\xaf"')
    yield vector("data as a bin", "data", b"\xc4\x02{}")
    yield vector("data of 4 GiB that is not there", "data", b"\xdb\xff\xff\xff\xff{}")
    version, seq = pack("version") + b"\x01", pack("seq") + eight(7)
    yield vector("durable with the sequence first", "durable", b"\x82" + seq + version)
    yield vector("durable without a sequence", "durable", b"\x81" + version)
    yield vector("durable without a version", "durable", b"\x81" + seq)
    yield vector("durable with a third field", "durable", b"\x83" + version + seq + pack("x") + b"\x01")
    yield vector("durable with a map head of 16 bits", "durable", b"\xde\x00\x02" + version + seq)
    yield vector("version in a longer form", "durable", b"\x82" + pack("version") + b"\xcc\x01" + seq)
    yield vector("seq in shortest form", "durable", b"\x82" + version + pack("seq") + b"\x07")
    yield vector("seq 0", "durable", b"\x82" + version + pack("seq") + eight(0))


def wrong_location() -> Iterator[Vector]:
    def vector(name: str, pairs: list[tuple[Any, Any]], error: str = "invalid") -> Vector:
        return Vector(name, replaced("location", Raw(of_pairs(pairs))), error=error)

    yield vector("location without entries", [])
    yield vector("location of 9", [(f"k{at}", "v") for at in range(9)], "too_large")
    yield vector("location out of order", [("b", "1"), ("a", "2")])
    yield vector("location with a key twice", [("a", "1"), ("a", "2")])
    yield vector("location with an empty key", [("", "1")])
    yield vector("location with a key of 65 bytes", [("k" * 65, "v")], "too_large")
    yield vector("location with a value of 257 bytes", [("k", "v" * 257)], "too_large")
    yield vector("location with a number", [("k", 1)])
    yield vector("location with a key that is a number", [(1, "v")])
    yield vector("location with a longer head", [("k", Raw(b"\xd9\x01v"))])
    yield vector("location that is not UTF-8", [("k", Raw(b"\xa2\xc3\x28"))])


def wrong_unknown() -> Iterator[Vector]:
    def vector(name: str, pairs: list[tuple[Any, Any]], error: str = "invalid") -> Vector:
        return Vector(name, encode(sample(), pairs), error=error)

    yield vector("an unknown key twice", [("u", 1), ("u", 2)])
    yield vector("a known key behind data", [("time", 1)])
    yield vector("an unknown key that is a number", [(5, 1)])
    yield vector("an unknown key that is a bin", [(b"u", 1)])
    yield vector("an unknown key in a longer head", [(Raw(b"\xd9\x01u"), 1)])
    yield vector("an unknown key that is not UTF-8", [(Raw(b"\xa2\xc3\x28"), 1)])
    yield vector("an unknown extension", [("u", Raw(b"\xd4\x01\x00"))])
    yield vector("the byte c1", [("u", Raw(b"\xc1"))])
    yield vector("a key twice inside an unknown field", [("u", Raw(b"\x82\xa1a\x01\xa1a\x02"))])
    yield vector("a key that is a number inside an unknown field", [("u", Raw(b"\x81\x01\x01"))])
    yield vector("text that is not UTF-8 inside an unknown field", [("u", Raw(b"\xa2\xc3\x28"))])
    yield vector("an unknown field that is cut", [("u", Raw(b"\xc4\x05ab"))])
    yield vector("unknown fields over 4 KiB", [("u", b"u" * (4096 - 4))], "too_large")
    yield vector("an unknown field nested 65 deep", [("u", Raw(b"\x91" * 64 + b"\x90"))], "too_large")
