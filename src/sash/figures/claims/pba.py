"""The claims of the paper on PBA and SBA (2022) that are about ⊕, memory and throughput."""

from __future__ import annotations

from collections.abc import Sequence

from sash.figures.claims.judging import (
    Claims,
    Found,
    NotMeasuredError,
    Verdict,
    along,
    along_each,
    at_least,
    for_each,
    is_flat,
)
from sash.figures.drawing.drawn import told
from sash.figures.results import Curve, Results

CLAIMS = Claims("pba")
claim = CLAIMS.claim

SLIDE, ROW = "ns a slide", "ns a row"
MEAN, WORST, EACH = "⊕ a slide", "⊕ of the worst slide", "partials for each value"
FIRST, BOTH = "pba, first thread", "pba"
RIVALS = ("two_stacks", "slick_deque")
TWO_THREADS = "pba, two threads"
LARGE = 1 << 15


def _counted(found: Found, metric: str, algorithm: str) -> Curve:
    return found["pba_calls"].curve(metric, algorithm, "one query")


@claim("abstract", "PBA does at most 3 ⊕ a slide (in its first thread)")
def _(found: Found) -> Verdict:
    worst = _counted(found, WORST, FIRST)
    both = _counted(found, WORST, BOTH)
    said = f"at most {told(worst.greatest)}, and {told(both.greatest)} with the other thread's"
    return along(worst, lambda n, calls: calls <= 3, said)


@claim("Table 1", "PBA does less than 3 ⊕ a slide on average (in its first thread)")
def _(found: Found) -> Verdict:
    mean = _counted(found, MEAN, FIRST)
    both = _counted(found, MEAN, BOTH)
    said = f"at most {told(mean.greatest, 4)}, and {told(both.greatest)} with the other thread's"
    return along(mean, lambda n, calls: calls < 3, said)


@claim("Table 1", "PBA holds at most (3n + 13) / 2 partials")
def _(found: Found) -> Verdict:
    each = _counted(found, EACH, BOTH)
    said = f"{told(each.last)} n at n = {told(each.xs[-1])}"
    return along(each, lambda n, partials: partials * n <= (3 * n + 13) / 2, said)


TWICE = "Ours has room for the whole window on each of its two stacks, for values and for sums."

AT_THE_ENDS = {
    "daba": "In windows of a few values the first and the last of a list are most of it.",
    "slick_deque": "Less than two is the mean over a stream without end; the slides that are "
    "counted are as many as the window has values, and come out a little above or below.",
}

for name, title, mean_most, worst_most, partials in (
    ("two_stacks", "TwoStack", 3.0, "n", 2),
    ("daba", "DABA", 5.0, "8", 2),
    ("flat_fit", "FlatFIT", 3.0, "n", 2),
    ("slick_deque", "SlickDeque", 2.0, "n", 2),
    ("slide_side", "SlideSide", 3.0, "n", 2),
):
    less = name == "slick_deque"
    says = f"less than {mean_most:g} ⊕" if less else f"{mean_most:g} ⊕ (up to 2 % more)"

    @claim("Table 1", f"{title}: {says} a slide on average", why=AT_THE_ENDS.get(name, ""))
    def _(found: Found, name: str = name, most: float = mean_most, less: bool = less) -> Verdict:
        mean = _counted(found, MEAN, name)
        said = f"{told(mean.least, 4)} to {told(mean.greatest, 4)}"
        return along(mean, lambda n, calls: calls < most if less else calls <= 1.02 * most, said)

    @claim("Table 1", f"{title}: at worst {worst_most} ⊕ a slide (one or two more at most)")
    def _(found: Found, name: str = name, most: str = worst_most) -> Verdict:
        worst = _counted(found, WORST, name)
        said = f"{told(worst.last)} at n = {told(worst.xs[-1])}"
        return along(worst, lambda n, calls: calls <= (n if most == "n" else int(most)) + 2, said)

    @claim(
        "Table 1",
        f"{title}: {partials} n partials at most (and two more)",
        why=TWICE if name == "two_stacks" else "",
    )
    def _(found: Found, name: str = name, most: int = partials) -> Verdict:
        each = _counted(found, EACH, name)
        said = f"{told(each.last)} n at n = {told(each.xs[-1])}"
        return along(each, lambda n, held: held * n <= most * n + 2, said)


@claim("Section 3.1", "PBA has the least of all in Table 1, but for SlickDeque's average")
def _(found: Found) -> Verdict:
    others = ("two_stacks", "daba", "flat_fit", "slick_deque", "slide_side")
    fits = {}
    for metric in (MEAN, WORST, EACH):
        ours = _counted(found, metric, FIRST).last
        for other in others:
            if (metric, other) != (MEAN, "slick_deque"):
                fits[f"{metric} ({other})"] = ours <= 1.02 * _counted(found, metric, other).last
    said = f"in {sum(fits.values())} of {len(fits)} comparisons, in the longest window (within 2 %)"
    return for_each(fits, said)


