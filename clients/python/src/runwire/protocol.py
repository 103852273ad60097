"""Every message of docs/protocol.md as data: its fields in the page's order, their forms and bounds.

One table for the decoders, for the golden vectors and for the check that the page is complete.

>>> [field.key for field in REQUESTS["claim"]]
['subject', 'epoch']
>>> check_request({"v": 1, "op": "claim", "rid": 1, "client": bytes(16), "subject": "a", "epoch": 0})
Traceback (most recent call last):
runwire.errors.Invalid: invalid: epoch: 0 is not within 1..9007199254740991
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Callable, Final, Mapping, Sequence, Union

from runwire import limits
from runwire.errors import Invalid, TooLarge, Unsupported
from runwire.event_codec import check_observer_name, check_subject, check_type

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Uint:
    """An unsigned integer within `least` .. `most`."""

    least: int = 0
    most: int = limits.UINT_MAX


@dataclass(frozen=True)
class Text:
    """UTF-8 of at most `most` bytes; `rule` judges it, `words` are all that it may be."""

    most: int
    rule: Callable[[str], str] | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bin16:
    """16 bytes."""


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Items:
    """A list of `least` .. `most` items of one form."""

    each: Form
    least: int
    most: int


@dataclass(frozen=True)
class Tuple:
    """A list of exactly these forms."""

    parts: tuple[Form, ...]


@dataclass(frozen=True)
class Map:
    """A map with these keys, and any others."""

    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Texts:
    """A map str -> str of `least` .. `most` pairs."""

    key_most: int
    value_most: int
    least: int
    most: int


@dataclass(frozen=True)
class Facts:
    """A map str -> uint or str of at most `most` pairs."""

    most: int


Form = Union[Uint, Text, Bin16, Flag, Items, Tuple, Map, Texts, Facts]


@dataclass(frozen=True)
class Field:
    """`default`: what an absent field means, and what an encoder therefore leaves out."""

    key: str
    form: Form
    optional: bool = False
    default: Any = None


def _maybe(key: str, form: Form, default: Any = None) -> Field:
    return Field(key, form, True, default)


SUBJECT: Final = Text(limits.SUBJECT_BYTES_MAX, check_subject)
NAME: Final = Text(limits.SUBJECT_BYTES_MAX)
OBSERVER: Final = Text(limits.OBSERVER_NAME_BYTES_MAX, check_observer_name)
LEVEL: Final = Text(limits.OP_BYTES_MAX, words=("acknowledged", "committed"))
AGENT: Final = Text(limits.AGENT_BYTES_MAX)
ENDPOINT: Final = Text(limits.ENDPOINT_BYTES_MAX)
STATE: Final = Text(limits.STATE_BYTES_MAX)
_ONE: Final = Uint(1)

SPAN: Final = (
    Field("count", Uint(0, limits.SPAN_EVENTS_MAX)),
    _maybe("first", Uint()),
    _maybe("last", Uint()),
    _maybe("positions", Items(_ONE, 0, limits.SPAN_EVENTS_MAX)),
    _maybe("owner_term", Uint()),
    _maybe("origin", Bin16()),
    _maybe("owners", Items(Tuple((Uint(1, limits.SPAN_EVENTS_MAX), Bin16(), Uint())), 0, limits.SPAN_EVENTS_MAX)),
)

DRAFT: Final = (
    Field("id", Bin16()),
    Field("type", Text(limits.TYPE_BYTES_MAX, check_type)),
    Field("data", Text(limits.DATA_BYTES_MAX)),
    _maybe("version", Uint(1, limits.VERSION_MAX), 1),
    _maybe("ephemeral", Flag(), False),
    _maybe("location", Texts(
        limits.LOCATION_KEY_BYTES_MAX, limits.LOCATION_VALUE_BYTES_MAX, 1, limits.LOCATION_ENTRIES_MAX
    )),
)

REQUEST: Final = (
    Field("v", Uint(1, 1)),
    Field("op", Text(limits.OP_BYTES_MAX)),
    Field("rid", Uint()),
    Field("client", Bin16()),
)

REQUESTS: Final[dict[str, tuple[Field, ...]]] = {
    "hello": (_maybe("agent", AGENT, ""),),
    "read": (
        _maybe("subject", SUBJECT),
        Field("after", Uint()),
        _maybe("level", LEVEL, "acknowledged"),
        _maybe("max_events", Uint(1, limits.PAGE_EVENTS_MAX), limits.PAGE_EVENTS_MAX),
        _maybe("max_bytes", Uint(1, limits.PAGE_BYTES_MAX), limits.PAGE_BYTES_MAX),
        _maybe("wait_ms", Uint(0, limits.WAIT_MS_MAX), 0),
        _maybe("log", Bin16()),
    ),
    "subjects": (
        _maybe("prefix", NAME, ""),
        _maybe("after", NAME, ""),
        _maybe("max", Uint(1, limits.SUBJECTS_PAGE_MAX), limits.SUBJECTS_PAGE_MAX),
        _maybe("open", Flag(), False),
    ),
    "append": (
        _maybe("subject", SUBJECT),
        Field("events", Items(Map(DRAFT), 1, limits.APPEND_EVENTS_MAX)),
        _maybe("level", LEVEL, "committed"),
        _maybe("deadline_ms", Uint(1, limits.DEADLINE_MS_MAX)),
        _maybe("expect", Uint()),
        _maybe("epoch", _ONE),
        _maybe("go_on", Flag(), False),
        _maybe("again", Flag(), False),
    ),
    "attach": (
        Field("observer", OBSERVER),
        Field("instance", Bin16()),
        _maybe("log", Bin16()),
        _maybe("position", Uint()),
    ),
    "detach": (Field("observer", OBSERVER), Field("epoch", Uint())),
    "claim": (Field("subject", SUBJECT), Field("epoch", _ONE)),
    "renew": (Field("claims", Items(Tuple((SUBJECT, _ONE)), 1, limits.CLAIMS_MAX)),),
    "observers": (),
    "suspend": (Field("observer", OBSERVER),),
    "resume": (Field("observer", OBSERVER),),
    "status": (),
}

ERROR: Final = (
    Field("code", Text(limits.OP_BYTES_MAX)),
    _maybe("message", Text(limits.ERROR_MESSAGE_BYTES_MAX)),
    _maybe("facts", Facts(limits.FACTS_MAX)),
)

REPLY: Final = (
    Field("v", Uint(1, 1)),
    Field("op", Text(limits.OP_BYTES_MAX)),
    Field("rid", Uint()),
    Field("log", Bin16()),
    Field("term", Uint()),
    _maybe("error", Map(ERROR)),
)

SUBJECT_ROW: Final = (
    Field("subject", SUBJECT),
    Field("state", STATE),
    Field("first", Uint()),
    Field("last", Uint()),
    Field("first_position", Uint()),
    Field("last_position", Uint()),
    Field("time", Uint()),
    Field("owner_term", Uint()),
    _maybe("origin", Bin16()),
    _maybe("claimed", Flag(), False),
    _maybe("epoch", Uint(), 0),
)

OBSERVER_ROW: Final = (
    Field("observer", OBSERVER),
    Field("state", STATE),
    *(Field(key, Uint()) for key in ("epoch", "acked", "owed", "in_flight", "redeliveries", "refusals")),
    *(_maybe(key, Uint(), 0) for key in ("skipped", "owed_bytes", "oldest_ms")),
)

_TAKEN: Final = Items(Uint(), 0, limits.APPEND_EVENTS_MAX)

REPLIES: Final[dict[str, tuple[Field, ...]]] = {
    "hello": (
        Field("server", AGENT),
        Field("versions", Items(Uint(), 1, limits.VERSIONS_MAX)),
        Field("live", ENDPOINT),
        Field("acks", ENDPOINT),
        *(
            Field(key, Uint())
            for key in ("committed", "acknowledged", "earliest", "heartbeat_ms", "lease_ms", "ack_deadline_ms")
        ),
        Field("sync", STATE),
    ),
    "read": (
        _maybe("subject", SUBJECT),
        *SPAN,
        *(Field(key, Uint()) for key in ("next", "latest", "acknowledged", "committed", "earliest")),
        _maybe("end", Flag()),
    ),
    "subjects": (_maybe("subjects", Items(Map(SUBJECT_ROW), 0, limits.SUBJECTS_PAGE_MAX)), _maybe("end", Flag())),
    "append": (
        _maybe("subject", SUBJECT),
        Field("taken", Uint(0, limits.APPEND_EVENTS_MAX)),
        _maybe("seqs", _TAKEN),
        _maybe("positions", _TAKEN),
        _maybe("duplicates", _TAKEN),
        _maybe("level", LEVEL),
        _maybe("sync", STATE),
    ),
    "attach": (
        Field("observer", OBSERVER),
        Field("epoch", Uint()),
        Field("deliver", ENDPOINT),
        Field("acks", ENDPOINT),
        Field("acked", Uint()),
        Field("ack_deadline_ms", Uint()),
        Field("max_in_flight", Uint()),
    ),
    "detach": (),
    "claim": (
        Field("subject", SUBJECT),
        Field("epoch", Uint()),
        Field("lease_ms", Uint()),
        Field("last", Uint()),
        _maybe("state", STATE),
    ),
    "renew": (Field("lease_ms", Uint()), _maybe("lost", Items(NAME, 0, limits.CLAIMS_MAX))),
    "observers": (_maybe("observers", Items(Map(OBSERVER_ROW), 0, limits.OBSERVER_ROWS_MAX)),),
    "suspend": (Field("acked", Uint()),),
    "resume": (Field("acked", Uint()),),
    "status": (Field("status", Facts(limits.STATUS_ENTRIES_MAX)),),
}

MARKS: Final = {
    "hello": "server", "read": "next", "subjects": "subjects", "append": "taken", "attach": "deliver",
    "claim": "lease_ms", "renew": "lease_ms", "observers": "observers", "suspend": "acked", "resume": "acked",
    "status": "status",
}
"""Beside an error: the key that tells a partial answer from none."""

DELIVERY: Final = (
    Field("v", Uint(1, 1)),
    Field("kind", Text(limits.OP_BYTES_MAX)),
    Field("observer", OBSERVER),
    Field("log", Bin16()),
    Field("term", Uint()),
    Field("epoch", Uint()),
)

DELIVERIES: Final[dict[str, tuple[Field, ...]]] = {
    "deliver": (*SPAN, _maybe("again", Flag()), _maybe("prev", Uint())),
    "heartbeat": (Field("acked", Uint()),),
    "fenced": (Field("current", Uint()),),
}

ACK: Final = (
    Field("v", Uint(1, 1)),
    Field("observer", OBSERVER),
    Field("log", Bin16()),
    Field("term", Uint()),
    Field("epoch", Uint()),
    _maybe("acked", Uint()),
    _maybe("nack", _ONE),
    _maybe("reason", Text(limits.REASON_BYTES_MAX)),
)

LIVE: Final = (
    Field("v", Uint(1, 1)),
    Field("kind", Text(limits.OP_BYTES_MAX)),
    Field("log", Bin16()),
    Field("term", Uint()),
    Field("n", Uint()),
    Field("acknowledged", Uint()),
)

LIVES: Final[dict[str, tuple[Field, ...]]] = {
    "events": (_maybe("subject", SUBJECT), *SPAN, Field("prev", Uint())),
    "beacon": (
        _maybe("subject", SUBJECT),
        Field("last", Uint()),
        _maybe("owner_term", Uint()),
        _maybe("origin", Bin16()),
        _maybe("state", STATE, ""),
    ),
    "heartbeat": (),
}


# ---- Checking --------------------------------------------------------------------------------------


def check_request(fields: Fields) -> None:
    """`Invalid`, `TooLarge` or `Unsupported`, as the server would answer; nothing where it is good."""
    check_fields(fields, REQUEST)
    body = _known(REQUESTS, fields["op"], "op")
    check_fields(fields, body)
    if fields["op"] == "append":
        _check_append(fields)


def check_reply(fields: Fields) -> None:
    """The same for a reply. Beside an error there may be a partial answer, or none."""
    check_fields(fields, REPLY)
    op = fields["op"]
    if "error" in fields and MARKS.get(op, "") not in fields:
        return
    check_fields(fields, _known(REPLIES, op, "op"))
    if op == "read":
        check_span(fields)
    if op == "append":
        lengths = {len(fields.get(key, ())) for key in ("seqs", "positions")}
        if lengths != {fields["taken"]}:
            raise Invalid("taken: does not fit seqs and positions")


def check_delivery(fields: Fields) -> None:
    """The same for what an attach's endpoint sends."""
    check_fields(fields, DELIVERY)
    check_fields(fields, _known(DELIVERIES, fields["kind"], "kind"))
    if fields["kind"] == "deliver":
        check_span(fields)


