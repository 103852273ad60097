"""JSON texts and what becomes of them at commit: their canonical form (RFC 8785), or a refusal and where it points.

The texts under "rfc 8785" have the contents of that document's examples and of its public test data.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from typing import Iterator

DEPTH_MAX = 64


@dataclass(frozen=True)
class Text:
    name: str
    text: bytes
    canonical: str | None = None
    error: str = ""
    offset: int | None = None
    """Of the first byte that is wrong; of the object where a key comes twice; absent where the bound is of the whole."""


VALID = {
    "rfc 8785: arrays": ('[\n  56,\n  {\n    "d": true,\n    "10": null,\n    "1": [ ]\n  }\n]', '[56,{"1":[],"10":null,"d":true}]'),
    "rfc 8785: structures": (
        '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}',
        '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ),
    "rfc 8785: values": (
        '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ),
    "rfc 8785: unicode is not normalised": ('{"A":"A\\u030a"}', '{"A":"A\u030a"}'),
    "rfc 8785: no locale": (
        '{"peach":1,"p\\u00e9ch\\u00e9":2,"p\\u00eache":3,"sin":4}', '{"peach":1,"p\u00e9ch\u00e9":2,"p\u00eache":3,"sin":4}',
    ),
    "rfc 8785: weird": (
        '{"\\u20ac":1,"\\r":2,"\\u000a":3,"1":4,"\\u0080":"\\u007f","\\ud83d\\ude02":5,"\\u00f6":6,"\\ufb33":7,"</script>":8}',
        '{"\\n":3,"\\r":2,"1":4,"</script>":8,"\u0080":"\u007f","\u00f6":6,"\u20ac":1,"\U0001f602":5,"\ufb33":7}',
    ),
    "keys beyond the basic plane come first": ('{"\\ufb33":2,"\\ud83d\\ude00":1}', '{"\U0001f600":1,"\ufb33":2}'),
    "a prefix comes first": ('{"aa":1,"a":2,"":3}', '{"":3,"a":2,"aa":1}'),
    "every short escape": ('"\\b\\t\\n\\f\\r\\"\\\\\\/"', '"\\b\\t\\n\\f\\r\\"\\\\/"'),
    "control characters": ('"\\u0000\\u001F\\u007f"', '"\\u0000\\u001f\u007f"'),
    "white space of every kind": (' \t\r\n{ "a" :\t1 ,\r"b":\n[ ] }\n', '{"a":1,"b":[]}'),
    "a key that is in two objects": ('{"a":{"a":1},"b":{"a":1}}', '{"a":{"a":1},"b":{"a":1}}'),
    "literals": ("[null,true,false]", "[null,true,false]"),
    "text alone": ('"x"', '"x"'),
    "depth at its bound": ("[" * DEPTH_MAX + "]" * DEPTH_MAX, "[" * DEPTH_MAX + "]" * DEPTH_MAX),
    "objects at the depth bound": ('{"a":' * DEPTH_MAX + "0" + "}" * DEPTH_MAX, '{"a":' * DEPTH_MAX + "0" + "}" * DEPTH_MAX),
}

SPELLINGS = {
    "0": ["0", "-0", "0.0", "-0.0e5", "0e0", "1e-400"],
    "1": ["1", "1.0", "100e-2", "1E0", "0.1e1"],
    "4.5": ["4.50", "45e-1"],
    "0.002": ["2e-3", "0.0020"],
    "0.000001": ["1e-6", "0.000001"],
    "1e-7": ["1e-7", "0.0000001", "10E-8"],
    "0.00001": ["1e-5", "0.00001"],
    "5e-324": ["5e-324", "4.9406564584124654e-324"],
    "1.7976931348623157e+308": ["1.7976931348623157e308"],
    "1e+21": ["1e21", "1000000000000000000000", "1E+21"],
    "1e+30": ["1E30", "1e+30"],
    "333333333.3333333": ["333333333.33333329"],
    "9007199254740991": ["9007199254740991", "9007199254740991.0", "9007199254740991e0"],
    "-9007199254740991": ["-9007199254740991"],
    "9.999999999999997e-7": ["9.999999999999997e-7"],
    "-0.0000033333333333333333": ["-0.0000033333333333333333"],
    "1424953923781206.2": ["1424953923781206.25"],
}
"""Numbers by their canonical form."""

BEYOND = ["9007199254740992", "-9007199254740993", "1e20", "123456789012345678901", "-999999999999999900000", "9007199254740991.9"]
"""In canonical form they are digits beyond 2^53-1: another language would read another integer."""
NOT_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e309", "-1e999", "01", "-01", "+1", "1.", ".5", "1e", "1e+", "0x1", "--1", "1_0", "-"]

REFUSED: list[tuple[str, bytes, int]] = [
    ("lone high surrogate", b'"\\ud800"', 1),
    ("lone low surrogate", b'["ab","\\udc00"]', 7),
    ("surrogates in the wrong order", b'"\\udc00\\ud800"', 1),
    ("surrogate and a letter", b'"\\ud800\\u0041"', 1),
    ("lone surrogate in a key", b'{"\\udfff":1}', 2),
    ("utf-8: a byte that never occurs", b'"\xff"', 1),
    ("utf-8: cut short", b'"\xe2\x80"', 1),
    ("utf-8: overlong", b'"\xc0\x80"', 1),
    ("utf-8: a surrogate", b'"\xed\xa0\x80"', 1),
    ("utf-8: beyond U+10FFFF", b'"\xf4\x90\x80\x80"', 1),
    ("utf-8: outside a string", b"[1]\x80", 3),
    ("a key twice", b'{"a":1,"a":1}', 0),
    ("a key twice, one with an escape", b'{"a":1,"\\u0061":2}', 0),
    ("a key twice, deep inside", b'[1,{"x":{"":0,"":0}}]', 8),
    ("trailing value", b"[1] 2", 4),
    ("control character in a string", b'"a\nb"', 2),
    ("zero byte in a string", b'"\x00"', 1),
    ("escape that is none", b'"\\x41"', 1),
    ("escape that is cut", b'"\\u12"', 1),
    ("string without an end", b'["ab', 1),
]


def valid() -> Iterator[Text]:
    for name, (text, canonical) in VALID.items():
        yield Text(name, text.encode(), canonical)
    for canonical, spellings in SPELLINGS.items():
        for spelling in spellings:
            yield Text(f"number {spelling}", spelling.encode(), canonical)


def invalid() -> Iterator[Text]:
    for name, text, offset in REFUSED:
        yield Text(name, text, None, "invalid", offset)
    for number in BEYOND:
        yield Text(f"number {number}", f"[0,{number}]".encode(), None, "invalid", 3)
    for number in NOT_NUMBERS:
        yield Text(f"no number: {number}", f"[0,{number}]".encode(), None, "invalid")
    for text in ("", " ", "[", "]", "{", "[1,]", "[1 2]", '{"a"}', '{"a":1,}', "{a:1}", "'a'", "tru", "// x\n1", "[1}", "{} {}", "1,2", "\ufeff{}"):
        yield Text(f"no JSON: {text!a}", text.encode(), None, "invalid")
    yield Text("depth over its bound", b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1), None, "too_large")
    yield Text("nesting without end", b"[" * 100_000, None, "too_large")
    yield Text("over the bytes of one event's data", b'"' + b"x" * 1_048_576 + b'"', None, "too_large")


def doubles(seed: int, count: int) -> Iterator[float]:
    """Finite doubles by random bit pattern."""
    source = random.Random(seed)
    while count > 0:
        value: float = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))[0]
        if value - value == 0:
            count -= 1
            yield value
