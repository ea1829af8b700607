"""Operators and policies that reach a worker: whatever they use, compiled once, found on disk."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sash
from sash.aggregators.running import _compiled
from sash.operators.known import KNOWN
from sash.operators.monoid import NOT_GIVEN

cloudpickle = pytest.importorskip("pyspark.cloudpickle")
shipping = pytest.importorskip("sash.spark.shipping")
shipped = shipping.shipped

ROWS = np.array([1.0, 7.0, 2.0, 5.0, 9.0])


def sent(value: Any) -> Any:
    """As a worker gets it."""
    return pickle.loads(cloudpickle.dumps(shipped(value)))


# What is sent by its name


OPTIONS = {"FirstN": {"n": 2}, "LastN": {"n": 2}, "TopK": {"k": 2}, "BottomK": {"k": 2}}


@pytest.mark.parametrize("name", KNOWN)
def test_ours_by_name(name):
    operator = KNOWN[name](**OPTIONS.get(name, {}))
    data = cloudpickle.dumps(shipped(operator))
    assert len(data) < 500
    found = pickle.loads(data).operator
    assert found == operator and type(found) is type(operator)
    assert repr(found) == repr(operator) and found.code_key() == operator.code_key()


@pytest.mark.parametrize(
    "operator",
    [
        sash.StdDev("v", ddof=0),
        sash.CountMin("v", epsilon=0.1),
        sash.MomentSketch("v", order=3, quantiles=(0.1, 0.9)),
        sash.ArgMax("v", "w", "x"),
        sash.Together(a=sash.Max("v"), b=sash.Concat("w", sep=", ")),
    ],
    ids=repr,
)
def test_options_and_columns(operator):
    found = sent(operator).operator
    assert found == operator and repr(found) == repr(operator)
    assert found.columns == operator.columns


@pytest.mark.parametrize(
    "window",
    [
        sash.last("1h", every="1min"),
        sash.session("30min"),
        sash.slide_while("total - old >= 10"),
        sash.last(5, every=sash.punctuated("flag")),
    ],
    ids=repr,
)
def test_definitions(window):
    assert sent(window).definition == window


# What is sent by value


LIMIT = 6.0


def clipped(v):
    return v if v < LIMIT else LIMIT


@sash.operator(partial={"n": "int64", "total": "float64"}, commutative=True)
class Clipped:
    """The mean of values up to a limit."""

    def identity():
        return 0, 0.0

    def lift(v, *, factor=2.0):
        return 1, math.floor(clipped(v) * factor)

    def combine(a, b):
        return a.n + b.n, a.total + b.total

    def lower(p):
        return p.total / p.n


class Halved(Clipped):
    def lower(p, *, by=2):
        return p.total / p.n / by


@dataclass(frozen=True)
class Weights:
    of: tuple[float, ...]

    def weigh(self, v: float) -> float:
        return self.of[int(v) % len(self.of)] * v


@sash.operator(partial=object, answer="float64")
class Weighed:
    def identity():
        return 0.0

    def lift(v, *, weights=None, how=abs):
        return how(v if weights is None else weights.weigh(v))

    def combine(a, b):
        return a + b

    def lower(p):
        return p


def above(level: float) -> type[sash.Operator]:
    """An operator that closes over what it was made with, and over itself."""

    @sash.operator(partial={"n": "int64"}, commutative=True)
    class Above:
        def identity():
            return 0

        def lift(v):
            return 1 if v > level else 0

        def combine(a, b):
            return a.n + b.n

        def lower(p):
            return p.n

    return Above


class Renamed(Clipped):
    """A class with methods of its own, one of which calls that of its base."""

    def bind(self, *types):
        return super().bind(*types)

    def lower(p):
        return -p.total


BY_VALUE = [
    Clipped(),
    Clipped(factor=3.0),
    Halved(),
    Weighed(weights=Weights((1.0, 2.0)), how=lambda v: v + LIMIT),
    above(4.0)(),
    Renamed(),
    sash.Together(mine=Halved(), hi=sash.Max(), n=above(2.0)()),
]


@pytest.mark.parametrize("operator", BY_VALUE, ids=lambda op: op.name)
def test_the_same_answers(operator):
    found = sent(operator).operator
    for leaf, before in zip(found.leaves, operator.leaves, strict=True):
        ours = type(before).__module__.startswith("sash.")
        assert (type(leaf) is type(before)) == ours
        assert leaf.empty is NOT_GIVEN or leaf.empty is None
        assert leaf.given().keys() == before.given().keys()
    answers, expected = (sash.rolling(ROWS, 3, op) for op in (found, operator))
    if not isinstance(answers, dict):
        answers, expected = {"": answers}, {"": expected}
    for name in expected:
        assert np.array_equal(answers[name], expected[name])


def test_the_text_of_its_functions_goes_along():
    """So the code that is generated is the same, to the letter."""
    from sash.aggregators import sba
    from sash.aggregators.running import code_for

    for operator in (Clipped(factor=3.0), Halved(), above(4.0)(), Renamed()):
        types = ((np.dtype("float64"),),)
        own, theirs = (code_for(sba, op, types) for op in (operator, sent(operator).operator))
        assert own.text == theirs.text
        assert not theirs.writer.injected


def test_what_comes_twice_is_compiled_once():
    first = sent(Clipped(factor=5.0))
    sash.rolling(ROWS, 3, first.operator)
    known = _compiled.cache_info().misses
    again = sent(Clipped(factor=5.0))
    sash.rolling(ROWS, 3, again.operator)
    assert again.operator is first.operator
    assert _compiled.cache_info().misses == known
    # Another operator of the class has the class in common; only its option is another.
    other = sent(Clipped("v", factor=6.0)).operator
    assert type(other) is type(first.operator)


def test_a_constant_that_has_changed_makes_another_operator(monkeypatch):
    before = sent(Clipped()).operator
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    after = sent(Clipped()).operator
    assert type(before) is not type(after)
    assert sash.rolling(ROWS, 1, before).tolist() == [2.0, 12.0, 4.0, 10.0, 12.0]
    assert sash.rolling(ROWS, 1, after).tolist() == [2.0, 2.0, 2.0, 2.0, 2.0]


def test_operators_that_know_each_other():
    @sash.operator(partial=object)
    class One:
        def identity():
            return 0

        def lift(v):
            return Two().bind(object).lift(v)

        def combine(a, b):
            return a + b

        def lower(p):
            return One.name, p

    @sash.operator(partial=object)
    class Two:
        def identity():
            return 0

        def lift(v):
            return v + len(One.name)

        def combine(a, b):
            return a + b

        def lower(p):
            return p

    found = sent(One()).operator
    assert sash.rolling([1.0, 2.0], 2, found) == [("One", 4.0), ("One", 9.0)]


# Policies


def far(total, old):
    apart = total.n - old.n
    return apart >= 2 and clipped(total.hi) > 1.0


def check_policy(policy: Any, rows: int) -> None:
    window = sash.slide_while(policy)
    found = sent(window).definition
    assert found.policy is not policy and found is sent(window).definition
    operator = sash.Together(n=sash.Count(), hi=sash.Max())
    values = np.tile(ROWS, rows // 5)
    answers, expected = (sash.Window(operator, w).push_many(values) for w in (found, window))
    assert answers["n"].tolist() == expected["n"].tolist()
    assert answers["n"].max() == 2
    assert answers["hi"].tolist() == expected["hi"].tolist()


def test_a_policy_with_a_helper():
    width = 2
    check_policy(far, rows=10)
    check_policy(lambda total, old: total.n - old.n >= width and clipped(total.hi) > 1.0, rows=10)


def test_a_policy_with_a_helper_compiled():
    check_policy(far, rows=600)


# What cannot be sent


LOCK = threading.Lock()


def locked(v):
    with LOCK:
        return v


class Locked(Weighed):
    def lift(v):
        return locked(v)


class Holding(Weighed):
    lock = LOCK


def waits(total, old):
    return locked(total) > old


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            Locked("v"),
            r"^Locked\('v'\) cannot be sent to Spark's workers: its function lift uses locked, "
            r"which uses 'LOCK', and cannot pickle '_thread.lock' object\.$",
        ),
        (
            sash.Together(hi=sash.Max(), mine=Weighed(weights=LOCK)),
            r"^Weighed\(weights=.*\) cannot be sent to Spark's workers: its option 'weights' is a "
            r"lock, and cannot pickle '_thread.lock' object\.$",
        ),
        (Holding(), r"its attribute 'lock' is a lock, and cannot pickle '_thread.lock' object\.$"),
        (
            sash.slide_while(waits),
            r"^slide_while\(waits\) cannot be sent to Spark's workers: its policy uses locked, "
            r"which uses 'LOCK', and cannot pickle",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_holds_it_back(value, sentence):
    with pytest.raises(sash.OperatorError, match=sentence):
        shipped(value)


def test_cloudpickle_is_left_as_it_was():
    before = shipping.cloudpickle.list_registry_pickle_by_value()
    shipped(Clipped())
    with pytest.raises(sash.OperatorError):
        shipped(Locked())
    assert shipping.cloudpickle.list_registry_pickle_by_value() == before


# In other processes


HELPERS = """
    SCALE = 10.0
    OFFSET = SCALE

    def scaled(v):
        return v * SCALE + OFFSET
