"""The claims of the paper on Two-Stacks, ABA and DABA (2015) that are about latency."""

from __future__ import annotations

from sash.figures.claims.judging import Claims, Found, Verdict, for_each, theirs
from sash.figures.drawing.drawn import told
from sash.figures.spec import specs

CLAIMS = Claims("constant_time")
claim = CLAIMS.claim

PLACES = "longest slides at 4 places of a page"
AMORTISED = ("two_stacks", "aba")


def _each(found: Found, metric: str, algorithm: str) -> dict[str, float]:
    """A number of the latencies of an algorithm, by function."""
    results = found["constant_time_latency"]
    return {panel: results.curve(metric, algorithm, panel).last for panel in results.panels(metric)}


def _times(found: Found, metric: str, above: str, below: str) -> dict[str, float]:
    """How many times as large a number is for one algorithm as for another, by function."""
    one, other = _each(found, metric, above), _each(found, metric, below)
    return {function: value / other[function] for function, value in one.items()}


def _listed(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {told(number)}" for name, number in numbers.items())


def _span(ratios: dict[str, float]) -> str:
    return f"{told(min(ratios.values()))} to {told(max(ratios.values()))} x"


@claim("abstract", "DABA's average latency is below Reactive's")
def _(found: Found) -> Verdict:
    ratios = _times(found, "avg", "flat_fat", "daba")
    return for_each({f: ratio > 1 for f, ratio in ratios.items()}, f"flat_fat's is {_span(ratios)}")


def _longest(found: Found) -> str:
    results = found["constant_time_latency"]

    def rounds(name: str, panel: str) -> str:
        ((least, most),) = results.spread("max", name, panel).values()
        return f"{told(least)} – {told(most)}"

    said = ", ".join(
        f"{panel} {rounds('daba', panel)} against {rounds('flat_fat', panel)} ns"
        for panel in results.panels("max")
    )
    return (
        f"The longest slides, by round: {said}. It is not ⊕: by count no slide of DABA does more "
        f"than {told(_worst_calls(found))}, and each of Reactive does log2 n. {_at_pages(found)}"
    )


BY_CHANCE = 0.03
"""About so many of a thousand slides would be at the four fullest of 512 places."""


def _at_pages(found: Found) -> str:
    """How many of the longest slides are at a few places of a page of memory."""
    spans = []
    for name in ("daba", "flat_fat"):
        shares = _each(found, PLACES, name)
        del shares["Bloom"]  # too few slides
        spans.append(f"{100 * min(shares.values()):.0f} – {100 * max(shares.values()):.0f} %")
    return (
        f"Of the thousandth of slides that take longest {spans[0]} of DABA's and {spans[1]} of "
        f"Reactive's (but for Bloom) are at four of the 512 places that their numbers have on a "
        f"page of memory; by chance it would be {100 * BY_CHANCE:.0f} %. What else makes a slide "
        f"long was not found out."
    )


def _worst_calls(found: Found) -> float:
    """The most ⊕ of an evict, an insert and a query of DABA."""
    results = found["constant_time_calls"]
    calls = (
        results.curve(f"{each}, most", "daba", "sliding") for each in ("insert", "evict", "query")
    )
    return sum(curve.greatest for curve in calls)


@claim("abstract", "DABA's longest slide is shorter than Reactive's", why=_longest)
def _(found: Found) -> Verdict:
    ratios = _times(found, "max", "flat_fat", "daba")
    return for_each({f: ratio > 1 for f, ratio in ratios.items()}, f"flat_fat's is {_span(ratios)}")


def _turned_over(found: Found) -> str:
    settings = specs()["constant_time_latency"].settings[found["constant_time_latency"].scale]
    (size,) = settings["windows"].values()
    shares = []
    for algorithm, title in (("two_stacks", "Two-Stacks"), ("aba", "ABA")):
        longest = _each(found, "max", algorithm)
        share = [ns / size for name, ns in longest.items() if name != "Bloom"]
        shares.append(f"{title} {told(min(share))} to {told(max(share))}")
    return (
        f"A window of {told(size)} values is turned over once while it is slid through: it takes "
        f"{' and '.join(shares)} ns for each slide, but for Bloom. DABA turns a value over at each "
        f"slide, while it is at hand, and what it does more than that takes as long."
    )


for name, title in (("two_stacks", "Two-Stacks"), ("aba", "ABA")):

    @claim(
        "Figure 18 (latency)",
        f"the spikes of {title} are far above all slides of DABA (10 times or more)",
    )
    def _(found: Found, name: str = name) -> Verdict:
        ratios = _times(found, "max", name, "daba")
        fits = {function: ratio >= 10 for function, ratio in ratios.items()}
        return for_each(fits, f"the longest slide is {_span(ratios)} DABA's")

    @claim(
        "Figure 18 (latency)",
        f"{title} has a spike for each time it is slid through (0.8 to 1.2 times)",
    )
    def _(found: Found, name: str = name) -> Verdict:
        spikes = _each(found, "spikes a window", name)
        fits = {function: 0.8 <= count <= 1.2 for function, count in spikes.items()}
        least, most = told(min(spikes.values())), told(max(spikes.values()))
        return for_each(
            fits, f"{least} to {most} spikes for as many slides as the window has values"
        )

    @claim("Table 2", f"the average latency of {title} is below DABA's", why=_turned_over)
    def _(found: Found, name: str = name) -> Verdict:
        ratios = _times(found, "avg", name, "daba")
        fits = {function: ratio < 1 for function, ratio in ratios.items()}
        return for_each(fits, f"{_span(ratios)} DABA's")


@claim(
    "Figure 18 (latency)",
    "DABA is tightly bound: no slide takes over 20 times the average",
    why=_longest,
)
def _(found: Found) -> Verdict:
    most, mean = _each(found, "max", "daba"), _each(found, "avg", "daba")
    ratios = {panel: ns / mean[panel] for panel, ns in most.items()}
    fits = {panel: ratio <= 20 for panel, ratio in ratios.items()}
    return for_each(fits, f"the longest takes {_span(ratios)} the average")


@claim(
    "Table 2",
    "the deviation of DABA's latency is about 3 times (2.5: its table's least) below that of the "
    "others",
    why=lambda found: (
        f"That of DABA itself is {_listed(_each(found, 'std', 'daba'))} ns: of a processor whose "
        f"clock goes in steps of ten nanoseconds it can hardly be less."
    ),
)
def _(found: Found) -> Verdict:
    ratios = {
        f"{function} ({name})": ratio
        for name in AMORTISED
        for function, ratio in _times(found, "std", name, "daba").items()
    }
    return for_each({name: ratio >= 2.5 for name, ratio in ratios.items()}, _span(ratios))


@claim("Table 2", "the deviation of DABA's latency is up to 25 times below Two-Stacks'")
def _(found: Found) -> Verdict:
    ratios = _times(found, "std", "two_stacks", "daba")
    return for_each({"two_stacks": max(ratios.values()) >= 25}, _span(ratios))


def _table(function: str, name: str) -> tuple[float, float]:
    """The paper's average and deviation."""
    average, deviation = theirs("constant_time_latency", "Table 2")[function][name].split(" (σ ")
    return float(average.replace(",", "")), float(deviation.rstrip(")").replace(",", ""))


def _entries(found: Found) -> str:
    ns, ticks = _each(found, "avg", "daba"), _each(found, "avg, ticks", "daba")
    return (
        f"Cycles are those of the processor's clock, {told(ticks['Sum'] / ns['Sum'])} a "
        f"nanosecond. Bloom runs in plain Python. The deviation of Two-Stacks and ABA is all in "
        f"the few slides that turn the window over; that takes longest where ⊕ does more than the "
        f"paper's: a sum of integers is held as two numbers, so that it can tell when it does not "
        f"fit, the means carry their rounding errors along, and StdDev sums distances from the "
        f"mean."
    )


for metric, place, says in (
    ("avg, ticks", 0, "average latency, in cycles"),
    ("std, ticks", 1, "deviation of the latency, in cycles"),
):

    @claim("Table 2", f"{says}: no entry is above the table's", why=_entries)
    def _(found: Found, metric: str = metric, place: int = place) -> Verdict:
        shares = {
            f"{function} ({name})": value / _table(function, name)[place]
            for name in (*AMORTISED, "daba")
            for function, value in _each(found, metric, name).items()
        }
        fits = {name: share <= 1 for name, share in shares.items()}
        return for_each(fits, f"{_span(shares)} the table's")