def check_ack(fields: Fields) -> None:
    """The same for what a consumer sends."""
    check_fields(fields, ACK)
    if ("acked" in fields) == ("nack" in fields):
        raise Invalid("acked: either this or nack")


def check_live(fields: Fields) -> None:
    """The same for what PUB sends."""
    check_fields(fields, LIVE)
    check_fields(fields, _known(LIVES, fields["kind"], "kind"))
    if fields["kind"] == "events":
        check_span(fields)


CHECKS: Final[dict[str, Callable[[Fields], None]]] = {
    "request": check_request,
    "reply": check_reply,
    "delivery": check_delivery,
    "ack": check_ack,
    "live": check_live,
}


def check_fields(fields: Fields, wanted: Sequence[Field]) -> None:
    """Each wanted field is there and of its form. Others are not looked at."""
    for field in wanted:
        if field.key in fields:
            _check(field.key, fields[field.key], field.form)
        elif not field.optional:
            raise Invalid(f"{field.key}: is missing")


def check_span(fields: Fields) -> None:
    """What a walk over the message relies on: places that grow, and owners for every event."""
    count, first, last = fields["count"], fields.get("first", 0), fields.get("last", 0)
    positions = fields.get("positions", [])
    if (first == 0) != (last == 0) or last < first:
        raise Invalid("first: does not fit last")
    if not positions:
        if first and last - first >= count:
            raise Invalid("positions: missing where they are not consecutive")
    elif (
        any(here >= there for here, there in pairwise(positions))
        or len(positions) > count
        or (positions[0], positions[-1]) != (first, last)
    ):
        raise Invalid("positions: do not fit first, last and count")
    owners = fields.get("owners", [])
    if owners and sum(owner[0] for owner in owners) != count:
        raise Invalid("owners: do not add up to count")