"""
OPERATORS = """
    import math
    import sash
    from helpers import scaled
    import helpers

    ROOT = 2.0

    def rooted(v):
        return math.sqrt(v) if v > ROOT else v

    @sash.operator(partial={"hi": "float64"}, commutative=True, selective=True, empty=None)
    class Farthest:
        def identity():
            return -math.inf

        def lift(v, *, factor=1.0):
            return scaled(rooted(v)) * factor

        def combine(a, b):
            return a if a.hi > b.hi else b

        def lower(p):
            return p.hi

    @sash.operator(partial=object, answer="string")
    class Joined:
        def identity():
            return ()

        def lift(v):
            return (helpers.scaled(v),)

        def combine(a, b):
            return a + b

        def lower(p, *, sep="-"):
            return sep.join(f"{v:g}" for v in p)
"""
USE = """
    import sys
    import numpy as np
    import sash
    from pyspark import cloudpickle
    from sash.spark.shipping import shipped

    op = sash.Together(far=Farthest(factor=2.0), all=Joined(sep="+"), hi=sash.Max())
    rows = np.array([1.0, 9.0, 4.0, 16.0])
    with open(sys.argv[1], "wb") as file:
        cloudpickle.dump(shipped(op), file)
    if sys.argv[2:] == ["run"]:
        print({name: list(answers) for name, answers in sash.rolling(rows, 2, op).items()})
