"""Headers: hostile bytes are a typed error, whole, and cheap."""

from __future__ import annotations

import tracemalloc

import msgpack
import pytest

import runwire
from runwire import limits
from runwire.header import decode_header, encode_header
from runwire.messages import decode_delivery, decode_live, decode_reply

ACK = encode_header({"observer": "audit", "log": bytes(16), "term": 1, "epoch": 1, "acked": 7})
DECODERS = [
    decode_header,
    lambda frame: decode_reply([frame]),
    lambda frame: decode_delivery([frame]),
    lambda frame: decode_live([b"!/", frame]),
]


@pytest.fixture(params=DECODERS)
def decode(request: pytest.FixtureRequest) -> object:
    return request.param


def refused(decode, frame: bytes) -> runwire.Error:  # type: ignore[no-untyped-def]
    with pytest.raises(runwire.Error) as caught:
        decode(frame)
    return caught.value


def test_the_first_key_is_v_and_the_major_is_known() -> None:
    assert decode_header(ACK).uint("acked") == 7
    assert refused(decode_header, msgpack.packb({"op": "x", "v": 1})).code == "invalid"
    for other in (0, 2, 255):
        error = refused(decode_header, msgpack.packb({"v": other}))
        assert error.code == "unsupported" and error.facts == {"supported": "1"}


@pytest.mark.parametrize("body", ["91", "81a161"])
def test_c23_a_nesting_bomb_is_refused(decode, body: str) -> None:  # type: ignore[no-untyped-def]
    bomb = bytes.fromhex(body) * 100_000 + b"\xc0"
    refused(decode, bomb)
    refused(decode, b"\x82\xa1v\x01\xa1x" + bomb)


def test_c23_the_depth_bound_is_64_with_the_header_itself() -> None:
    head = b"\x82\xa1v\x01\xa1x"
    decode_header(head + b"\x91" * (limits.DEPTH_MAX - 1) + b"\xc0")
    error = refused(decode_header, head + b"\x91" * limits.DEPTH_MAX + b"\xc0")
    assert error.code == "too_large"


@pytest.mark.parametrize(
    "bomb", ["ddffffffff", "dfffffffff", "dbffffffff61", "c6ffffffff61", "c9ffffffff0161"]
)
def test_c24_a_length_bomb_allocates_nothing(decode, bomb: str) -> None:  # type: ignore[no-untyped-def]
    tracemalloc.start()
    refused(decode, bytes.fromhex(bomb))
    refused(decode, b"\x82\xa1v\x01\xa1x" + bytes.fromhex(bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_c25_numbers_are_exact_or_refused() -> None:
    assert decode_header(msgpack.packb({"v": 1, "n": 2**53 - 1})).uint("n") == 2**53 - 1
    for wrong in (2**53, -1, 1.0, "1", True, None):
        with pytest.raises(runwire.Invalid):
            decode_header(msgpack.packb({"v": 1, "n": wrong})).uint("n")


@pytest.mark.parametrize("text", ["a2e280", "c402e280", "01"])
def test_c26_broken_text_is_refused(text: str) -> None:
    frame = b"\x82\xa1v\x01\xa1x" + bytes.fromhex(text)
    with pytest.raises(runwire.Invalid):
        decode_header(frame).text("x")


@pytest.mark.parametrize("frame", [ACK + b"\xc0", ACK + ACK, b"", ACK[:-1]])
def test_c27_a_header_is_exactly_one_value(decode, frame: bytes) -> None:  # type: ignore[no-untyped-def]
    assert refused(decode, frame).code == "invalid"


@pytest.mark.parametrize(
    "rest",
    [
        b"\x82\xa1v\x01\xa1v\x01",  # a key twice
        b"\x82\xa1v\x01\x01\x02",  # a key that is no str
        b"\x82\xa1v\x01\xc4\x01x\x02",
        b"\x82\xa1v\x01\xa1x\xd4\x01\x00",  # extension types
        b"\x82\xa1v\x01\xa1x\xd6\xff\x00\x00\x00\x01",
        b"\x82\xa1v\x01\xa1x\xc7\x00\x01",
        b"\x82\xa1v\x01\xa1x\x82\xa1y\x01\xa1y\x01",
        b"\xc1",
        b"\x01",
        b"\x80",
    ],
)
def test_what_the_page_refuses_is_refused(rest: bytes) -> None:
    assert refused(decode_header, rest).code == "invalid"


def test_unknown_keys_and_kinds_are_ignored() -> None:
    common = {"v": 1, "log": bytes(16), "term": 1, "newer": {"x": [1, 2]}}
    assert decode_live([b"x/", msgpack.packb({**common, "kind": "from-the-future"})]) is None
    kind = {"kind": "later", "observer": "audit", "epoch": 1}
    assert decode_delivery([msgpack.packb({**common, **kind})]).kind == "later"


def test_positions_must_agree_with_their_events() -> None:
    live = {"v": 1, "kind": "events", "log": bytes(16), "term": 1, "n": 1, "prev": 0}
    for wrong in (
        {"count": 10**9, "first": 1, "last": 10**9},
        {"count": 1, "first": 1, "last": 5},
        {"count": 1, "first": 5, "last": 1},
        {"count": 2, "first": 1, "last": 3, "positions": [3, 1]},
        {"count": 2, "first": 1, "last": 3, "positions": [1, 4]},
        {"count": 1},
    ):
        with pytest.raises(runwire.Error):
            decode_live([b"x/", msgpack.packb({**live, **wrong}), b"\x80"])