def _known(table: Mapping[str, tuple[Field, ...]], name: str, key: str) -> tuple[Field, ...]:
    if name not in table:
        raise Unsupported(f"{key}: unknown: {name}", {"supported": " ".join(table)})
    return table[name]


def _check_append(fields: Fields) -> None:
    events = fields["events"]
    if sum(len(event["data"].encode()) for event in events) > limits.APPEND_BYTES_MAX:
        raise TooLarge(f"events: over {limits.APPEND_BYTES_MAX} bytes of data")
    if "subject" not in fields and not all(event.get("ephemeral", False) for event in events):
        raise Invalid("subject: is missing, and a durable event needs one")


def _check(key: str, value: Any, form: Form) -> None:
    check: Callable[[str, Any, Any], None] = _BY_FORM[type(form)]
    check(key, value, form)


def _check_uint(key: str, value: Any, form: Uint) -> None:
    if type(value) is not int:
        raise Invalid(f"{key}: wants an unsigned integer")
    if not form.least <= value <= form.most:
        raise Invalid(f"{key}: {value} is not within {form.least}..{form.most}")


def _check_text(key: str, value: Any, form: Text) -> None:
    if type(value) is not str:
        raise Invalid(f"{key}: wants a text")
    if len(value.encode()) > form.most:
        raise TooLarge(f"{key}: over {form.most} bytes")
    if form.words and value not in form.words:
        raise Invalid(f"{key}: wants {' or '.join(form.words)}")
    if form.rule is not None:
        form.rule(value)