"""
WORKER = """
import pickle, sys
import numpy as np
import sash
with open(sys.argv[1], "rb") as file:
    data = file.read()
rows = np.array([1.0, 9.0, 4.0, 16.0])
op = pickle.loads(data).operator
print({name: list(answers) for name, answers in sash.rolling(rows, 2, op).items()})
assert pickle.loads(data).operator is op
"""
ANSWERS = repr(
    {
        "far": [np.float64(x) for x in (40.0, 80.0, 80.0, 100.0)],
        "all": ["20", "20+100", "100+50", "50+170"],
        "hi": [np.float64(x) for x in (1.0, 9.0, 9.0, 16.0)],
    }
)


def run(arguments: list[str], folder: Path, cache: Path, *paths: Path, text: str = "") -> str:
    """A process that sees the library, and besides it only what it is given."""
    folder.mkdir(exist_ok=True)
    library = Path(sash.__file__).parents[1]
    found = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=text,
        env={
            **os.environ,
            "SASH_CACHE_DIR": str(cache),
            "PYTHONPATH": os.pathsep.join(map(str, (library, *paths))),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def write(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(textwrap.dedent, texts)))
    return path


def code(cache: Path) -> dict[str, int]:
    """What is in the cache, and when each file was written."""
    return {p.name: p.stat().st_mtime_ns for p in cache.rglob("*") if p.is_file()}


def worker(tmp_path: Path, *paths: Path) -> str:
    return run(["-c", WORKER, str(tmp_path / "sent")], tmp_path / "worker", tmp_path / "c", *paths)


def driver(tmp_path: Path, *arguments: str, cache: str = "c", text: str = "") -> str:
    given = [*arguments[:1], str(tmp_path / "sent"), *arguments[1:]]
    return run(given, tmp_path / "driver", tmp_path / cache, text=text)


def test_a_script_and_a_module_beside_it(tmp_path):
    """A worker has neither, and finds on disk what the driver has compiled."""
    write(tmp_path / "driver" / "helpers.py", HELPERS)
    script = write(tmp_path / "driver" / "script.py", OPERATORS, USE)
    assert driver(tmp_path, str(script), "run") == ANSWERS
    for path in (tmp_path / "driver").glob("*.py"):
        path.unlink()
    compiled = code(tmp_path / "c")
    assert any(name.endswith(".nbc") for name in compiled)
    assert worker(tmp_path) == ANSWERS
    assert code(tmp_path / "c") == compiled


def test_operators_in_a_module_beside_the_script(tmp_path):
    """A second worker finds what the first has compiled."""
    write(tmp_path / "driver" / "helpers.py", HELPERS)
    write(tmp_path / "driver" / "mine.py", OPERATORS)
    script = write(tmp_path / "driver" / "script.py", "from mine import Farthest, Joined", USE)
    assert driver(tmp_path, str(script)) == ""
    assert worker(tmp_path) == ANSWERS
    compiled = code(tmp_path / "c")
    assert any(name.endswith(".nbc") for name in compiled)
    assert worker(tmp_path) == ANSWERS
    assert code(tmp_path / "c") == compiled


NOTEBOOK = """
import linecache
cell = open("cell.txt").read()
name = "<ipython-input-1-0a1b2c3d>"
linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
exec(compile(cell, name, "exec"))
"""


def test_a_notebook(tmp_path):
    """Cells have a text, though no file; the worker finds what the driver has compiled."""
    write(tmp_path / "driver" / "helpers.py", HELPERS)
    write(tmp_path / "driver" / "cell.txt", OPERATORS, USE)
    script = write(tmp_path / "driver" / "kernel.py", NOTEBOOK)
    assert driver(tmp_path, str(script), "run") == ANSWERS
    compiled = code(tmp_path / "c")
    assert worker(tmp_path) == ANSWERS
    assert code(tmp_path / "c") == compiled


def test_without_any_text(tmp_path):
    """A program that Python reads from its input: compiled in the worker's memory."""
    write(tmp_path / "driver" / "helpers.py", HELPERS)
    plain = OPERATORS.replace("v, *, factor=1.0", "v").replace(
        "scaled(rooted(v)) * factor", "2.0 * ((math.sqrt(v) if v > ROOT else v) * 10.0 + 10.0)"
    )
    program = textwrap.dedent(plain) + textwrap.dedent(USE.replace("factor=2.0", ""))
    assert driver(tmp_path, "-", "run", text=program) == ANSWERS
    assert worker(tmp_path) == ANSWERS


def test_an_installed_package(tmp_path):
    """It is sent by its name; a worker without it says so."""
    site = tmp_path / "site-packages"
    write(site / "helpers.py", HELPERS)
    write(site / "theirs.py", OPERATORS)
    script = write(tmp_path / "driver" / "script.py", "from theirs import Farthest, Joined", USE)
    sends = [str(script), str(tmp_path / "sent")]
    assert run(sends, tmp_path / "driver", tmp_path / "c", site) == ""
    assert b"theirs" in (tmp_path / "sent").read_bytes()
    assert b"rooted" not in (tmp_path / "sent").read_bytes()
    assert worker(tmp_path, site) == ANSWERS
    sentence = (
        r"Together\(far=Farthest.* cannot be used on this worker: No module named 'theirs'; "
        r"install what is missing there, or define it beside the operator\."
    )
    with pytest.raises(AssertionError, match=sentence):
        worker(tmp_path)
