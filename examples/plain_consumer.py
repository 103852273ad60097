#!/usr/bin/env python3
"""A consumer written from docs/protocol.md alone: `plain_consumer.py URL [SUBJECT [AFTER]]`, over pyzmq and msgpack.

Prints `POSITION SEQ TYPE DATA` of every durable event once and in order, whatever the bus goes through.
"""

import io
import os
import sys
import time

import msgpack
import zmq

url, subject, cursor = sys.argv[1], (sys.argv[2:3] or [None])[0], int((sys.argv[3:4] or [0])[0])
context, client, log = zmq.Context(), os.urandom(16), None
topic = (subject.encode() if subject else b"*") + b"/"


def socket(kind, endpoint):
    made = context.socket(kind)
    made.linger = 0
    made.connect(endpoint)
    return made


def ask(op, **fields):
    """One request, repeated until it is answered: requests of a reader change nothing."""
    while True:
        with socket(zmq.DEALER, url) as requests:
            requests.send(msgpack.packb({"v": 1, "op": op, "rid": 1, "client": client, **fields}))
            if requests.poll(3000):
                reply, *events = requests.recv_multipart()
                header = msgpack.unpackb(reply)
                if "error" in header:
                    sys.exit(f"{header['error']['code']}: {header['error']['message']}")
                return header, b"".join(events)


def hand_over(header, frame, place):
    """Walks a message (section 6, Join); False where something is missing in front of it."""
    global cursor
    if place > cursor:
        return False
    positions = iter(header.get("positions") or range(header["first"], header["last"] + 1))
    for event in msgpack.Unpacker(io.BytesIO(frame)):
        if "durable" not in event:
            continue
        position, seq = next(positions), event["durable"]["seq"]
        place = seq if subject else position
        if place > cursor:
            cursor = place
            print(position, seq, event["type"], event["data"], flush=True)
    return True


def read():
    """From the cursor to the end of what is acknowledged."""
    while True:
        page, events = ask("read", after=cursor, log=log, **({"subject": subject} if subject else {}))
        hand_over(page, events, cursor)
        if page["end"]:
            return page["term"]


while True:  # One turn is one connection to PUB.
    hello, _ = ask("hello")
    log = log or hello["log"]
    with socket(zmq.SUB, hello["live"]) as live:
        live.subscribe(topic)
        live.subscribe(b"!/")
        term, heard = None, time.monotonic()
        while time.monotonic() - heard < 3 * hello["heartbeat_ms"] / 1000:
            if not live.poll(hello["heartbeat_ms"]):
                continue
            heard = time.monotonic()
            _, message, *events = live.recv_multipart()
            header = msgpack.unpackb(message)
            if term is not None and header["term"] != term:
                break
            if header["kind"] == "beacon" and (term is None or header["last"] > cursor):
                term = read()
            elif header["kind"] == "events" and term is not None and not hand_over(header, *events, header["prev"]):
                read()
                hand_over(header, *events, header["prev"])
