"""The claims of the Monoid Tree Aggregator's paper (2019): ⊕, partials, constant windows."""

from __future__ import annotations

from math import log2

from sash.figures.claims.judging import (
    HOLDS,
    NOT_HERE,
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    at_most,
    for_each,
    is_flat,
    off_line,
    power,
)
from sash.figures.claims.mta_parts import (
    ALGORITHM,
    ANSWERS,
    BLOCKS,
    CALLS,
    CHECKPOINTS,
    COMBINE,
    KEEPING,
    STORE,
    calls_of,
    seen,
    share,
    took,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

CLAIMS = Claims("mta")
claim = CLAIMS.claim

SLIDE = "ns a slide"
POLICY_BULK = "⊕ of the worst bulk eviction by policy"
STORES = ("RocksDB", "Redis")
TREES = ("amta", "log_mta")
BLOCK = 512


def there(curve: Curve, series: str) -> Curve:
    if not curve:
        raise NotMeasuredError(f"nothing of {series}")
    return curve


def stored(results: Results, *algorithms: str) -> list[str]:
    """The series of these algorithms in the stores that were there."""
    names = [f"{algorithm}, {store}" for algorithm in algorithms for store in STORES]
    found = [name for name in names if name in results.series()]
    if not found:
        raise NotMeasuredError("there was no store")
    return found


def micro(nanoseconds: float) -> str:
    return f"{told(nanoseconds / 1e3)} µs"


def span(curve: Curve) -> str:
    return f"{told(curve.xs[0])} – {told(curve.xs[-1])}"


def _counted(found: Found, metric: str, series: str) -> Curve:
    return found["mta_calls"].curve(metric, series, "counted")


def _slide(found: Found, series: str, least: float = 0) -> Curve:
    """Nanoseconds by window."""
    curve = found["mta_constant_size"].curve(SLIDE, series, "constant size")
    return there(curve.where(lambda n: n >= least), series)


# ⊕ and partials, counted


@claim("abstract", "amortised O(1): AMTA's ⊕ a slide do not grow with the window (by 10 % at most)")
def _(found: Found) -> Verdict:
    each = _counted(found, "⊕ a slide", "amta")
    said = f"{told(each.least)} – {told(each.greatest)} ⊕ for {span(each)} values"
    return along(each, lambda n, calls: calls <= 1.1 * each.values[0], said)


@claim("abstract", "O(log n) at worst between two insertions: at most 3 log₂ n ⊕ of AMTA")
def _(found: Found) -> Verdict:
    worst = _counted(found, "⊕ of the worst slide", "amta")
    said = f"at worst {told(worst.last)} ⊕ for {told(worst.xs[-1])} values"
    return along(worst, lambda n, calls: calls <= 3 * log2(n), said)


@claim("abstract", "a slide policy that evicts one value costs AMTA O(1) ⊕ amortised (within 10 %)")
def _(found: Found) -> Verdict:
    each = _counted(found, "⊕ a slide by policy", "amta")
    said = f"{told(each.least)} – {told(each.greatest)} ⊕ a slide for {span(each)} values"
    return along(each, lambda n, calls: calls <= 1.1 * each.values[0], said)


@claim(
    "abstract", "a slide policy that evicts any number at once costs O(log n): 4 log₂ n ⊕ at most"
)
def _(found: Found) -> Verdict:
    worst = {name: _counted(found, POLICY_BULK, name) for name in ("amta", "log_mta")}
    said = ", ".join(f"{name} at worst {told(each.last)} ⊕" for name, each in worst.items())
    least = Curve({n: max(each.at[n] for each in worst.values()) for n in worst["amta"].xs})
    return along(
        least,
        lambda n, calls: calls <= 4 * log2(n),
        f"{said} for {told(least.xs[-1])} values",
    )


@claim(
    "abstract",
    "local memory O(log n): at most 3 · 512 · log₂(n / 256) partials, with 512 written together",
)
def _(found: Found) -> Verdict:
    held = {name: _counted(found, "partials held", f"{name}, RocksDB") for name in TREES}
    most = Curve({n: max(each.at[n] for each in held.values()) for n in held["amta"].xs})
    said = f"{told(most.values[0])} – {told(most.last)} partials for {span(most)} values"
    return along(most, lambda n, partials: partials <= 3 * BLOCK * log2(n / 256), said)


@claim("Table 1", "the bulk evictions of others are O(n) (n to the power of 0.9 or more)")
def _(found: Found) -> Verdict:
    worst = {
        name: power(_counted(found, "⊕ of the worst bulk eviction", name))
        for name in ("flat_fat", "daba_cached")
    }
    said = ", ".join(f"{name} n^{told(each, 2)}" for name, each in worst.items())
    return for_each({name: each >= 0.9 for name, each in worst.items()}, said)


@claim("Table 1", "RA and Log MTA take O(log n) ⊕ a slide (on a line over log₂ n, within 10 %)")
def _(found: Found) -> Verdict:
    each = {name: _counted(found, "⊕ a slide", name) for name in ("flat_fat", "log_mta")}
    said = ", ".join(f"{n} {told(c.values[0])} – {told(c.last)} ⊕" for n, c in each.items())
    answers = {n: off_line(c, log2) <= 0.1 and c.last > c.values[0] for n, c in each.items()}
    return for_each(answers, said)


@claim("Table 1", "SWAG and AMTA take O(1) ⊕ a slide amortised (within 10 %)")
def _(found: Found) -> Verdict:
    each = {name: _counted(found, "⊕ a slide", name) for name in ("daba_cached", "amta")}
    said = ", ".join(f"{n} {told(c.values[0])} – {told(c.last)} ⊕" for n, c in each.items())
    return for_each({n: c.last <= 1.1 * c.values[0] for n, c in each.items()}, said)


@claim("Table 1", "in memory all four keep O(n) partials (at most 4n)")
def _(found: Found) -> Verdict:
    names = ("flat_fat", "daba_cached", "log_mta", "amta")
    held = {name: _counted(found, "partials held", name) for name in names}
    each = {name: curve.last / curve.xs[-1] for name, curve in held.items()}
    said = ", ".join(f"{name} {told(share)}n" for name, share in each.items())
    return for_each({name: share <= 4 for name, share in each.items()}, said)


@claim("Section 5", "all operations of DABA take O(1) ⊕ (as many at worst in any window)")
def _(found: Found) -> Verdict:
    worst = _counted(found, "⊕ of the worst slide", "daba_cached")
    said = f"at worst {told(worst.least)} – {told(worst.greatest)} ⊕ for {span(worst)} values"
    return along(worst, lambda n, calls: calls == worst.values[0], said)


# Windows of constant size


def in_python(found: Found) -> str:
    """What plain Python takes of a slide, and for what."""
    longest = _slide(found, "recalc").xs[-1]
    plain, loop = (_slide(found, name).at[longest] for name in ("amta", "amta, compiled"))
    calls, c_calls = (seen(found, metric, "amta") for metric in (CALLS, "C calls"))
    parts = (ANSWERS, KEEPING, COMBINE, ALGORITHM)
    said = ", ".join(f"{part} {share(found, part, 'amta')}" for part in parts)
    return (
        f"Values come one by one in plain Python, in which a slide of AMTA takes {micro(plain)} "
        f"at {told(longest)} values; in a compiled loop the same slide takes {told(loop)} ns. "
        f"Counted at {told(calls.xs[-1])} values, it calls {told(calls.last)} functions of Python "
        f"and {told(c_calls.last)} of C. Its time goes to: {said}."
    )


def _calls_count(found: Found) -> str:
    names = ("recalc", "daba_cached", "log_mta", "amta")
    calls = seen(found, CALLS, "amta")
    shortest, longest = calls.xs[0], calls.xs[-1]
    each = {
        name: seen(found, SLIDE, name).last / seen(found, CALLS, name).last for name in names[1:]
    }
    return (
        f"{in_python(found)} Time goes with calls, each of them {told(min(each.values()))} – "
        f"{told(max(each.values()))} ns with what it does. With {told(shortest)} value: "
        f"{calls_of(found, names, at=shortest)}. With {told(longest)}: "
        f"{calls_of(found, names[1:])}; of AMTA's {told(seen(found, '⊕', 'amta').last)} ⊕ and "
        f"DABA's {told(seen(found, '⊕', 'daba_cached').last)} none depends on the window."
    )


def _beside_daba(found: Found) -> str:
    ratio = _ratio(found, "amta", "daba_cached").where(lambda n: n >= 16)
    names = ("amta", "daba_cached", *stored(found["mta_profile"], "amta"))
    calls = {name: seen(found, CALLS, name) for name in names}
    said = ", ".join(f"{n} {told(c.at[16])} and {told(c.last)}" for n, c in calls.items())
    return (
        f"Their calls are about as many in any window: with 16 values and with "
        f"{told(calls['amta'].xs[-1])}, {said}. All of them are slower in the same windows, as "
        f"they are measured in turn: AMTA takes {told(ratio.least)} – {told(ratio.greatest)} x the "
        f"time of DABA throughout. What differs is the machine, from one minute to the next."
    )


def _blocks(found: Found) -> str:
    rocks = "amta, RocksDB"
    times = {name: seen(found, SLIDE, name) for name in ("amta", rocks)}
    saved = sum(took(found, p, "amta") - took(found, p, rocks) for p in (ALGORITHM, KEEPING))
    own = ", ".join(
        f"{share(found, STORE, name)} of the time in {name.partition(', ')[2]}"
        for name in stored(found["mta_profile"], "amta")
    )
    return (
        f"In the profile a slide of AMTA takes {micro(times['amta'].last)} with "
        f"{told(times['amta'].xs[-1])} values in memory and {micro(times[rocks].last)} in RocksDB, "
        f"and calls of Python are {calls_of(found, ('amta', rocks))}. "
        f"{micro(took(found, BLOCKS, rocks))} go to nodes in blocks and what is around them, and "
        f"{micro(took(found, CHECKPOINTS, rocks))} to checkpoints: what is written once for "
        f"{BLOCK} values is made ready by the thread that slides, and only then given to another. "
        f"Rings and the algorithm take {micro(saved)} less than in memory. The store's own calls "
        f"are {own}."
    )


def _by_logarithm(found: Found) -> str:
    """What grows of Log MTA."""
    calls, sums = (seen(found, metric, "log_mta") for metric in (CALLS, "⊕"))
    doublings = log2(calls.xs[-1] / 16)
    return (
        f"{in_python(found)} The logarithm is the lesser part: with 16 values Log MTA calls "
        f"{told(calls.at[16])} functions a slide, and each doubling of the window adds "
        f"{told((calls.last - calls.at[16]) / doublings)}, with "
        f"{told((sums.last - sums.at[16]) / doublings)} ⊕. It takes "
        f"{micro(_slide(found, 'log_mta', 16).values[0])} with 16 values and "
        f"{micro(_slide(found, 'log_mta').last)} with {told(_slide(found, 'log_mta').xs[-1])}."
    )


@claim(
    "Figure 6",
    "Naive is the fastest with the shortest windows (of those that go value by value)",
    why=_calls_count,
)
def _(found: Found) -> Verdict:
    others = ("daba_cached", "log_mta", "amta")
    shortest = _slide(found, "recalc").xs[0]
    ratios = {name: _ratio(found, name, "recalc").at[shortest] for name in others}
    said = ", ".join(f"{name} takes {told(each)} x" for name, each in ratios.items())
    return for_each({name: each > 1 for name, each in ratios.items()}, said)


@claim(
    "Figure 6", "Naive's time grows linearly (from 256 values on as n to the power of 0.8 to 1.2)"
)
def _(found: Found) -> Verdict:
    grows = power(_slide(found, "recalc", 256))
    holds = HOLDS if 0.8 <= grows <= 1.2 else NOT_HERE
    return Verdict(holds, f"n to the power of {told(grows)}")


@claim("Figure 6", "Naive soon becomes the slowest of all")
def _(found: Found) -> Verdict:
    longest = _slide(found, "recalc").xs[-1]
    names = [n for n in found["mta_constant_size"].series(SLIDE) if n != "recalc"]
    times = {name: _ratio(found, "recalc", name).at[longest] for name in names}
    least = min(times, key=times.__getitem__)
    said = f"{told(times[least])} x the time of {least}, the next, at {told(longest)} values"
    return for_each({name: ratio > 1 for name, ratio in times.items()}, said)


@claim(
    "Figure 6",
    "AMTA's and DABA's time is constant (from 16 values on within 1.5 times)",
    why=_beside_daba,
)
def _(found: Found) -> Verdict:
    curves = {name: _slide(found, name, 16) for name in ("amta", "daba_cached")}
    curves |= {name: _slide(found, name, 16) for name in stored(found["mta_constant_size"], "amta")}
    said = ", ".join(f"{n} {micro(c.least)} – {micro(c.greatest)}" for n, c in curves.items())
    return for_each({name: is_flat(curve, 1.5) for name, curve in curves.items()}, said)


@claim(
    "Figure 6",
    "AMTA in memory is the fastest of all from windows of 2⁹ values on",
    why=_calls_count,
)
def _(found: Found) -> Verdict:
    ratios = [_ratio(found, name, "amta") for name in ("recalc", "daba_cached", "log_mta")]
    xs = [n for n in ratios[1].xs if n >= 512]
    least = Curve({n: min(each.at.get(n, float("inf")) for each in ratios) for n in xs})
    said = f"the fastest other takes {told(there(least, 'amta').least)} – {told(least.greatest)} x"
    return along(least, lambda n, each: each > 1, said)


@claim(
    "Figure 6",
    "a store costs AMTA about 1 µs more than memory in long windows (at most 1.5 µs)",
    why=_blocks,
)
def _(found: Found) -> Verdict:
    return _costs_more(found, "amta", 1.5)


@claim("Figure 6", "AMTA in a store takes less than 0.5 µs more than DABA in memory", why=_blocks)
def _(found: Found) -> Verdict:
    return _costs_more(found, "daba_cached", 0.5)


def _costs_more(found: Found, base: str, most: float) -> Verdict:
    """AMTA in each store against one in memory, with the longest window."""
    more = {}
    times = {}
    for name in stored(found["mta_constant_size"], "amta"):
        one, other = _slide(found, name), _slide(found, base)
        longest = max(set(one.xs) & set(other.xs))
        more[name] = (one.at[longest] - other.at[longest]) / 1e3
        times[name] = one.at[longest] / other.at[longest]
    said = ", ".join(f"{n} {told(more[n])} µs more ({told(times[n])} x)" for n in more)
    return for_each({name: each <= most for name, each in more.items()}, said)


@claim(
    "Figure 6",
    "Log MTA's time grows as log n (on a line over log₂ n within 20 %, and it rises)",
    why=_by_logarithm,
)
def _(found: Found) -> Verdict:
    names = ["log_mta", *stored(found["mta_constant_size"], "log_mta")]
    curves = {name: _slide(found, name, 16) for name in names}
    said = ", ".join(f"{n} {micro(c.values[0])} – {micro(c.last)}" for n, c in curves.items())
    rises = {n: c.last > 1.1 * c.values[0] and off_line(c, log2) <= 0.2 for n, c in curves.items()}
    return for_each(rises, said)


@claim("Figure 6", "a store costs Log MTA as much more as it costs AMTA (within a factor of 2)")
def _(found: Found) -> Verdict:
    more = {}
    for algorithm in TREES:
        stored, alone = _slide(found, f"{algorithm}, RocksDB"), _slide(found, algorithm)
        longest = max(set(stored.xs) & set(alone.xs))
        more[algorithm] = stored.at[longest] - alone.at[longest]
    said = ", ".join(f"{name} {micro(each)}" for name, each in more.items())
    both = max(more["amta"], 1), max(more["log_mta"], 1)
    return at_most(max(both) / min(both), 2, f"RocksDB costs {said} more", in_part=2)


def _ratio(found: Found, above: str, below: str) -> Curve:
    results = found["mta_constant_size"]
    return there(results.ratio(SLIDE, above, below, "constant size"), above)
