"""The claims of the Monoid Tree Aggregator's paper (2019): many values leave at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from statistics import median

from sash.figures.claims.judging import (
    HOLDS,
    NOT_HERE,
    Claims,
    Found,
    Verdict,
    along,
    along_each,
    at_least,
    at_most,
    for_each,
    power,
)
from sash.figures.claims.mta import STORES, TREES, in_python, micro, stored, there
from sash.figures.claims.mta_parts import ALL, HALF, ONE, seen
from sash.figures.crossing import crossing
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve

CLAIMS = Claims("mta")
claim = CLAIMS.claim

EVICTION = "ns an eviction"
CALLS = "calls of an eviction"
CHECKPOINT = "ns of a checkpoint"


def _eviction(found: Found, series: str) -> Curve:
    """Nanoseconds by the number of values that leave."""
    return there(found["mta_bulk_evictions"].curve(EVICTION, series, "bulk evictions"), series)


def _times(found: Found, above: str, below: str) -> Curve:
    """How many times as long one takes as another to evict many."""
    return found["mta_bulk_evictions"].ratio(EVICTION, above, below, "bulk evictions")


def _trying(found: Found) -> str:
    """What Naive takes to try a value, and to add one."""
    naive, size = _eviction(found, "recalc"), _window(found)
    tried = seen(found, CALLS, "recalc", ALL)
    added = seen(found, CALLS, "recalc", ONE).last / seen(found, "⊕", "recalc", ONE).last
    daba = seen(found, CALLS, "daba_cached", ALL).last / tried.xs[-1]
    return (
        f"To show the policy one value more Naive calls {told(tried.last / tried.xs[-1])} "
        f"functions of Python, to add one more to a sum {told(added)}; these take "
        f"{told(naive.last / size)} and {told(naive.values[0] / size)} ns. Where many leave Naive "
        f"tries many, and adds few. DABA calls {told(daba)} for each that leaves, which it tries "
        f"and then evicts."
    )


@claim(
    "Figure 7 (a)",
    "Naive takes the same time, however many are evicted (within 1.5 times)",
    why=_trying,
)
def _(found: Found) -> Verdict:
    naive = _eviction(found, "recalc")
    said = f"{told(naive.least / 1e6)} – {told(naive.greatest / 1e6)} ms"
    first = naive.values[0]
    return along(naive, lambda k, each: first / 1.5 <= each <= 1.5 * first, said, "evictions")


@claim(
    "Figure 7 (a)",
    "Naive takes around 2 s for 2^23 values: 238 ns for each value (at most 300)",
    why=_trying,
)
def _(found: Found) -> Verdict:
    each = _eviction(found, "recalc").mean / _window(found)
    return at_most(each, 300, f"{told(each)} ns for each value of the window", in_part=300)


def _window(found: Found) -> float:
    """How many values there are before any leave: all but one is the most that do."""
    return _eviction(found, "recalc").xs[-1] + 1


@claim("Figure 7 (a)", "DABA's time grows linearly with the number that leaves (power 0.8 to 1.2)")
def _(found: Found) -> Verdict:
    grows = power(_eviction(found, "daba_cached").where(lambda k: k >= 16))
    kind = HOLDS if 0.8 <= grows <= 1.2 else NOT_HERE
    return Verdict(kind, f"from 16 on as k to the power of {told(grows)}")


@claim("Figure 7 (a)", "DABA is slower than Naive from an eighth of the window on", why=_trying)
def _(found: Found) -> Verdict:
    ratio = _times(found, "daba_cached", "recalc")
    at = crossing(ratio) / (there(ratio, "recalc").xs[-1] + 1)
    return at_most(at, 1 / 8, f"from {told(at, 2)} of the window on", in_part=1)


def _reading(found: Found) -> str:
    """What an eviction in a store takes that reads, and one that does not."""
    parts = []
    names = stored(found["mta_profile"], *TREES)
    for name in names:
        whole, reading, opening, written = (
            micro(seen(found, metric, name, HALF).last)
            for metric in (EVICTION, "ns of reading", "ns of opening blocks", CHECKPOINT)
        )
        parts.append(f"{name} {reading}, {opening} and {written} of {whole}")
    reads = {panel: seen(found, "reads", names[0], panel) for panel in (ONE, HALF)}
    return (
        f"One value leaves without a look at the store ({told(reads[ONE].last)} reads in the "
        f"profile). Where half of {told(reads[HALF].xs[-1])} values leave, the search comes to "
        f"blocks that are not at hand: {told(reads[HALF].last)} of them are read with "
        f"{names[0]}, each in a call of its own, of which Redis' goes through a socket; and so "
        f"many changes are followed by a checkpoint. To read, to take blocks from bytes and to "
        f"make the checkpoint ready take: {'; '.join(parts)}."
    )


def _checkpoint(found: Found) -> str:
    """What an eviction of all but one has in common with one of half."""
    name = stored(found["mta_profile"], "amta")[0]
    shown, reads, times, written = (
        [seen(found, metric, name, panel).last for panel in (HALF, ALL)]
        for metric in ("sums shown", "blocks read", EVICTION, CHECKPOINT)
    )
    return (
        f"The one that stays is at hand, as in the paper; but how many leave is found by a search, "
        f"and a checkpoint follows. In the profile of {name}, with half and with all but one of "
        f"{told(seen(found, EVICTION, name, ALL).xs[-1])} values, the policy is shown "
        f"{told(shown[0])} and {told(shown[1])} sums and {told(reads[0])} and {told(reads[1])} "
        f"blocks are read; the checkpoint takes {micro(written[0])} of {micro(times[0])}, and "
        f"{micro(written[1])} of {micro(times[1])}."
    )


@claim(
    "Figure 7 (b)",
    "in a store, of k values at once at most 1 + log₂ k times the time of one",
    why=_reading,
)
def _(found: Found) -> Verdict:
    most = {}
    for name in stored(found["mta_bulk_evictions"], *TREES):
        curve = _eviction(found, name)
        first = curve.values[0]
        most[name] = max(each / first / (1 + log2(k)) for k, each in curve.at.items())
    said = ", ".join(f"{name} {told(each, 2)} x that" for name, each in most.items())
    return for_each({name: each <= 1 for name, each in most.items()}, f"at worst {said}")


@claim("Figure 7 (b)", "in a store the time rises with the number that leaves (from 1 to a half)")
def _(found: Found) -> Verdict:
    half = _window(found) / 2
    grown = {}
    for name in stored(found["mta_bulk_evictions"], *TREES):
        curve = _eviction(found, name).where(lambda k: k <= half)
        grown[name] = curve.last / curve.values[0]
    said = ", ".join(f"{name} {told(each)} x" for name, each in grown.items())
    return for_each({name: each > 1 for name, each in grown.items()}, said)


@claim(
    "Figure 7 (b)",
    "in memory both trees take less time than in a store, however many leave",
    why=in_python,
)
def _(found: Found) -> Verdict:
    names = stored(found["mta_bulk_evictions"], *TREES)
    ratios = {name: _times(found, name, name.partition(", ")[0]) for name in names}
    ends = [min(c.least for c in ratios.values()), max(c.greatest for c in ratios.values())]
    said = f"a store takes {told(ends[0])} – {told(ends[1])} x as long"
    return along_each(ratios, lambda k, ratio: ratio > 1, said, "evictions")


@claim("Figure 7 (b)", "in a store AMTA and Log MTA are alike (on average within 1.5 times)")
def _(found: Found) -> Verdict:
    means = {store: _both(found, store).mean for store in STORES if _both(found, store)}
    said = ", ".join(f"{store}: amta takes {told(each)} x" for store, each in means.items())
    return for_each({store: 1 / 1.5 <= each <= 1.5 for store, each in means.items()}, said)


def _alike(found: Found) -> str:
    parts = []
    for store in ("", *STORES):
        ratio = _both(found, store)
        if ratio:
            parts.append(
                f"{store or 'in memory'} {told(ratio.least)} – {told(ratio.greatest)} x as long"
            )
    both = []
    for name in TREES:
        shown, sums, calls = (
            told(seen(found, metric, name, HALF).last) for metric in ("sums shown", "⊕", CALLS)
        )
        both.append(
            f"{name} shows the policy {shown} sums, does {sums} ⊕ and calls {calls} functions"
        )
    size = told(seen(found, CALLS, "amta", HALF).xs[-1])
    return (
        f"Both find how many leave by the very same search here, where the paper's AMTA tries "
        f"single evictions first. Counted in memory, where half of {size} values leave, "
        f"{', and '.join(both)}. AMTA takes: {', '.join(parts)}."
    )


@claim(
    "Figure 7 (b)",
    "in a store Log MTA is faster than AMTA for most numbers (more than half)",
    why=_alike,
)
def _(found: Found) -> Verdict:
    return _mostly_faster(found, [store for store in STORES if _both(found, store)])


@claim(
    "Figure 7 (b)",
    "in memory Log MTA is faster than AMTA for most numbers (more than half)",
    why=_alike,
)
def _(found: Found) -> Verdict:
    return _mostly_faster(found, [""])


@claim(
    "Figure 7 (b)",
    "in a store Log MTA is almost a millisecond faster (0.5 ms, in the median)",
    why=_alike,
)
def _(found: Found) -> Verdict:
    faster = {}
    for store in STORES:
        if _both(found, store):
            one, other = (_eviction(found, f"{name}, {store}") for name in TREES)
            faster[store] = median(one.at[k] - other.at[k] for k in one.xs) / 1e6
    said = ", ".join(f"{store} {told(each)} ms" for store, each in faster.items())
    return for_each({store: each >= 0.5 for store, each in faster.items()}, said)


def _both(found: Found, store: str) -> Curve:
    """AMTA's time over Log MTA's, in a store, or in memory."""
    where = f", {store}" if store else ""
    return _times(found, f"amta{where}", f"log_mta{where}")


def _mostly_faster(found: Found, stores: Sequence[str]) -> Verdict:
    shares = {}
    for store in stores:
        ratio = there(_both(found, store), "amta")
        shares[store or "memory"] = sum(each > 1 for each in ratio.values) / len(ratio.values)
    said = ", ".join(f"{where}: for {each:.0%}" for where, each in shares.items())
    return for_each({where: each > 0.5 for where, each in shares.items()}, said)


@claim(
    "Figure 7 (b)",
    "in a store all but one leave in less than half of the longest time",
    why=_checkpoint,
)
def _(found: Found) -> Verdict:
    names = stored(found["mta_bulk_evictions"], *TREES)
    shares = {n: _eviction(found, n).last / _eviction(found, n).greatest for n in names}
    said = ", ".join(f"{name} {told(share, 2)} of it" for name, share in shares.items())
    return for_each({name: share < 0.5 for name, share in shares.items()}, said)


@claim("Figure 7 (b)", "in a store at worst about 5 ms (at most 6; windows of 2^23 there)")
def _(found: Found) -> Verdict:
    names = stored(found["mta_bulk_evictions"], *TREES)
    worst = {name: _eviction(found, name).greatest / 1e6 for name in names}
    said = ", ".join(f"{name} {told(each)} ms" for name, each in worst.items())
    return for_each({name: each <= 6 for name, each in worst.items()}, said)


@claim(
    "Figure 7 (b)",
    "in a store at worst 400 times faster than Naive in memory (windows of 2^23 there)",
    why=lambda found: (
        f"The time of Naive is in proportion to the window, and the window here has "
        f"{told(_window(found))} values, {told((1 << 23) / _window(found))} times fewer."
    ),
)
def _(found: Found) -> Verdict:
    names = stored(found["mta_bulk_evictions"], *TREES)
    naive = _eviction(found, "recalc").mean
    least = min(naive / _eviction(found, name).greatest for name in names)
    return at_least(least, 400)


@claim(
    "Figure 7 (b)",
    "in memory at worst 455 µs with AMTA, 258 µs with Log MTA (windows of 2^23 there)",
    why=in_python,
)
def _(found: Found) -> Verdict:
    limits = {"amta": 455e3, "log_mta": 258e3}
    curves = {name: _eviction(found, name) for name in limits}
    said = ", ".join(f"{name} {micro(each.greatest)}" for name, each in curves.items())
    share = {
        k: max(curves[name].at[k] / limits[name] for name in limits) for k in curves["amta"].xs
    }
    return along(Curve(share), lambda k, each: each <= 1, f"at worst {said}", "evictions")


def _nothing_to_search(found: Found) -> str:
    names = ("daba_cached", *TREES)
    times = ", ".join(f"{name} {micro(_eviction(found, name).values[0])}" for name in names)
    calls = ", ".join(f"{name} {told(seen(found, CALLS, name, ONE).last)}" for name in names)
    shown = told(seen(found, "sums shown", "amta", ONE).last)
    return (
        f"If one value leaves there is nothing to search: each of them shows the policy {shown} "
        f"sums, and DABA has no tree to keep. Calls of Python are {calls}; it takes {times}."
    )


@claim(
    "Figure 7 (b)",
    "in memory both trees are faster than DABA, however many leave",
    why=_nothing_to_search,
)
def _(found: Found) -> Verdict:
    ratios = [_times(found, "daba_cached", name) for name in TREES]
    least = Curve({k: min(each.at[k] for each in ratios) for k in ratios[0].xs})
    said = f"DABA takes {told(least.least)} – {told(least.greatest)} x"
    return along(least, lambda k, each: each > 1, said, "evictions")


@claim(
    "Figure 7 (b)",
    "in a store both are faster than DABA in memory if much leaves (an eighth or more)",
)
def _(found: Found) -> Verdict:
    names = stored(found["mta_bulk_evictions"], *TREES)
    eighth = (_eviction(found, "daba_cached").xs[-1] + 1) / 8
    ratios = {name: _times(found, "daba_cached", name) for name in names}
    least = {name: ratio.where(lambda k: k >= eighth).least for name, ratio in ratios.items()}
    said = ", ".join(f"{name} {told(each)} x and more" for name, each in least.items())
    return for_each({name: each > 1 for name, each in least.items()}, said)
