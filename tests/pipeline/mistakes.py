"""One good pipeline file, and mistakes: each a change to a line or two of it, and what is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GOOD = """\
[source]                                             # 1
format = "csv"                                       # 2
path = "readings"                                    # 3
options = { header = true }                          # 4
time = "ts"                                          # 5
key = ["house"]                                      # 6
order_by = ["id"]                                    # 7
required = ["load"]                                  # 8
lateness = "2min"                                    # 9
earliest = 2013-01-01                                # 10
where = "load >= 0"                                  # 11
columns = { kw = "load / 1000" }                     # 12
schema.id = "bigint"                                 # 13
schema.ts = "timestamp"                              # 14
schema.house = "string"                              # 15
schema.load = "double"                               # 16
schema.lap = "boolean"                               # 17
                                                     # 18
[queries.by_time]                                    # 19
window = { last = "1h", every = "1min" }             # 20
highest = { op = "Max", of = "load" }                # 21
spread = { op = "StdDev", of = "load", ddof = 0 }    # 22
                                                     # 23
[queries.by_rows]                                    # 24
window = { last = 1000 }                             # 25
mean = { op = "Mean", of = "load" }                  # 26
columns = ["id", "ts", "load"]                       # 27
min_size = 10                                        # 28
emit = "every"                                       # 29
algorithm = "auto"                                   # 30
                                                     # 31
[sink]                                               # 32
format = "parquet"                                   # 33
path = "answers"                                     # 34
mode = "overwrite"                                   # 35
                                                     # 36
[stream]                                             # 37
checkpoint = "checkpoint"                            # 38
trigger = "10s"                                      # 39
"""

OPERATORS = """
import sash

number = 3
made = sash.Max("load")

@sash.operator(partial={"n": "int64"}, commutative=True)
class Half:
    def identity(): return 0
    def lift(v): return 1
    def combine(a, b): return a.n + b.n
    def lower(p, *, times=0.5): return p.n * times