def _check_bin16(key: str, value: Any, _: Bin16) -> None:
    if type(value) is not bytes or len(value) != 16:
        raise Invalid(f"{key}: wants a bin of 16 bytes")


def _check_flag(key: str, value: Any, _: Flag) -> None:
    if type(value) is not bool:
        raise Invalid(f"{key}: wants true or false")


def _check_count(key: str, count: int, least: int, most: int) -> None:
    if count > most:
        raise TooLarge(f"{key}: {count} entries, over {most}")
    if count < least:
        raise Invalid(f"{key}: wants at least {least} entries")


def _check_items(key: str, value: Any, form: Items) -> None:
    if type(value) is not list:
        raise Invalid(f"{key}: wants a list")
    _check_count(key, len(value), form.least, form.most)
    for item in value:
        _check(key, item, form.each)


def _check_tuple(key: str, value: Any, form: Tuple) -> None:
    if type(value) is not list:
        raise Invalid(f"{key}: wants a list")
    _check_count(key, len(value), len(form.parts), len(form.parts))
    for part, each in zip(value, form.parts):
        _check(key, part, each)


def _check_map(key: str, value: Any, form: Map) -> None:
    if type(value) is not dict:
        raise Invalid(f"{key}: wants a map")
    check_fields(value, form.fields)


def _check_texts(key: str, value: Any, form: Texts) -> None:
    if type(value) is not dict:
        raise Invalid(f"{key}: wants a map")
    _check_count(key, len(value), form.least, form.most)
    for name, text in value.items():
        if not name:
            raise Invalid(f"{key}: has an empty key")
        _check_text(key, name, Text(form.key_most))
        _check_text(key, text, Text(form.value_most))


def _check_facts(key: str, value: Any, form: Facts) -> None:
    if type(value) is not dict:
        raise Invalid(f"{key}: wants a map")
    _check_count(key, len(value), 0, form.most)
    for name, fact in value.items():
        _check_text(key, name, Text(limits.FACT_NAME_BYTES_MAX))
        if type(fact) is str:
            _check_text(key, fact, Text(limits.FACT_TEXT_BYTES_MAX))
        else:
            _check_uint(key, fact, Uint())


_BY_FORM: Final[dict[type, Any]] = {
    Uint: _check_uint, Text: _check_text, Bin16: _check_bin16, Flag: _check_flag, Items: _check_items,
    Tuple: _check_tuple, Map: _check_map, Texts: _check_texts, Facts: _check_facts,
}
