"""The join as a table of decisions, and against a model that drops, repeats and reorders."""

from __future__ import annotations

import random
import time
import uuid

import pytest

from runwire.errors import Corrupt, CursorForeign
from runwire.event import Event
from runwire.join import CaughtUp, Ended, Join, Phase, Resumed, Wanted
from runwire.messages import Beacon, Heartbeat, LiveEvents, Page

LOG = b"L" * 16
RUN = "run-1"


def durable(seq: int) -> Event:
    return Event(uuid.UUID(int=seq), "acme.step", 0, RUN, seq, 1, 10 * seq, {}, "{}", b"x")


def ephemeral(name: int) -> Event:
    return Event(uuid.UUID(int=1 << 64 | name), "acme.delta", 0, RUN, 0, 0, 0, {}, "{}", b"x")


def page(*seqs: int, end: bool = True, term: int = 1, log: bytes = LOG) -> Page:
    events = [durable(seq) for seq in seqs]
    return Page(log, term, events, seqs[-1] if seqs else 0, 99, end)


def live(n: int, prev: int, *events: Event, term: int = 1, log: bytes = LOG) -> LiveEvents:
    return LiveEvents(log, term, n, prev, list(events), 100)


def beacon(n: int, last: int, term: int = 1) -> Beacon:
    return Beacon(LOG, term, n, last, "open")


def joined(after: int = 0, **options: object) -> Join:
    """A reader that has heard its beacon and reads."""
    join = Join(subject=RUN, after=after, live=True, **options)  # type: ignore[arg-type]
    join.start(LOG, 1)
    join.live(beacon(1, after))
    return join


def is_live(after: int = 0, **options: object) -> Join:
    join = joined(after, **options)
    join.page(page())
    taken(join)
    return join


def taken(join: Join) -> list[object]:
    """What is ready: sequences, names of ephemeral events as `~n`, marks as themselves."""
    found: list[object] = []
    while (item := join.take()) is not None:
        if isinstance(item, Event):
            found.append(item.seq or f"~{item.id.int & 0xFFFFFFFF}")
        else:
            found.append(item)
    return found


def test_nothing_is_read_before_the_subscription_is_confirmed() -> None:
    join = Join(subject=RUN, after=4, live=True)
    join.start(LOG, 1)
    assert join.wanted is None
    join.live(Heartbeat(LOG, 1))
    assert join.wanted is None
    join.live(beacon(1, 0))
    assert join.wanted == Wanted(4, wait=False)


def test_history_comes_first_then_what_was_heard_meanwhile_without_repeats() -> None:
    join = joined()
    join.live(live(2, 1, durable(2), ephemeral(1), durable(3), ephemeral(2)))
    assert taken(join) == []
    join.page(page(1, 2, end=False))
    assert join.wanted == Wanted(2, wait=False)
    join.page(page(end=True))
    assert taken(join) == [1, 2, "~1", 3, "~2", CaughtUp(3)]
    assert join.phase is Phase.LIVE and join.counters.repeats_dropped == 1


def test_ephemeral_events_of_the_past_are_dropped() -> None:
    join = joined()
    join.live(live(2, 0, ephemeral(1), durable(1), ephemeral(2)))
    join.page(page(1, 2))
    assert taken(join) == [1, 2, CaughtUp(2)]
    assert join.counters.late_dropped == 2


def test_a_hole_is_read_and_the_message_taken_again() -> None:
    join = is_live()
    join.live(live(2, 0, durable(1)))
    join.live(live(4, 2, durable(3), ephemeral(1)))
    assert taken(join) == [1]
    assert join.wanted == Wanted(1, wait=False)
    join.page(page(2))
    assert taken(join) == [2, 3, "~1", CaughtUp(3)]
    assert join.counters.messages_missed == 1 and join.counters.holes_healed == 1


def test_a_hole_that_reading_does_not_fill_is_waited_for_not_asked_for_again_at_once() -> None:
    join = is_live()
    join.live(live(2, 1, durable(2)))
    assert join.wanted == Wanted(0, wait=False)
    join.page(page())
    assert join.wanted == Wanted(0, wait=True)
    join.page(page(1, 2))
    assert taken(join) == [1, 2, CaughtUp(2)]


def test_an_ephemeral_event_behind_a_hole_shows_it() -> None:
    join = is_live()
    join.live(live(2, 1, ephemeral(1)))
    assert join.wanted == Wanted(0, wait=False)
    join.page(page(1))
    assert taken(join) == [1, "~1", CaughtUp(1)]