@claim(
    "Section 5.1.1",
    "the second thread does b - 2 ⊕ for a chunk of b slices: 15 for one of 17 (within 5 %)",
    why="What is counted is a number of slides, in which there is not always a whole number of "
    "chunks: with chunks of a few slices that shows.",
)
def _(found: Found) -> Verdict:
    both, first = (_counted(found, MEAN, name) for name in (BOTH, FIRST))
    share = {}
    for n in both.xs:
        chunk = (n + 2) // 2
        if chunk > 3:
            share[n] = (both.at[n] - first.at[n]) * chunk / (chunk - 2)
    curve = Curve(share)
    said = f"{told(curve.least)} to {told(curve.greatest)} times as many"
    return along(curve, lambda n, times: abs(times - 1) <= 0.05, said)


def _ranges(
    found: Found, above: Sequence[str], below: str, least: float = 0, most: float = float("inf")
) -> dict[str, Curve]:
    """How many times the throughput of others an algorithm has, by range, by workload."""
    results = found["pba_range"]
    return {
        f"{panel} ({name})": results.ratio(SLIDE, name, below, panel).where(
            lambda r: least <= r <= most
        )
        for panel in results.panels(SLIDE)
        for name in above
    }


def _span(curves: dict[str, Curve]) -> str:
    some = [curve for curve in curves.values() if curve]
    if not some:
        raise NotMeasuredError("no such windows")
    return f"{told(min(c.least for c in some))} to {told(max(c.greatest for c in some))} x"


def _took(found: Found, names: Sequence[str]) -> str:
    """What a slide takes at 2^15 rows, of each."""
    results = found["pba_range"]
    parts = []
    for panel in results.panels(SLIDE):
        took = {n: results.curve(SLIDE, n, panel).at[LARGE] for n in names}
        parts.append(f"{panel}: " + ", ".join(f"{n} {told(ns)}" for n, ns in took.items()))
    return f"Nanoseconds at 2^15 rows: {'; '.join(parts)}."


def _at_best(found: Found) -> str:
    """What two threads take that hand nothing over."""
    results = found["pba_parts"]
    panel = results.panels(SLIDE)[0]
    names = ("answers (first thread)", "sums (second thread)", "both at a time")
    first, second, both = (results.curve(SLIDE, name, panel).at[LARGE] for name in names)
    return (
        f"With Max there is next to nothing to share: the answers of the first thread take "
        f"{told(first)} ns a slide by themselves, the sums of the second {told(second)}, and both "
        f"at a time, in threads that hand nothing over and never wait, {told(both)} (Profile 1)."
    )


def _at_large(found: Found) -> str:
    return f"{_at_best(found)} {_took(found, (*RIVALS, 'sba', 'pba'))}"


def _short_chunks(found: Found) -> str:
    results = found["pba_range"]
    parts = []
    for n in (8, 1024):
        took = [told(results.curve(SLIDE, name, "uniform").at[n]) for name in ("two_stacks", "sba")]
        parts.append(f"{' against '.join(took)} ns at {told(n)} rows")
    return (
        f"Between two ends of chunks a slide of SBA is a loop without a choice, which pays off "
        f"where chunks are long: "
        f"TwoStack against SBA {', '.join(parts)} (uniform)."
    )


def _rounds(found: Found) -> str:
    """How far the rounds of two threads are apart."""
    results = found["pba_range"]
    apart = {
        name: max(
            high / low
            for panel in results.panels(SLIDE)
            for low, high in results.spread(SLIDE, name, panel).values()
        )
        for name in ("pba", "sba")
    }
    return (
        f"Two threads need both cores, which also run all else: the rounds of PBA at one range are "
        f"up to {told(apart['pba'])} x apart, those of SBA {told(apart['sba'])} x."
    )


def _longest(found: Found) -> str:
    results = found["pba_parts"]
    both = results.curve(SLIDE, "both at a time", results.panels(SLIDE)[0])
    n, before = 1 << 19, 1 << 18
    follows = (
        "from there on sums, values and answers are more than the caches hold"
        if both.at[n] > 1.1 * both.at[before]
        else "it is not the caches"
    )
    return (
        f"Two threads that hand nothing over take {told(both.at[before])} ns a slide at 2^18 rows "
        f"and {told(both.at[n])} at 2^19 (Profile 1): {follows}."
    )


FEW_CHUNKS = (
    "A run is a million slides, four chunks of 262,145 at 2^19 rows and two of 524,289 at 2^20: "
    "the first thread has nothing to do until it has the sums of one, and the second's for slides "
    "after the last are in vain."
)


