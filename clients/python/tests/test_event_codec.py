"""The event's bytes: one encoding, and nothing else is taken."""

from __future__ import annotations

import random
import time
import tracemalloc
import uuid
from dataclasses import replace

import pytest

import runwire
from runwire import limits
from runwire.event import Event
from runwire.event_codec import decode_event, decode_events, encode_event

IDENTITY = uuid.UUID("01900000-0000-7000-8000-000000000001")
EVENT = Event(IDENTITY, "acme.ping", 5, "run-1", 3, 1, 0, {}, '{"n":1}', b"")
GOLDEN = bytes.fromhex(
    "86"
    "a26964c41001900000000070008000000000000001"
    "a474797065a961636d652e70696e67"
    "a474696d65cf0000000000000005"
    "a77375626a656374a572756e2d31"
    "a764757261626c6582a776657273696f6e01a3736571cf0000000000000003"
    "a464617461a77b226e223a317d"
)
EPHEMERAL = bytes.fromhex(
    "85"
    "a26964c41001900000000070008000000000000001"
    "a474797065a961636d652e70696e67"
    "a474696d65cf0000000000000005"
    "a86c6f636174696f6e82a46e6f6465a161a477686572a0"
    "a464617461a27b7d"
)


def refused(frame: bytes) -> str:
    with pytest.raises(runwire.Error) as caught:
        decode_event(frame, 0)
    assert caught.value.code in ("invalid", "too_large")
    return caught.value.code


def test_an_event_is_the_bytes_of_the_protocol_page() -> None:
    assert encode_event(EVENT) == GOLDEN
    event, end = decode_event(GOLDEN, 0, position=9)
    assert event == replace(EVENT, position=9, encoded=GOLDEN)
    assert end == len(GOLDEN)


def test_an_ephemeral_event_without_subject_keeps_its_location_in_key_order() -> None:
    event, _ = decode_event(EPHEMERAL, 0)
    assert event.ephemeral and event.subject is None and event.position == 0
    assert event.location == {"node": "a", "wher": ""}
    shuffled = replace(event, location={"wher": "", "node": "a"}, encoded=b"")
    assert encode_event(shuffled) == EPHEMERAL


@pytest.mark.parametrize("version", [1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1])
def test_versions_of_each_length_come_back(version: int) -> None:
    frame = encode_event(replace(EVENT, version=version))
    assert decode_event(frame, 0)[0].version == version


@pytest.mark.parametrize("size", [31, 32, 255, 256, 65535, 65536, limits.DATA_BYTES_MAX])
def test_data_of_each_length_comes_back(size: int) -> None:
    text = '"' + "x" * (size - 2) + '"'
    frame = encode_event(replace(EVENT, data_json=text))
    assert decode_event(frame, 0)[0].data_json == text


def test_data_over_its_bound_is_refused_both_ways() -> None:
    text = "x" * (limits.DATA_BYTES_MAX + 1)
    with pytest.raises(runwire.TooLarge):
        encode_event(replace(EVENT, data_json=text))
    size = (limits.DATA_BYTES_MAX + 1).to_bytes(4, "big")
    head = GOLDEN[: GOLDEN.index(b"\xa4data") + 5]
    assert refused(head + b"\xdb" + size + text.encode()) == "too_large"


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b"\x01\xa3seq", b"\xcc\x01\xa3seq"),  # the version is not in shortest form
        (b"\x01\xa3seq", b"\x00\xa3seq"),
        (b"\xa9acme.ping", b"\xd9\x09acme.ping"),
        (b"\xa9acme.ping", b"\xa9Acme.ping"),
        (b"\xa9acme.ping", b"\xa9acme..png"),
        (b"\xa9acme.ping", b"\xc4\x09acme.ping"),
        (b"\xa5run-1", b"\xa5run/1"),
        (b"\xa5run-1", b"\xa0"),
        (b"\xa4time\xcf" + bytes(7) + b"\x05", b"\xa4time\x05"),
        (b"\xa3seq\xcf" + bytes(7) + b"\x03", b"\xa3seq\xcf" + bytes(8)),
        (b"\xa2id\xc4\x10", b"\xa2id\xb0"),
        (b"\x86\xa2id", b"\x85\xa2id"),
        (b"\x86\xa2id", b"\x87\xa2id"),
        (b"\x86\xa2id", b"\xde\x00\x06\xa2id"),
        (b"\xa7subject\xa5run-1", b""),
    ],
)
def test_anything_but_the_one_encoding_is_refused(good: bytes, bad: bytes) -> None:
    assert good in GOLDEN
    refused(GOLDEN.replace(good, bad, 1))


def test_unknown_fields_are_kept_byte_for_byte() -> None:
    unknown = b"\xa3new\x92\x01\xa1x" + b"\xa5newer\xcc\x01"  # not even in shortest form
    frame = encode_event(EVENT, unknown, 2)
    event, end = decode_event(frame + b"rest", 0)
    assert end == len(frame) and event.encoded == frame and event.encoded.endswith(unknown)