"""


def write_world(folder: Path) -> None:
    """What the file names: readings in three formats, and modules, most of which are no good."""
    for name in ("readings", "unnamed", "unlike", "json", "parquet", "empty"):
        (folder / name).mkdir()
    rows = "1,2013-09-01 00:00:00,a,1.5,true\n2,2013-09-01 00:00:01,b,2.5,false\n"
    (folder / "readings/a.csv").write_text("id,ts,house,load,lap\n" + rows)
    (folder / "unnamed/a.csv").write_text(rows)
    (folder / "unlike/a.csv").write_text("id,ts,house,load,lap\n" + rows)
    (folder / "unlike/b.csv").write_text("ID,TS,House,Load,Lap\n" + rows)
    (folder / "unlike/c.csv").write_text("ts,id,house,load,lap\n")
    record = '{"id": 1, "ts": "2013-09-01T00:00:00", "house": "a", "load": 1.5, "lap": true}\n'
    (folder / "json/a.json").write_text(record)
    columns = {"id": [1], "ts": pa.array([0], pa.timestamp("us", "UTC")), "house": ["a"]}
    columns |= {"load": [1.5], "lap": [True]}
    pq.write_table(pa.table(columns), folder / "parquet/a.parquet")
    (folder / "good_operators.py").write_text(OPERATORS)
    (folder / "failing_module.py").write_text("1 / 0\n")
    (folder / "exiting_module.py").write_text("raise SystemExit(0)\n")
    (folder / "needy_module.py").write_text("import no_such_library\n")
    (folder / "no_python.py").write_text("def (:\n")


def changed(edits: Mapping[int, str]) -> str:
    """The good file with other lines; "" leaves one empty."""
    lines = GOOD.splitlines()
    for number, line in edits.items():
        lines[number - 1] = line
    return "\n".join(lines) + "\n"


def without(*numbers: int) -> dict[int, str]:
    return dict.fromkeys(numbers, "")


NO_SCHEMA = without(*range(13, 18))
PARQUET = {2: 'format = "parquet"', 3: 'path = "parquet"', 4: ""} | NO_SCHEMA
JSON = {2: 'format = "json"', 3: 'path = "json"', 4: ""}
KAFKA = {2: 'format = "kafka"', 3: 'servers = "localhost:9092"', 4: 'topic = "plugs"'}
RATE = without(3, 4, 6, 7, 8, 11, 12, 22, 27) | NO_SCHEMA
RATE |= {2: 'format = "rate"', 5: 'time = "timestamp"'}
RATE |= {21: 'highest = { op = "Max", of = "value" }', 26: 'mean = { op = "Mean", of = "value" }'}


@dataclass(frozen=True)
class Mistake:
    """A change to the good file, and what must be said of it, in the line that is wrong."""

    edits: Mapping[int, str]
    says: str
    line: int = 0
    """By default the one that is changed."""
    of: Mapping[int, str] = field(default_factory=dict)
    """Other changes, which are right: another source."""

    @property
    def text(self) -> str:
        return changed({**self.of, **self.edits})

    @property
    def at(self) -> int:
        return self.line or next(iter(self.edits))

    def __str__(self) -> str:
        return " ".join(each for each in self.edits.values() if each) or f"no {min(self.edits)}"


def window(text: str, says: str) -> Mistake:
    return Mistake({20: f"window = {text}"}, f"queries.by_time: window: {says}")


def highest(text: str, says: str) -> Mistake:
    return Mistake({21: f"highest = {{ {text} }}"}, says)


UNKNOWN = [
    Mistake({36: "[sinks]"}, "the file does not know 'sinks'; did you mean 'sink'?"),
    Mistake({36: "[other]"}, "the file does not know 'other'; there are source, queries, sink,"),
    Mistake({5: 'tiem = "ts"'}, "source does not know 'tiem'; did you mean 'time'?"),
    Mistake({18: "unit = 3"}, "source does not know 'unit'; there are format, path, servers, "),
    Mistake({35: 'mod = "append"'}, "sink does not know 'mod'; did you mean 'mode'?"),
    Mistake({36: 'checkpoint = "c"'}, "sink does not know 'checkpoint'; it belongs in [stream]."),
    Mistake({39: 'triger = "10s"'}, "stream does not know 'triger'; did you mean 'trigger'?"),
    Mistake({27: 'colums = ["id"]'}, "by_rows does not know 'colums'; did you mean 'columns'?"),
    Mistake({31: 'lateness = "2min"'}, "by_rows does not know 'lateness'; it belongs in [source]."),
    Mistake({20: 'windw = { last = "1h" }'}, "not know 'windw'; did you mean 'window'?"),
    Mistake({26: 'mean = { opp = "Mean", of = "load" }'}, "know 'opp'; did you mean 'op'?"),
    Mistake({26: 'mean = { op = "Mean", off = "load" }'}, "Mean does not know 'off'; did you mean"),
    Mistake({36: '[spark]\ndriver.memory = "4g"'}, 'write "spark.driver.memory" = "4g".', line=37),
    window('{ last = "1h", evry = "1min" }', "last does not know 'evry'; did you mean 'every'?"),
]

KINDS = [
    Mistake({2: "format = 3"}, 'source: format is text, not 3: write format = "parquet".'),
    Mistake({3: "path = 3"}, 'path is text or a list, not 3: write path = "data/plugs".'),
    Mistake({3: "path = [3]"}, 'path is a list of text, and 3 is none: write path = "data/plugs".'),
    Mistake({4: "options = 3"}, "options is a table, not 3: write options = { header = true }."),
    Mistake({4: "options = { header = [] }"}, "header is text, a number, true or false, not []"),
    Mistake({5: "time = 3"}, 'source: time is text, not 3: write time = "ts".'),
    Mistake({6: "key = 3"}, 'source: key is text or a list, not 3: write key = ["house_id",'),
    Mistake({6: "key = [true]"}, "source: key is a list of text, and true is none: write key ="),
    Mistake({7: "order_by = true"}, 'is text or a list, not true: write order_by = ["id"].'),
    Mistake({8: "required = { load = 3 }"}, 'not a table: write required = ["load"].'),
    Mistake({9: "lateness = 120"}, 'length of time, and 120 is none: write lateness = "2min".'),
    Mistake({9: 'lateness = "soon"'}, 'and "soon" is none: write lateness = "2min".'),
    Mistake({9: 'lateness = "-2min"'}, 'must be 0s or more, not "-2min": write lateness = "2min".'),
    Mistake({9: 'lateness = "60i"'}, "lateness '60i' is for integers, and the time column 'ts'"),
    Mistake({18: 'idle = "0s"'}, 'idle must be more than 0s, not "0s": write idle = "1d".'),
    Mistake({10: 'earliest = "soon"'}, '"soon" is none: write earliest = 2013-09-01T00:00:00Z.'),
    Mistake({10: "earliest = 07:30:00"}, "is a time, and 07:30:00 is none: write earliest = 2013-"),
    Mistake({18: "latest = 2012-01-01"}, "before latest = 2012-01-01: write a latest after the"),
    Mistake({11: "where = 3"}, 'source: where is text, not 3: write where = "load >= 0".'),
    Mistake({12: 'columns = ["kw"]'}, 'not ["kw"]: write columns = { kw = "load / 1000" }.'),
    Mistake({12: "columns = { kw = 3 }"}, 'columns: kw is text, not 3: write kw = "load / 1000".'),
    Mistake({16: "schema.load = 3"}, 'schema: load is text, not 3: write load = "double".'),
    Mistake({20: "window = true"}, 'not true: write window = { last = "1h", every = "1min" }.'),
    Mistake({26: 'mean = "Mean"'}, 'not "Mean": write mean = { op = "Mean", of = "load" }.'),
    Mistake({26: 'mean = { op = 3, of = "load" }'}, 'mean: op is text, not 3: write op = "Max".'),
    Mistake({26: 'mean = { op = "Mean", of = 3 }'}, 'list, not 3: write of = "load".'),
    Mistake({27: "columns = 3"}, 'text or a list, not 3: write columns = ["ts", "load"].'),
    Mistake({28: 'min_size = "ten"'}, 'is a whole number, not "ten": write min_size = 10.'),
    Mistake({28: "min_size = -1"}, "min_size is 0 or more, not -1: write min_size = 10."),
    Mistake({29: "emit = 3"}, 'emit is text, not 3: write emit = "every".'),
    Mistake({30: "algorithm = 3"}, 'algorithm is text, not 3: write algorithm = "auto".'),
    Mistake({33: "format = 3"}, 'sink: format is text, not 3: write format = "parquet".'),
    Mistake({34: "path = 3"}, 'sink: path is text, not 3: write path = "out/plugs".'),
    Mistake({35: "mode = 3"}, 'sink: mode is text, not 3: write mode = "error".'),
    Mistake({36: "quarantine = 3"}, 'is text, not 3: write quarantine = "out/quarantine".'),
    Mistake({38: "checkpoint = 3"}, 'is text, not 3: write checkpoint = "out/checkpoint".'),
    Mistake({39: "trigger = 10"}, 'a length of time, and 10 is none: write trigger = "10s".'),
    Mistake({39: 'trigger = "10i"'}, 'a length of time, and "10i" is none: write trigger = "10s".'),
    Mistake({24: "[[queries.by_rows]]"}, "not a list of tables: write [queries.by_rows] with "),
]

MISSING = [
    Mistake(without(*range(1, 18)), 'source is missing: write [source] with format = "par', line=1),
    Mistake(without(*range(19, 31)), "queries is missing: write [queries.load_1h] with ", line=1),
    Mistake(without(*range(32, 36)), "sink is missing: write [sink] with format = ", line=1),
    Mistake(without(2), 'source: format is missing: write format = "parquet".', line=1),
    Mistake(without(3), 'source: path is missing: write path = "data/plugs".', line=1),
    Mistake({3: 'path = ""'}, 'source: path is empty: write path = "data/plugs".'),
    Mistake({6: 'key = [""]'}, 'source: key is empty: write key = ["house_id", "plug_id"].'),
    Mistake(without(5), 'source: time is missing: write time = "ts".', line=1),
    Mistake(without(20), 'window is missing: write window = { last = "1h", every ', line=19),
    Mistake(without(26), 'asks for nothing: write highest = { op = "Max", of = "load" }.', line=24),
    Mistake({26: 'mean = { of = "load" }'}, 'by_rows.mean: op is missing: write op = "Max".'),
    Mistake({26: 'mean = { op = "Mean" }'}, 'by_rows.mean: of is missing: write of = "load".'),
    Mistake({26: 'mean = { op = "Mean", of = [] }'}, 'mean: of is empty: write of = "load".'),
    Mistake(without(33), 'sink: format is missing: write format = "parquet".', line=32),
    Mistake(without(34), 'sink: path is missing: write path = "out/plugs".', line=32),
    Mistake({34: 'path = " "'}, 'sink: path is empty: write path = "out/plugs".'),
    Mistake(
        NO_SCHEMA,
        'csv does not tell the types of its columns: write schema = { id = "bigint", '
        'ts = "timestamp", house = "string", load = "double", lap = "boolean" }.',
        line=1,
    ),
    Mistake({**NO_SCHEMA, 4: ""}, "write options = { header = true } and schema = { id = ", line=1),
    Mistake(
        NO_SCHEMA,
        'json does not tell the types of its columns: write schema = { id = "bigint"',
        line=1,
        of=JSON,
    ),
    Mistake(
        NO_SCHEMA,
        "kafka does not tell the types of its columns: write schema = { "
        'ts = "timestamp", house = "string", id = "string", load = "double" }.',
        1,
        KAFKA,
    ),
    Mistake(without(3), 'servers is missing: write servers = "localhost:9092".', 1, KAFKA),
    Mistake(without(4), 'topic is missing: write topic = "plugs".', line=1, of=KAFKA),
]

SOURCES = [
    Mistake({2: 'format = "cvs"'}, "source: format cannot be 'cvs'; did you mean 'csv'?"),
    Mistake({2: 'format = "Parquet"'}, "format cannot be 'Parquet'; did you mean 'parquet'?"),
    Mistake({2: 'format = "a b"'}, "format is a name, not 'a b': write format = \"parquet\"."),
    Mistake(
        {3: 'path = "readigns"'},
        "there is nothing at {folder}/readigns; did you mean '{folder}/readings'?",
    ),
    Mistake({3: 'path = "far/away"'}, "nor is there a folder {folder}/far: write another path."),
    Mistake(
        {3: 'path = "readings/*.tsv"'}, "nothing is called like {folder}/readings/*.tsv: write "
    ),
    Mistake(
        {3: 'path = "empty"'},
        "there is no file in {folder}/empty to tell which columns there "
        "are: write the path of a folder that has parquet files",
        of=PARQUET,
    ),
    Mistake(
        {3: 'path = "readings"'},
        'readings/a.csv is no parquet file: write format = "csv".',
        line=2,
        of=PARQUET,
    ),
    Mistake({3: 'path = "parquet"'}, 'is parquet, no csv file: write format = "parquet".', line=2),
    Mistake(
        {4: 'servers = "localhost:9092"'},
        "servers is for kafka, and the format is 'parquet': "
        'leave it out, or write format = "kafka".',
        of=PARQUET,
    ),
    Mistake({3: 'servers = "localhost"'}, 'write servers = "localhost:9092".', of=KAFKA),
    Mistake({18: 'path = "readings"'}, "source: kafka has no path: leave it out.", of=KAFKA),
    Mistake({3: 'path = "readings"'}, "source: rate has no path: leave it out.", of=RATE),
    Mistake({16: 'schema.load = "doubel"'}, "there is no type 'doubel'; did you mean 'double'?"),
    Mistake(
        {16: 'schema.laod = "double"'}, "the files have no column 'laod'; did you mean 'load'?"
    ),
    Mistake(
        {14: 'schema.tss = "timestamp"', 5: 'time = "tss"'},
        "the files have no field 'tss'; did you mean 'ts'?",
        of=JSON,
    ),
    Mistake(
        {13: 'schema = { load = "double" }'},
        "parquet has types of its own: leave schema out",
        of=PARQUET,
    ),
    Mistake(
        {13: "schema = {}"},
        'schema is empty: write schema = { ts = "timestamp", load = ',
        of=NO_SCHEMA,
    ),
    Mistake(
        {4: ""},
        "the first line of the files names the columns: write options = { header = ",
        line=1,
    ),
    Mistake(
        {3: 'path = "unlike"'},
        "{folder}/unlike/c.csv has the columns ts, id, house, load, lap, and other files id, ts, "
        "house, load, lap, in this order: write it anew, or move it away.",
    ),
    Mistake(
        {3: 'path = "unnamed"'},
        "the first line of the files names no column of the schema, but "
        "1, 2013-09-01 00:00:00, a, 1.5, true: leave header out",
        line=4,
    ),
    Mistake(
        {17: "", 3: 'path = "unnamed"', 4: ""},
        "the schema has 4 columns, and the files have 5: "
        "write one for each, in their order: bigint, timestamp, string, double, boolean.",
        13,
    ),
]

COLUMNS = [
    Mistake(
        {5: 'time = "tss"'}, "source: time: the source has no column 'tss'; did you mean 'ts'?"
    ),
    Mistake({5: 'time = "when"'}, "has no column 'when'; there are id, ts, house, load, lap, kw."),
    Mistake(
        {6: 'key = ["hose"]'}, "source: key: the source has no column 'hose'; did you mean 'hou"
    ),
    Mistake(
        {7: 'order_by = "idd"'}, "order_by: the source has no column 'idd'; did you mean 'id'?"
    ),
    Mistake({8: 'required = ["laod"]'}, "required: the source has no column 'laod'; did you mean"),
    Mistake(
        {11: 'where = "laod >= 0"'}, "where: the source has no column 'laod'; did you mean 'loa"
    ),
    Mistake({12: 'columns = { kw = "laod / 2" }'}, "columns: kw: the source has no column 'laod'"),
    Mistake(
        {26: 'mean = { op = "Mean", of = "laod" }'}, "mean: of: the source has no column 'laod'"
    ),
    Mistake(
        {27: 'columns = ["laod"]'}, "by_rows: columns: the source has no column 'laod'; did you"
    ),
    Mistake({28: 'key = "hose"'}, "by_rows: key: the source has no column 'hose'; did you mean"),
    Mistake({20: 'window = { delta = "lod", width = 3 }'}, "delta: the source has no column 'lod'"),
    Mistake({20: 'window = { punctuated = "lpa" }'}, "punctuated: the source has no column 'lpa'"),
    Mistake(
        {20: 'window = { last = 3, every = { punctuated = "lpa" } }'},
        "window.every: punctuated: the source has no column 'lpa'; did you mean 'lap'?",
    ),
    Mistake(
        {5: 'time = "tz"'}, "the source has no column 'tz'; there are id, ts, house, ", of=PARQUET
    ),
    Mistake({8: 'required = "valu"'}, "has no column 'valu'; did you mean 'value'?", of=RATE),
    Mistake(
        {5: 'time = "house"'},
        "by time, and the column 'house' is of string: write "
        'house = "timestamp" in its schema, or name another column.',
    ),
    Mistake(
        {5: 'time = "lap"'},
        "the column 'lap' is of boolean: write columns = { lap = "
        '"try_cast(lap AS timestamp)" } in [source], or name',
        of=PARQUET,
    ),
]

OPERATORS_NAMED = [
    highest('op = "Maxx", of = "load"', "there is no operator 'Maxx'; did you mean 'Max'?"),
    highest('op = "MAX", of = "load"', "there is no operator 'MAX'; did you mean 'Max'?"),
    highest('op = "avg", of = "load"', "there is no operator 'avg'; did you mean 'Mean'?"),
    highest('op = "sash.Max", of = "load"', "no operator 'sash.Max'; did you mean 'Max'?"),
    highest("op = \"Max('load')\"", 'by its name: write op = "Max", of = "load".'),
    highest('op = "Together", of = "load"', "write its members as aggregates of their own."),
    highest('op = "Zzz", of = "load"', "there is no operator 'Zzz'; there are Count, Sum, "),
    highest(
        'op = "good_operators.Half", of = "load"',
        "there is no operator 'good_operators.Half'; one of your own is 'good_operators:Half'.",
    ),
    highest(
        'op = "god_operators:Half", of = "load"',
        "there is no module 'god_operators' in the "
        "folder of the file, in the current one, or installed; did you mean 'good_operators'?",
    ),
    highest(
        'op = "good_operators.py:Half", of = "load"',
        "an operator of your own is named by its "
        "module and its class, and 'good_operators.py:Half' is not: write op = "
        '"good_operators:Half".',
    ),
    highest(
        'op = "good_operators:Hlaf", of = "load"',
        "there is no 'Hlaf' in 'good_operators'; did you mean 'Half'?",
    ),
    highest(
        'op = "good_operators:number", of = "load"',
        "good_operators:number is no operator: write it as a class with @sash.operator(…).",
    ),
    highest(
        'op = "good_operators:made"',
        "is an operator with its columns already: name the class, "
        "Max, and write its columns as of.",
    ),
    highest(
        'op = "shutil:rmtree", of = "load"', "shutil:rmtree is no operator: write it as a class"
    ),
    highest(
        'op = "failing_module:Half", of = "load"',
        "the module 'failing_module' fails when it is "
        "imported: ZeroDivisionError: division by zero: mend it there.",
    ),
    highest('op = "exiting_module:Half", of = "load"', "fails when it is imported: SystemExit: 0"),
    highest(
        'op = "needy_module:Half", of = "load"',
        "it imports 'no_such_library', and there is none: install that.",
    ),
    highest('op = "no_python:Half", of = "load"', "is not Python: invalid syntax, in line 1 of "),
    highest('op = "StdDev", of = "load", ddof = "x"', 'StdDev: ddof is 1 or 0, not "x".'),
    highest(
        'op = "StdDev", of = "load", dof = 1', "StdDev does not know 'dof'; did you mean 'ddof'"
    ),
    highest('op = "TopK", of = "load"', "TopK needs k: write k = 10 beside op."),
    highest(
        'op = "TopK", of = "load", k = 0', "TopK: k must be an integer of 1 or more, and is 0."
    ),
    highest(
        'op = "CountMin", of = "load", epsilonn = 0.1',
        "CountMin does not know 'epsilonn'; did you mean 'epsilon'?",
    ),
    highest(
        'op = "good_operators:Half", of = "load", time = 2',
        "Half does not know 'time'; did you mean 'times'?",
    ),
    highest('op = "ArgMax", of = "load"', "ArgMax reads 2 columns or more, not 1: write of = ["),
    highest('op = "Mean", of = ["load", "id"]', 'Mean reads 1 column, not 2: write of = ["load"].'),
    highest(
        'op = "Mean", of = "house"',
        'Mean of house needs numbers, and was given string; write house = "double" in its schema.',
    ),
    Mistake(
        {21: 'highest = { op = "Sum", of = "house" }'},
        'was given string; write columns = { house = "try_cast(house AS double)" } in [source].',
        of=PARQUET,
    ),
]

WINDOWS = [
    window(
        "{}",
        "a window is one of last, tumbling, delta, punctuated, session, slide_while; an "
        'empty table is none: write one as in { last = "1h", every = "1min" }.',
    ),
    window(
        '{ lst = "1h" }',
        "a window is one of last, tumbling, delta, punctuated, session, "
        "slide_while; { lst = \"1h\" } is none; did you mean 'last' for 'lst'?",
    ),
    window(
        '{ last = "1h", session = "5min" }',
        "a window is one of last, tumbling, delta, punctuated"
        ", session, slide_while; last and session are two: leave one out.",
    ),
    window(
        '{ last = "-1h" }',
        'last must be more than nothing, not "-1h": write rows as in '
        '{ last = 1000 } or time as in { last = "1h" }.',
    ),
    window("{ last = 0 }", "last must be more than nothing, not 0: write rows as in { last = "),
    window('"1 hourr"', '"1 hourr" is not a length of time; write a number and one of ns, us, '),
    window(
        '{ tumbling = "1 dya" }', "tumbling: '1 dya' is not a length of time; write a number and "
    ),
    window(
        '{ last = "30" }', "last: '30' has no unit: write 30 for rows, '30s' for time, or '30i' "
    ),
    window(
        "{ session = 5 }", "a session ends when time passes without a row: write the gap as '30mi"
    ),
    window(
        '{ session = "5i" }',
        "session '5i' is for integers, and the time column 'ts' is a "
        "timestamp: write it as in '1h'.",
    ),
    window(
        '{ last = "1h", every = "60i" }',
        "last '1h' and every '60i' do not go together: '60i' is "
        "for integer times, '1h' for datetimes.",
    ),
    window(
        '{ last = "1h", every = true }', "every: a length is a number of rows, such as 1000, or a"
    ),
    window(
        '{ last = "1h", every = { last = 3 } }',
        'every is a number of rows, a length of time or { punctuated = "lap" }, not { last = 3 }.',
    ),
    window(
        '{ last = "1h", offset = "3h" }',
        "offset = '3h' needs a grid of time to shift: give every as a length of time",
    ),
    window(
        '{ last = "1h", every = "1min", offset = 3 }', "offset must be a length of time, such as "
    ),
    window(
        '{ last = "1h", every = "1min", closed = "left" }',
        "closed = 'left' is for windows that "
        "end at a row; with every = '1min' each holds its begin and not its end, so leave closed",
    ),
    window('{ last = "1h", closed = "lft" }', "closed must be one of right, left, both, neither"),
    window(
        '{ delta = "load" }',
        'delta needs width, and { delta = "load" } has none: write one as in '
        '{ delta = "price", width = 10 }.',
    ),
    window(
        '{ delta = "house", width = 3 }',
        '{ delta = "house", width = 3 } needs numbers in the '
        "column 'house', and it is of string: write house = \"double\" in its schema.",
    ),
    window(
        '{ punctuated = "ts" }',
        '{ punctuated = "ts" } needs booleans or numbers in the column '
        "'ts', and it is of timestamp: write columns = { mark = \"load > 10\" } in [source].",
    ),
    window(
        '{ punctuated = "lap", marks = "strat" }', 'marks must be one of start, end, not "strat"'
    ),
    window(
        '{ slide_while = "total -" }',
        "the policy 'total -' is no expression: invalid syntax: "
        'write one as in { slide_while = "total - old >= 10" }.',
    ),
    window(
        '{ slide_while = "total > limit" }',
        "a policy knows total and old, and no 'limit': write numbers beside these",
    ),
    window(
        '{ slide_while = "total.hihgest > 3" }',
        '{ slide_while = "total.hihgest > 3" } asks for '
        "'hihgest', and there are highest, spread.",
    ),
    window(
        '{ slide_while = "total.highest > 3", raw = "yes" }', 'raw must be true or false, not "yes"'
    ),
]

QUERIES = [
    Mistake({29: 'emit = "erly"'}, "emit cannot be 'erly'; did you mean 'early'?"),
    Mistake({29: 'emit = "now"'}, "emit cannot be 'now'; there are every, early."),
    Mistake({29: 'emit = "early"', 9: ""}, 'when late rows come: write lateness = "2min" in [sour'),
    Mistake(
        {29: 'emit = "early"', 18: 'idle = "1d"'},
        'does not go with idle: write emit = "every", or leave idle out of [source].',
    ),
    Mistake(
        {18: 'idle = "1d"', 6: ""},
        "idle is for keys that are forgotten, and there is none: write"
        ' key = ["house_id"], or leave idle out',
    ),
    Mistake({30: 'algorithm = "dabba"'}, "algorithm cannot be 'dabba'; did you mean 'daba'?"),
    Mistake(
        {30: 'algorithm = "subtract_on_evict"', 26: 'mean = { op = "Max", of = "load" }'},
        "needs an operator that can be taken back, and Max has no inverse; use algorithm = 'auto'",
    ),
    Mistake(
        {26: 'load = { op = "Mean", of = "load" }'},
        "there is a column 'load' already; give the "
        "aggregate 'load' another name, or leave that one out with columns = […].",
    ),
    Mistake(
        {21: 'window_end = { op = "Max", of = "load" }'},
        "there is a column 'window_end' already; give the aggregate 'window_end' another name.",
    ),
    Mistake(
        {24: "[queries.quarantine]"},
        "'quarantine' is the folder of malformed rows: choose another name, as in [queries.all].",
    ),
    Mistake(
        {24: '[queries."by/rows"]'},
        "the answers of 'by/rows' go to a folder of that name: write "
        "it with letters, digits and _, as in [queries.by_rows].",
    ),
]

SINKS = [
    Mistake({33: 'format = "parqet"'}, "cannot be written as 'parqet'; did you mean 'parquet'?"),
    Mistake(
        {33: 'format = "delta"'}, "cannot be written as 'delta'; there are parquet, orc, csv, "
    ),
    Mistake({35: 'mode = "overwrit"'}, "mode cannot be 'overwrit'; did you mean 'overwrite'?"),
    Mistake({35: 'mode = "never"'}, "mode cannot be 'never'; there are error, append, overwrite."),
    Mistake({33: 'format = "console"'}, "sink: console has no path: leave it out.", line=34),
    Mistake(
        {33: 'format = "kafka"', 34: 'servers = "h:1"'},
        'sink: topic is missing: write topic = "',
        line=32,
    ),
    Mistake(
        {33: 'format = "kafka"', 34: 'topic = "t"'},
        "sink: servers is missing: write servers = ",
        line=32,
    ),
    Mistake({36: 'topic = "t"'}, "sink: topic is for kafka, and the format is 'parquet': leave it"),
    Mistake(
        {34: 'path = "readings/answers"'},
        "answers in {folder}/readings/answers/by_time would be"
        " read again by the source: write a path outside of {folder}/readings.",
    ),
    Mistake(
        {34: 'path = "."', 24: "[queries.readings]"},
        "answers in {folder}/readings would be read again by the source: write a path outside",
    ),
    Mistake(
        {34: 'path = "good_operators.py"'},
        "answers would go to {folder}/good_operators.py, which is a file: write another path.",
    ),
    Mistake(
        {36: 'quarantine = "readings/bad"'},
        "malformed rows in {folder}/readings/bad would be read again by the source",
    ),
    Mistake(
        {36: 'quarantine = "answers/by_time"'},
        "malformed rows and answers would both go to {folder}/answers/by_time: write another path.",
    ),
    Mistake(
        {38: 'checkpoint = "answers/by_rows"'},
        "the state of a stream and answers would both go "
        "to {folder}/answers/by_rows: write another path.",
    ),
]

NO_KEY = without(6, 36) | {31: '[state]\nstore = "rocksdb:state"'}
LAST_TIME = {26: 'mean = { op = "Last", of = "ts" }'}
SECRET = "redis://me:hunter2@host"

STATES = [
    Mistake(
        {31: "[state]"},
        'state: store is missing: write store = "rocksdb:state/plugs".',
        of=without(6),
    ),
    Mistake(
        {31: f'state = "{SECRET}"'},
        'queries.by_rows: state is an aggregate, not "redis://…": write state = {',
    ),
    Mistake(
        {1: f'state = "{SECRET}"\n[source]'},
        'state is a table, not "redis://…": write [state] with store = "rocksdb:state/plugs".',
        of=without(6),
    ),
    Mistake({31: f'[state]\nstrore = "{SECRET}"'}, "did you mean 'store'?", 32, without(6)),
    Mistake(
        {31: f'[state]\nstore = ["{SECRET}"]'},
        'state: store is text, not ["redis://…"]: write',
        32,
        without(6),
    ),
    Mistake({31: '[state]\nstore = ""'}, "state: store is empty: write store =", 32, without(6)),
    Mistake(
        {31: '[state]\nstore = "state/plugs"'},
        "state: store: the address of a store is rocksdb:PATH, redis://HOST:PORT/0 or ",
        32,
        without(6),
    ),
    Mistake(
        {31: '[state]\nstore = "redis://me:hunter2@host:port/0"'},
        "state: store: Redis('redis://…') is no address of a server, or its options are",
        32,
        without(6),
    ),
    Mistake(
        {31: '[state]\nstore = "memory:"'},
        "state: store: what is in memory ends with the command, and a stream goes on after it:",
        32,
        without(6),
    ),
    Mistake(
        {31: '[state]\nstore = "rocksdb:hdfs://host/state"'},
        "RocksDB keeps windows in a folder of this machine, and hdfs://host/state is none: write",
        32,
        without(6),
    ),
    Mistake(
        {31: '[state]\nstore = "rocksdb:readings/state"'},
        "state: store: windows in {folder}/readings/state would be read again by the source",
        32,
        without(6),
    ),
    Mistake(
        {31: '[state]\nstore = "rocksdb:answers/by_time"'},
        "windows and answers would both go to {folder}/answers/by_time: write another path.",
        32,
        without(6),
    ),
    Mistake(
        {6: 'key = "house"'},
        "source: key: windows in a store have no keys: leave key out; or leave [state] out, and "
        "Spark keeps them.",
        of=NO_KEY,
    ),
    Mistake(
        {28: 'key = "house"'}, "queries.by_rows: key: windows in a store have no keys", 28, NO_KEY
    ),
    Mistake(
        {18: 'idle = "1d"'},
        "source: idle is for keys, and windows in a store have none: leave idle out.",
        of=NO_KEY,
    ),
    Mistake(
        {29: 'emit = "early"'},
        'queries.by_rows: emit = "early" is not for windows in a store: write emit = "every"; or',
        of=NO_KEY,
    ),
    Mistake(
        {30: 'algorithm = "daba"'},
        "queries.by_rows: algorithm: daba keeps its window in memory; log_mta and amta can keep",
        of=NO_KEY,
    ),
]

NOT_TOML = [
    Mistake(
        {31: f"[state]\nstore = {SECRET}"},
        'this is not TOML: text stands in quotes: write it as in store = "redis://localhost',
        32,
    ),
    Mistake({2: "format = csv"}, 'this is not TOML: csv is no value: write format = "csv".'),
    Mistake({4: "options = { header = True }"}, "True is no value: write header = true."),
    Mistake({3: "path ="}, "there is no value: write one after path =."),
    Mistake({9: "lateness = 2min"}, '2min is no value: write lateness = "2min".'),
    Mistake({2: 'format: "csv"'}, 'a setting is written as name = value, as in format = "csv".'),
    Mistake({2: 'format = "csv'}, "the text is not closed: write its quotes at its end, too."),
    Mistake({3: 'path = "C:\\Users\\me"'}, "write \\\\ for it, or the text in single quotes."),
    Mistake({6: 'key = ["house"'}, "the list is not closed: write text in quotes, commas between"),
    Mistake(
        {20: 'window = { last = "1h"\nevery = "1min" }'}, "a table in braces stands in one line:"
    ),
    Mistake({20: 'window = { last = "1h", }'}, "a name is missing; no comma stands before a }."),
    Mistake(
        {26: 'mean = Mean("load")'}, 'write text in quotes, and operators as in mean = { op = "'
    ),
    Mistake(
        {19: "[queries.by_time"}, "the name of a table stands in brackets: write it as in [sou"
    ),
    Mistake(
        {5: 'time = "ts" key = "id"'}, 'holds one setting, and key = "id" is too much: write it in'
    ),
    Mistake({26: 'mean = { op = "Mean", k = 3 }: mine'}, "and : mine is too much: write it in"),
    Mistake({18: "// a comment"}, "a line is [a.table], name = value or # a comment"),
    Mistake(
        {18: 'time = "ts"'}, "source.time is given in line 5 already: leave one of the two out."
    ),
    Mistake({24: "[queries.by_time]"}, "queries.by_time is given in line 19 already: leave one of"),
    Mistake({18: "[source.schema]"}, "source.schema is given in line 13 already: leave one of the"),
]

MISTAKES = [
    *UNKNOWN,
    *KINDS,
    *MISSING,
    *SOURCES,
    *COLUMNS,
    *OPERATORS_NAMED,
    *WINDOWS,
    *QUERIES,
    *SINKS,
    *STATES,
    *NOT_TOML,
]