@claim(
    "abstract",
    "PBA has up to 4 times the throughput of TwoStack and SlickDeque",
    why=_at_large,
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, RIVALS, "pba")
    best = max(curve.greatest for curve in curves.values())
    return at_least(best, 4, f"up to {told(best)} x")


@claim(
    "introduction",
    "PBA, with two threads always, has more throughput than the others with ranges above 1,024",
    why=_at_large,
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("recalc", *RIVALS), TWO_THREADS, least=1025)
    return along_each(curves, lambda r, ratio: ratio > 1, _span(curves), of="ranges")


@claim(
    "introduction",
    "SBA has more throughput than the others with ranges up to 1,024 rows",
    why=_short_chunks,
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("recalc", *RIVALS), "sba", most=1024)
    return along_each(curves, lambda r, ratio: ratio > 1, _span(curves), of="ranges")


@claim(
    "conclusion",
    "for small ranges (up to 1,024 rows) SBA has more throughput than PBA with two threads, for "
    "larger ones PBA",
    why=lambda found: f"{_at_best(found)} {_took(found, ('sba', TWO_THREADS))}",
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("sba",), TWO_THREADS)
    said = f"PBA has {_span(curves)} SBA's"
    return along_each(curves, lambda r, ratio: (ratio > 1) == (r > 1024), said, of="ranges")


@claim(
    "Section 5.1.1",
    "both data sets show the same tendency (of any two algorithms the same is faster, in 80 % of "
    "ranges)",
)
def _(found: Found) -> Verdict:
    results = found["pba_range"]
    names = ("two_stacks", "slick_deque", "sba", "pba")
    alike = []
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            one, two = (results.ratio(SLIDE, name, other, p) for p in results.panels(SLIDE))
            alike += [(one.at[r] > 1) == (two.at[r] > 1) for r in one.xs if r in two.at]
    share = sum(alike) / len(alike)
    return at_least(share, 0.8, f"in {share:.0%} of ranges and pairs", in_part=0.5)


@claim(
    "conclusion",
    "SBA has more throughput than TwoStack and SlickDeque with any range",
    why=_short_chunks,
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, RIVALS, "sba")
    return along_each(curves, lambda r, ratio: ratio > 1, _span(curves), of="ranges")


@claim(
    "Figure 4",
    "PBA has the best throughput of all with ranges from 2^15 rows on",
    why=_at_large,
)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("recalc", "sba", *RIVALS), "pba", least=LARGE)
    return along_each(curves, lambda r, ratio: ratio > 1, _span(curves), of="ranges")


@claim("Figure 4", "from 2^15 rows on PBA has 2.5 times the throughput of TwoStack", why=_at_large)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("two_stacks",), "pba", least=LARGE)
    return along_each(curves, lambda r, ratio: ratio >= 2.5, _span(curves), of="ranges")


@claim("Figure 4", "from 2^15 rows on PBA has 4 times the throughput of SlickDeque", why=_at_large)
def _(found: Found) -> Verdict:
    curves = _ranges(found, ("slick_deque",), "pba", least=LARGE)
    return along_each(curves, lambda r, ratio: ratio >= 4, _span(curves), of="ranges")


def _two_threads(results: Results, panel: str) -> Curve:
    """Rows per second, in millions, if every chunk is handed over."""
    ns = results.curve(SLIDE, TWO_THREADS, panel)
    return Curve({r: 1e3 / each for r, each in ns.at.items()})


@claim(
    "Figure 4",
    "PBA's throughput grows with the range up to 2^15 (or falls by 5 % at most)",
    why=lambda found: (
        f"It does {told(_two_threads(found['pba_range'], 'uniform').at[8])} million rows a second "
        f"at 8 rows and {told(_two_threads(found['pba_range'], 'uniform').at[LARGE])} at 2^15 "
        f"(uniform), but neighbours go up and down. {_rounds(found)}"
    ),
)
def _(found: Found) -> Verdict:
    results = found["pba_range"]
    steps = {}
    for panel in results.panels(SLIDE):
        curve = _two_threads(results, panel).where(lambda r: r <= LARGE)
        pairs = zip(curve.xs, curve.xs[1:], strict=False)
        steps[panel] = Curve({r: curve.at[r] / curve.at[before] for before, r in pairs})
    gains = [_two_threads(results, p).at[LARGE] / _two_threads(results, p).at[8] for p in steps]
    said = f"with two threads always, {told(min(gains))} x or more from 8 to 2^15 rows"
    return along_each(steps, lambda r, step: step >= 0.95, said, of="ranges")


