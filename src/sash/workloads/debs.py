"""What the lines of two public data sets hold: the DEBS grand challenges of 2012 and 2014.

Each is a dict of column names, in the file's order, to the names of Spark SQL types:

>>> ", ".join(f"{name} {kind}" for name, kind in DEBS_2014.items())[:50]
'id bigint, timestamp bigint, value double, propert'
>>> len(DEBS_2012)
56

Neither file has a header. (A sample of the 2012 data that goes around has one; skip its line.)
"""

from __future__ import annotations

from typing import Final


def _numbered(prefix: str, first: int, last: int) -> list[str]:
    return [f"{prefix}{number:02}" for number in range(first, last + 1)]


DEBS_2012_SEPARATOR: Final = "\t"

DEBS_2012: Final[dict[str, str]] = {
    # When: 2012-02-22T16:46:28.9670320+00:00, in UTC, to 100 ns. Spark keeps the microseconds.
    "ts": "timestamp",
    # The line's number, as the machine counted.
    "index": "bigint",
    # Electrical power of the three main phases: the "energy readings" that papers aggregate.
    **dict.fromkeys(_numbered("mf", 1, 3), "int"),
    # Anode current drop, cells 1 to 3. Written with leading zeros, as the next two groups are.
    **dict.fromkeys(_numbered("pc", 13, 15), "int"),
    # Anode voltage drop, cells 1 to 3.
    **dict.fromkeys(_numbered("pc", 25, 27), "int"),
    # Not said.
    "res": "int",
    # From here on states, 0 or 1, which Spark does not read as booleans.
    # Additives: sensors of chemicals A, B, C; then the release valves of A, B, C.
    **dict.fromkeys(_numbered("bm", 5, 10), "int"),
    # Not said. The messages of the challenge had 66 fields, as if pp22 to pp30 and pc24 were there;
    # the file's lines have these 56.
    **dict.fromkeys(_numbered("pp", 1, 21), "int"),
    **dict.fromkeys(_numbered("pp", 31, 36), "int"),
    **dict.fromkeys(_numbered("pc", 1, 6), "int"),
    **dict.fromkeys(_numbered("pc", 19, 23), "int"),
}
"""Manufacturing equipment, 100 lines a second, 32 million lines."""

DEBS_2014_SEPARATOR: Final = ","

DEBS_2014: Final[dict[str, str]] = {
    # Of the reading; unique.
    "id": "bigint",
    # Seconds since 1970, UTC.
    "timestamp": "bigint",
    # What was measured, up to three decimals.
    "value": "double",
    # Of what: 0 is work, in kWh, which only grows until a plug is reset; 1 is load, in W.
    "property": "int",
    # Which plug. A plug's number is unique in its household only, a household's in its house.
    "plug_id": "int",
    "household_id": "int",
    "house_id": "int",
}
"""Smart plugs of 40 houses, a reading a second or two of each: September 2013."""