def test_ephemeral_events_taken_before_a_hole_are_not_handed_on_again() -> None:
    join = is_live()
    join.live(live(2, 0, ephemeral(1), durable(2)))  # a jump inside one message
    join.page(page())
    join.page(page(1))
    assert taken(join) == ["~1", 1, 2, CaughtUp(2)]


def test_a_beacon_beyond_the_cursor_is_read_after() -> None:
    join = is_live()
    join.live(beacon(2, 0))
    assert join.wanted is None
    join.live(beacon(4, 2))
    assert join.wanted == Wanted(0, wait=False)
    join.page(page(1, 2))
    assert taken(join) == [1, 2, CaughtUp(2)]


def test_a_beacon_heard_while_reading_is_judged_in_its_turn() -> None:
    join = joined()
    join.live(beacon(2, 3))
    join.page(page(1, 2))
    assert join.wanted == Wanted(2, wait=False)
    join.page(page(3))
    assert taken(join) == [1, 2, 3, CaughtUp(3)]


def test_a_repeated_message_hands_on_nothing_twice() -> None:
    join = is_live()
    message = live(2, 0, durable(1), ephemeral(1))
    join.live(message)
    join.live(message)
    assert taken(join) == [1, "~1"]


def test_another_log_is_an_error_wherever_it_is_seen() -> None:
    other = b"M" * 16
    for feed in (
        lambda join: join.live(live(2, 0, durable(1), log=other)),
        lambda join: join.page(page(1, log=other)),
        lambda join: join.start(other, 1),
    ):
        join = joined()
        feed(join)
        assert isinstance(join.failure, CursorForeign)
        assert join.failure.facts == {"requested_log": LOG.hex(), "log": other.hex()}


def test_a_newer_term_asks_for_a_new_join_from_the_cursor() -> None:
    join = is_live()
    join.live(live(2, 0, durable(1)))
    join.live(live(1, 1, durable(2), term=2))
    assert join.restart and join.wanted is None
    join.start(LOG, 2)
    join.live(beacon(1, 2, term=2))
    assert join.wanted == Wanted(1, wait=False)
    join.page(page(2, term=2))
    assert taken(join) == [1, Resumed(1, "the server was restarted"), 2, CaughtUp(2)]


def test_messages_of_an_older_term_are_ignored() -> None:
    join = joined()
    join.start(LOG, 2)
    join.live(live(9, 0, durable(1), term=1))
    join.live(beacon(1, 0, term=2))
    join.page(page(1, 2, term=1))
    join.page(page(term=2))
    assert [item for item in taken(join) if not isinstance(item, Resumed)] == [CaughtUp(0)]


def test_a_full_buffer_is_let_go_and_history_read_once_more() -> None:
    join = joined(buffer_messages_max=2)
    for seq in (1, 2, 3):
        join.live(live(seq + 1, seq - 1, durable(seq)))
    assert join.counters.overflows == 1
    join.page(page(1))
    assert join.wanted == Wanted(1, wait=False) and join.phase is Phase.READING
    join.page(page(2, 3))
    assert taken(join) == [1, 2, 3, CaughtUp(3)]


def test_the_buffer_holds_exactly_its_bound() -> None:
    join = joined(buffer_messages_max=2)
    join.live(live(2, 0, durable(1)))
    join.live(live(3, 1, durable(2)))
    assert join.counters.overflows == 0
    by_bytes = joined(buffer_bytes_max=199)
    by_bytes.live(live(2, 0, durable(1)))
    by_bytes.live(live(3, 1, durable(2)))
    assert by_bytes.counters.overflows == 1


def test_a_page_with_a_hole_is_corrupt_and_nothing_behind_it_is_handed_on() -> None:
    join = joined()
    join.page(page(1, 3))
    assert taken(join) == [1] and isinstance(join.failure, Corrupt)


def test_a_cursor_ahead_of_what_is_acknowledged_waits() -> None:
    join = joined(after=5)
    join.page(page(end=False))
    assert join.wanted == Wanted(5, wait=True)


def test_without_following_history_has_an_end() -> None:
    join = Join(subject=RUN, after=0, live=False, follow=False)
    join.start(LOG, 1)
    join.page(page(1, 2, end=False))
    join.page(page(3))
    assert taken(join) == [1, 2, 3, Ended(3)] and join.wanted is None


def test_without_live_messages_news_are_waited_for_over_terms() -> None:
    join = Join(subject=RUN, after=0, live=False)
    join.start(LOG, 1)
    join.page(page(1))
    assert join.wanted == Wanted(1, wait=True)
    join.page(page(2, term=2))
    assert taken(join) == [1, 2] and join.restart is None