@pytest.mark.parametrize(
    "unknown",
    [b"\xa4data\xa0", b"\xa2id\xc0", b"\xa1x\xd4\x01\x00", b"\xa1x\xc1", b"\x01\x02", b"\xa1x"],
)
def test_unknown_fields_that_are_known_or_no_values_are_refused(unknown: bytes) -> None:
    refused(encode_event(EVENT, unknown, 1))


def test_unknown_fields_come_once_each() -> None:
    refused(encode_event(EVENT, b"\xa1x\x01\xa1x\x02", 2))


def test_unknown_fields_have_a_bound_of_4_kib_in_all() -> None:
    fits = b"\xa1x\xc5\x0f\xfb" + bytes(4091)
    assert len(fits) == limits.UNKNOWN_BYTES_MAX
    decode_event(encode_event(EVENT, fits, 1), 0)
    over = b"\xa1x\xc5\x0f\xfc" + bytes(4092)
    with pytest.raises(runwire.TooLarge):
        encode_event(EVENT, over, 1)
    assert refused(encode_event(EVENT, b"", 1) + over) == "too_large"


@pytest.mark.parametrize("head", [b"\x91", b"\x81\xa1a"])
def test_c23_a_nesting_bomb_in_an_unknown_field_is_refused(head: bytes) -> None:
    base = encode_event(EVENT, b"", 1)
    fits = head * (limits.DEPTH_MAX - 1) + b"\xc0"
    decode_event(base + b"\xa1x" + fits, 0)
    assert refused(base + b"\xa1x" + head * limits.DEPTH_MAX + b"\xc0") == "too_large"
    assert refused(base + b"\xa1x" + head * 100_000 + b"\xc0") == "too_large"


@pytest.mark.parametrize(
    "bomb", ["ddffffffff", "dfffffffff", "dbffffffff61", "c6ffffffff61", "c9ffffffff0161"]
)
def test_c24_a_declared_length_allocates_nothing(bomb: str) -> None:
    frames = [bytes.fromhex(bomb), encode_event(EVENT, b"", 1) + b"\xa1x" + bytes.fromhex(bomb)]
    tracemalloc.start()
    for frame in frames:
        refused(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


def test_c25_numbers_are_exact_up_to_their_bound_and_refused_beyond() -> None:
    frame = encode_event(replace(EVENT, seq=2**53 - 1, time=2**53 - 1))
    assert decode_event(frame, 0)[0].seq == 9007199254740991
    for name in (b"\xa3seq\xcf", b"\xa4time\xcf"):
        place = GOLDEN.index(name) + len(name)
        beyond = bytes.fromhex("0020000000000001")
        refused(GOLDEN[:place] + beyond + GOLDEN[place + 8 :])
    with pytest.raises(runwire.Invalid):
        encode_event(replace(EVENT, seq=2**53))


@pytest.mark.parametrize("cut", [b"\xa2\xe2\x80", b"\xc4\x02\xe2\x80", b"\xa2\xc3\x28"])
def test_c26_broken_text_is_refused_wherever_text_is_due(cut: bytes) -> None:
    for good in (b"\xa9acme.ping", b"\xa5run-1", b'\xa7{"n":1}'):
        refused(GOLDEN.replace(good, cut, 1))


def test_c26_text_comes_back_byte_for_byte() -> None:
    text = '"\u00e9\u2028\U0001f600\ufffd"'
    frame = encode_event(replace(EVENT, data_json=text))
    event, _ = decode_event(frame, 0)
    assert event.data_json == text and encode_event(event) == frame


def test_c27_a_frame_ends_with_its_last_event() -> None:
    assert len(decode_events(GOLDEN * 2, 2, [1, 2])) == 2
    for frame, count, positions in [
        (GOLDEN + b"\xc0", 1, [1]),
        (GOLDEN * 2, 1, [1]),
        (GOLDEN, 2, [1, 2]),
        (GOLDEN[:-1], 1, [1]),
        (b"", 1, [1]),
        (GOLDEN, 1, []),
        (EPHEMERAL, 1, [1]),
    ]:
        with pytest.raises(runwire.Invalid):
            decode_events(frame, count, positions)


def test_every_truncation_is_a_typed_error() -> None:
    frame = encode_event(replace(EVENT, location={"node": "a"}), b"\xa1x\x92\x01\xa1y", 1)
    for size in range(len(frame)):
        refused(frame[:size])


def test_bytes_changed_at_random_are_refused_or_mean_themselves() -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    chance = random.Random(seed)
    frame = encode_event(replace(EVENT, location={"node": "a"}), b"\xa1x\x92\x01\xa1y", 1)
    taken = 0
    for _ in range(20_000):
        changed = bytearray(frame)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            event, end = decode_event(bytes(changed), 0)
        except runwire.Error:
            continue
        taken += 1
        known = encode_event(event)[1:]
        assert event.encoded == changed[:end] and event.encoded[1:].startswith(known)
    assert 0 < taken < 20_000