@claim(
    "Figure 4",
    "from 2^15 rows on PBA's throughput stays as it is (within 20 %)",
    why=lambda found: f"{_longest(found)} {FEW_CHUNKS}",
)
def _(found: Found) -> Verdict:
    results = found["pba_range"]
    fits, spread = {}, {}
    for panel in results.panels(SLIDE):
        curve = results.curve(SLIDE, "pba", panel).where(lambda r: r >= LARGE)
        fits[panel], spread[panel] = is_flat(curve, 1.2), curve.greatest / curve.least
    return for_each(fits, ", ".join(f"{p} within {told(each)} x" for p, each in spread.items()))


@claim(
    "Section 5.1.1",
    "the best chunks have 17 slices for 2^5 rows and 5,242,884 for 2^20",
    why="A chunk of 5,242,884 would be longer than the range; the paper's theorem gives 524,289.",
)
def _(found: Found) -> Verdict:
    chunks = found["pba_range"].curve("chunk", "pba", "uniform")
    claimed = {1 << 5: 17, 1 << 20: 5_242_884}
    there = {r: chunk for r, chunk in claimed.items() if r in chunks.at}
    said = ", ".join(f"{chunks.at[r]:,.0f} for {r:,}" for r in there)
    return for_each({f"{r:,}": chunks.at[r] == chunk for r, chunk in there.items()}, said)


@claim("Figure 5", "all have more throughput with a slide of 10 rows than with one of 1")
def _(found: Found) -> Verdict:
    results = found["pba_slide"]
    gains = {}
    for panel in results.panels(ROW):
        for name in results.series(ROW, panel):
            curve = results.curve(ROW, name, panel)
            gains[f"{panel} ({name})"] = curve.at[1] / curve.last
    said = f"{told(min(gains.values()))} to {told(max(gains.values()))} x"
    return for_each({name: gain > 1 for name, gain in gains.items()}, said)


def _slicing(found: Found) -> str:
    results = found["pba_slide"]
    at = {n: results.curve(ROW, n, "uniform").at[1] for n in (*RIVALS, "sba", "pba")}
    return (
        "Cutting rows into slices is part of the time, and the same for all. Nanoseconds a row "
        f"with slides of 1 (uniform): {', '.join(f'{n} {told(ns)}' for n, ns in at.items())}. "
        f"{_at_best(found)}"
    )


@claim("Figure 5", "PBA has the most throughput with small slides (1 and 2 rows)", why=_slicing)
def _(found: Found) -> Verdict:
    results = found["pba_slide"]
    curves = {
        f"{panel} ({name})": results.ratio(ROW, name, "pba", panel).where(lambda s: s <= 2)
        for panel in results.panels(ROW)
        for name in (*RIVALS, "sba")
    }
    return along_each(curves, lambda s, ratio: ratio > 1, _span(curves), of="slides")


@claim("Figure 5", "with larger slides the algorithms are closer to each other")
def _(found: Found) -> Verdict:
    results = found["pba_slide"]
    fits, said = {}, []
    for panel in results.panels(ROW):
        curves = [results.curve(ROW, name, panel) for name in results.series(ROW, panel)]
        first, last = (
            max(curve.at[s] for curve in curves) / min(curve.at[s] for curve in curves)
            for s in (1, max(curves[0].xs))
        )
        fits[panel] = last < first
        said.append(f"{panel} {told(first)} x between the slowest and the fastest, {told(last)} x")
    return for_each(fits, "; ".join(said))


def _over_time(found: Found, above: Sequence[str], below: str, panel: str) -> dict[str, Curve]:
    results = found["pba_time"]
    return {name: results.ratio(ROW, name, below, panel) for name in above}


def _by_time(found: Found) -> str:
    """How much is left for the second thread to gain."""
    results = found["pba_time"]
    curves = {n: results.curve(ROW, n, "range") for n in ("two_stacks", "sba", "pba")}
    spans = [f"{name} {told(c.least)} – {told(c.greatest)}" for name, c in curves.items()]
    return (
        f"Readings become slices in a loop that is the same for all and the greater part of the "
        f"time; nanoseconds a row by range: {', '.join(spans)}. {_at_best(found)}"
    )


for panel, drawn in (("range", "Figure 6 (a)"), ("slide", "Figure 6 (b)")):

    @claim(drawn, f"over time PBA has the most throughput with every {panel}", why=_by_time)
    def _(found: Found, panel: str = panel) -> Verdict:
        curves = _over_time(found, (*RIVALS, "sba"), "pba", panel)
        return along_each(curves, lambda at, ratio: ratio > 1, _span(curves), of=f"{panel}s")

    @claim(
        drawn,
        f"over time SBA has more than TwoStack and SlickDeque with every {panel}",
        why=_by_time,
    )
    def _(found: Found, panel: str = panel) -> Verdict:
        curves = _over_time(found, RIVALS, "sba", panel)
        return along_each(curves, lambda at, ratio: ratio > 1, _span(curves), of=f"{panel}s")