def test_ephemeral_events_are_left_out_on_request() -> None:
    join = is_live(ephemeral=False)
    join.live(live(2, 0, ephemeral(1), durable(1)))
    assert taken(join) == [1]


class Model:
    """A server and a lossy way to one reader; messages are made as events happen."""

    def __init__(self, chance: random.Random, whole_log: bool) -> None:
        self.chance = chance
        self.term = 1
        self.n = 0
        self.last = 0
        self.names = 0
        self.place_of_name: dict[str, int] = {}
        self.wire: list[LiveEvents | Beacon] = []
        self.whole_log = whole_log

    def event(self, seq: int) -> Event:
        return Event(uuid.UUID(int=seq), "acme.step", 0, RUN, seq, 1, seq, {}, "{}", b"x")

    def publish(self) -> None:
        prev, events = self.last, []
        for _ in range(self.chance.randint(1, 4)):
            if self.chance.random() < 0.5:
                self.last += 1
                events.append(self.event(self.last))
            else:
                self.names += 1
                self.place_of_name[f"~{self.names}"] = self.last
                events.append(ephemeral(self.names))
        self.n += 1
        self.send(live(self.n, prev, *events, term=self.term))

    def beacon(self) -> None:
        self.n += 1
        self.send(beacon(self.n, self.last, term=self.term))

    def send(self, message: LiveEvents | Beacon) -> None:
        fate = self.chance.random()
        if fate < 0.15:
            return
        self.wire.append(message)
        if fate < 0.25:
            self.wire.append(message)
        if fate > 0.9 and len(self.wire) > 1:
            self.wire[-1], self.wire[-2] = self.wire[-2], self.wire[-1]

    def read(self, wanted: Wanted) -> Page:
        size = self.chance.randint(1, 5)
        events = [self.event(seq) for seq in range(wanted.after + 1, self.last + 1)][:size]
        end = wanted.after + len(events) == self.last
        return Page(LOG, self.term, events, wanted.after + len(events), self.last, end)


@pytest.mark.parametrize("subject", [RUN, None])
def test_whatever_is_lost_repeated_or_swapped_every_event_comes_once_and_in_order(
    subject: str | None,
) -> None:
    seed = time.time_ns()
    print(f"seed {seed}")
    for round_ in range(300):
        chance = random.Random(f"{seed}/{round_}")
        model = Model(chance, subject is None)
        join = Join(subject=subject, after=0, live=True, buffer_messages_max=chance.choice([2, 8, 99]))
        join.start(LOG, 1)
        heard: list[object] = []
        reading: Page | None = None
        for step in range(200):
            act = chance.random()
            if step > 150:
                act = max(act, 0.35)  # the world falls silent, and the reader catches up
            if act < 0.3:
                model.publish()
            elif act < 0.32:
                model.term += 1
                model.n = 0
                model.wire.clear()
            elif act < 0.5:
                model.beacon()
            elif act < 0.75 and model.wire:
                join.live(model.wire.pop(0))
            elif reading is not None:  # a page is as old as its request
                join.page(reading)
                reading = None
            elif join.wanted is not None:
                reading = model.read(join.wanted)
            if join.restart:
                reading = None
                join.start(LOG, model.term)
            heard += taken(join)
        assert join.failure is None, f"round {round_}: {join.failure}"
        finish(model, join, reading)
        heard += taken(join)
        check(model, heard, f"round {round_}")


def finish(model: Model, join: Join, reading: Page | None) -> None:
    """A quiet world without losses: what is on its way arrives, beacons are repeated."""
    if reading is not None:
        join.page(reading)
    model.chance = random.Random(1)
    for _ in range(1000):
        if join.restart:
            join.start(LOG, model.term)
        if model.wire:
            join.live(model.wire.pop(0))
        elif join.wanted is not None:
            join.page(model.read(join.wanted))
        else:
            model.n += 1
            join.live(beacon(model.n, model.last, term=model.term))
            if join.phase is Phase.LIVE and join.cursor == model.last:
                return
    raise AssertionError("the reader never caught up")


def check(model: Model, heard: list[object], where: str) -> None:
    events = [item for item in heard if isinstance(item, (int, str))]
    assert [item for item in events if isinstance(item, int)] == list(range(1, model.last + 1)), where
    place, seen, last_name = 0, set(), 0
    for item in events:
        if isinstance(item, int):
            place = item
            continue
        assert item not in seen, f"{where}: {item} twice"
        seen.add(item)
        assert model.place_of_name[item] == place, f"{where}: {item} out of its place"
        assert int(item[1:]) > last_name, f"{where}: {item} overtaken"
        last_name = int(item[1:])
