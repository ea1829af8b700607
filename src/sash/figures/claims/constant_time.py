"""The claims of the paper on Two-Stacks, ABA and DABA (2015) that are about ⊕ and memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from sash.figures.claims.judging import (
    HOLDS,
    IN_PART,
    NOT_HERE,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    along_each,
    for_each,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("constant_time")
claim = CLAIMS.claim

SLIDING, ANY_ORDER = "sliding", "any order"
OPERATIONS = ("insert", "evict", "query")
COUNTERS = "it would take hardware counters, which virtual machines seldom have"


def _most(found: Found, algorithm: str, panels: Sequence[str] = (SLIDING,)) -> dict[str, Curve]:
    """The most ⊕ of an operation, by operation."""
    results = found["constant_time_calls"]
    several = len(panels) > 1
    return {
        f"{operation}, {panel}" if several else operation: results.curve(
            f"{operation}, most", algorithm, panel
        )
        for panel in panels
        for operation in OPERATIONS
    }


def _said(curves: dict[str, Curve]) -> str:
    return "at most " + ", ".join(f"{told(c.greatest)} ({name})" for name, c in curves.items())


@claim("abstract", "DABA: as many ⊕ at worst for an insert, an evict or a query at any window")
def _(found: Found) -> Verdict:
    curves = {name: c.where(lambda n: n >= 4) for name, c in _most(found, "daba").items()}
    answers = {name: curve.greatest == curve.least for name, curve in curves.items()}
    windows = next(iter(curves.values())).xs
    said = f"{_said(curves)} from windows of {told(windows[0])} to {told(windows[-1])} values"
    return for_each(answers, said)


@claim(
    "introduction",
    "the constant is 3: no insert, evict or query of DABA does more ⊕",
    why="Three are those of DABA with caching; without it, each step does one ⊕ more.",
)
def _(found: Found) -> Verdict:
    cached, plain = _most(found, "daba_cached"), _most(found, "daba")
    said = f"with caching {_said(cached)}; without {_said(plain)}"
    fits = {
        "daba_cached": all(curve.greatest <= 3 for curve in cached.values()),
        "daba": all(curve.greatest <= 3 for curve in plain.values()),
    }
    return for_each(fits, said)


@claim("conclusion", "at worst three ⊕ for an insert, an evict or a query of DABA (with caching)")
def _(found: Found) -> Verdict:
    curves = _most(found, "daba_cached")
    return along_each(curves, lambda n, calls: calls <= 3, _said(curves))


for name, title, where in (
    ("two_stacks", "Two-Stacks", "Theorem 4"),
    ("aba", "ABA", "Theorem 6"),
):

    @claim(where, f"{title}: a constant number of ⊕ on average, at any window (at most 1.5 each)")
    def _(found: Found, name: str = name) -> Verdict:
        results = found["constant_time_calls"]
        curves = {each: results.curve(f"{each}, mean", name, SLIDING) for each in OPERATIONS}
        return along_each(curves, lambda n, calls: calls <= 1.5, _said(curves))


@claim("Theorem 9", "DABA with caching: at most 3 ⊕ for an insert, 2 for an evict, 1 for a query")
def _(found: Found) -> Verdict:
    curves = _most(found, "daba_cached")
    bounds = {"insert": 3, "evict": 2, "query": 1}
    fits = {name: curve.greatest <= bounds[name] for name, curve in curves.items()}
    return for_each(fits, _said(curves))


@claim("Theorem 9", "DABA with caching: 2 ⊕ for an insert and 1 for an evict on average (± 10 %)")
def _(found: Found) -> Verdict:
    results = found["constant_time_calls"]
    expected = {"insert": 2, "evict": 1}
    shares = {}
    for operation, calls in expected.items():
        # In windows of a few values the first and the last of a list are most of it.
        counted = results.curve(f"{operation}, mean", "daba_cached", SLIDING).where(
            lambda n: n >= 8
        )
        shares[operation] = Curve({n: value / calls for n, value in counted.at.items()})
    ends = [told(shares[name].last * calls) for name, calls in expected.items()]
    said = f"{ends[0]} for an insert and {ends[1]} for an evict in the longest window"
    return along_each(shares, lambda n, share: abs(share - 1) <= 0.1, said)


@claim("Section 6.4", "these bounds hold in whatever order values are inserted and evicted")
def _(found: Found) -> Verdict:
    bounds = {"insert": 3, "evict": 2, "query": 1}
    curves = _most(found, "daba_cached", (SLIDING, ANY_ORDER))
    fits = {name: c.greatest <= bounds[name.split(",")[0]] for name, c in curves.items()}
    return for_each(fits, _said(curves))


@claim("Section 6.4", "so do those on average: 3 ⊕ for a value that comes and goes (± 10 %)")
def _(found: Found) -> Verdict:
    # Which of both takes more depends on whether the window has grown or shrunk on the whole.
    results = found["constant_time_calls"]
    insert, evict = (
        results.curve(f"{each}, mean", "daba_cached", ANY_ORDER).where(lambda n: n >= 8)
        for each in ("insert", "evict")
    )
    both = Curve({n: insert.at[n] + evict.at[n] for n in insert.xs})
    said = f"{told(both.least)} – {told(both.greatest)}"
    return along(both, lambda n, calls: abs(calls / 3 - 1) <= 0.1, said)


@claim("Section 4", "single calls of Two-Stacks and ABA do as many ⊕ as there are values (n - 1)")
def _(found: Found) -> Verdict:
    results = found["constant_time_calls"]
    curves = {}
    for name in ("two_stacks", "aba"):
        most = [results.curve(f"{each}, most", name, SLIDING) for each in OPERATIONS]
        curves[name] = Curve({n: max(curve.at[n] for curve in most) for n in most[0].xs})
    n = curves["aba"].xs[-1]
    said = ", ".join(f"{told(curve.last)} ({name})" for name, curve in curves.items())
    return along_each(curves, lambda n, calls: calls >= n - 1, f"{said} in a window of {told(n)}")


@claim("Section 7", "every operation of Reactive does O(log n) ⊕: at most log2 n on average")
def _(found: Found) -> Verdict:
    results = found["constant_time_calls"]
    curves = {
        each: results.curve(f"{each}, mean", "flat_fat", SLIDING).where(lambda n: n > 1)
        for each in OPERATIONS
    }
    n = curves["insert"].xs[-1]
    said = ", ".join(f"{told(curve.last)} ({name})" for name, curve in curves.items())
    said = f"{said} in a window of {told(n)}"
    return along_each(curves, lambda n, calls: calls <= log2(n) + 1e-9, said)


@claim("conclusion", "DABA's memory is in proportion to the window: 2 partials for each value")
def _(found: Found) -> Verdict:
    results = found["constant_time_calls"]
    each = {}
    for algorithm in ("daba", "daba_cached"):
        held = results.curve("partials held", algorithm, SLIDING).where(lambda n: n >= 4)
        each[algorithm] = Curve({n: (partials - 1) / n for n, partials in held.at.items()})
    said = ", ".join(f"{told(curve.greatest)} ({name})" for name, curve in each.items())
    return along_each(each, lambda n, partials: partials <= 2, f"at most {said}, and one more")


@claim(
    "Section 7.2",
    "about 3 times (2 to 4) the page faults in a run of ABA at 2^20 than at 2^10",
    why="Most page faults of our process are those of Python and the compiler, at any window.",
)
def _(found: Found) -> Verdict:
    results = found["constant_time_page_faults"]
    whole = results.curve("page faults of the process", "aba", "GeometricMean")
    window = results.curve("page faults", "aba", "GeometricMean")
    ratio = whole.last / whole.at[1024]
    said = (
        f"{told(window.at[1024])} at 2^10 and {told(window.last)} at {told(window.xs[-1])} values; "
        f"of the whole process {told(ratio)} x"
    )
    kind = HOLDS if 2 <= ratio <= 4 else IN_PART if window.last > window.at[1024] else NOT_HERE
    return Verdict(kind, said)


@claim("Section 7.2", "2 times the stalled cycles at 2^20, in about as many instructions (ABA)")
def _(found: Found) -> Verdict:
    raise NotMeasuredError(COUNTERS)


@claim("Section 7.2", "276 times the cache misses in a run of ABA at 2^20 than at 2^10")
def _(found: Found) -> Verdict:
    raise NotMeasuredError(COUNTERS)
