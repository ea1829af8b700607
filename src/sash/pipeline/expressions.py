"""Which columns a piece of SQL names, where that is plain to see without Spark.

SQL is Spark's to read. But most of what is written in a file is as simple as "load >= 0", and a
column that is misspelt there should be told before Spark starts. What is not so simple, as far as
the words below tell, is not looked at: better no answer than a wrong one.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""\s*(?:(?P<name>[^\W\d]\w*|`[^`]+`)|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\w{0,2}|\.\d+)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<sign><=>|<=|>=|<>|!=|==|[-+*/%<>=(),]))""",
    re.VERBOSE,
)
WORDS = re.compile(
    "and|or|not|is|null|true|false|in|between|like|case|when|then|else|end|distinct", re.IGNORECASE
)
FUNCTIONS = re.compile(
    "abs|ceil|coalesce|concat|exp|floor|greatest|hour|if|ifnull|isnan|isnotnull|isnull|least|length"
    "|ln|log|log10|log2|lower|minute|month|nullif|nvl|pow|power|round|second|sign|sqrt|to_date"
    "|to_timestamp|trim|try_to_timestamp|unix_micros|unix_millis|unix_timestamp|upper|year",
    re.IGNORECASE,
)
"""Those whose arguments are values: not units of time, types or functions."""
BARE = re.compile(
    "current_(?:date|time|timestamp|user)|localtime(?:stamp)?|(?:session_)?user", re.I
)
"""Functions that may be written without parentheses."""
CAST = re.compile(
    r"\b(?:try_)?cast\s*\(([^()]*)\bas\s+[\w]+(?:\(\s*\d+\s*(?:,\s*\d+\s*)?\))?\s*\)", re.I
)


def columns_in(sql: str) -> list[str] | None:
    """The columns that a piece of SQL names; None if it is not plain.

    >>> columns_in("load >= 0 AND house <> 'a b'"), columns_in("cast(load AS double) / 1000")
    (['load', 'house'], ['load'])
    >>> columns_in("transform(loads, x -> x + 1)"), columns_in("ts > now() - interval 1 day")
    (None, None)
    """
    sql = CAST.sub(r"(\1)", sql)
    found: list[str] = []
    at, before = 0, ""
    while at < len(sql.rstrip()):
        token = TOKEN.match(sql, at)
        if token is None:
            return None
        at = token.end()
        kind, word = str(token.lastgroup), token[0].strip()
        if kind == "name" and WORDS.fullmatch(word):
            kind = "word"
        elif kind == "name":
            called = sql[at:].lstrip().startswith("(")
            if (called and not FUNCTIONS.fullmatch(word)) or BARE.fullmatch(word):
                return None
            if not called:
                found.append(word.strip("`"))
        if {kind, before} <= {"name", "number", "text"}:
            return None  # two values side by side: date '2013-01-01', interval 1 day
        before = kind
    return list(dict.fromkeys(found))
