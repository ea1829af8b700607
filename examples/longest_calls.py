"""The longest phone call of the last day: told when it changes, and only then.

The query of figure 1 in "General Incremental Sliding-Window Aggregation" (2015), over call records:
how long the longest call of the last 24 hours was, how many were as long, and who made the first
of them. It is answered every minute, and given out only when it differs from the minute before:
the paper's IStream, here `emit="changes"`.

Run it with `python examples/longest_calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

import sash

DAYS = 3
MONDAY = np.datetime64("2026-03-02T00:00:00")
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
LIMIT = 2 * 60 * 60
"""The exchange cuts calls off after so many seconds, so that several may be the longest."""

NAMES = ["ann", "bob", "cid", "dot", "eve", "fay", "gus", "hal", "ida", "jim", "kay", "leo", "may"]
CALLS_PER_HOUR = [4, 2, 1, 1, 2, 6, 25, 70, 130, 160, 150, 130, 140, 120, 120, 130, 150, 170]
CALLS_PER_HOUR += [190, 170, 120, 70, 30, 12]
BURSTS = {(1, 17): 500, (2, 9): 300}
"""Day, hour and calls: a storm on Tuesday, a train that does not come on Wednesday."""

Table = dict[str, np.ndarray[Any, Any]]
Change = tuple[datetime, int, int, str]
"""When, the longest call in seconds, how many were as long, who made the first of them."""

QUERY = sash.Together(
    longest=sash.Max("len"),
    how_many=sash.MaxCount("len"),
    who=sash.ArgMax("len", "caller"),
)


def three_days(seed: int = 11) -> tuple[Table, np.ndarray[Any, Any]]:
    """Calls and the times at which they ended, in that order: so a record comes in."""
    chance = np.random.default_rng(seed)
    starts = []
    for day in range(DAYS):
        for hour, usual in enumerate(CALLS_PER_HOUR):
            begin = (day * 24 + hour) * 3600
            starts.append(begin + chance.integers(0, 3600, chance.poisson(usual)))
            starts.append(begin + chance.integers(0, 600, BURSTS.get((day, hour), 0)))
    start = np.concatenate(starts)
    lengths = np.minimum(chance.lognormal(np.log(140), 1.25, len(start)).astype(int) + 1, LIMIT)
    caller = chance.integers(0, len(NAMES), len(start))
    callee = (caller + chance.integers(1, len(NAMES), len(start))) % len(NAMES)
    end = start + lengths
    order = np.argsort(end, kind="stable")
    names = np.array(NAMES)
    calls = {"len": lengths, "caller": names[caller], "callee": names[callee]}
    return {name: column[order] for name, column in calls.items()}, MONDAY + end[order]


def changes(calls: Table, ends: np.ndarray[Any, Any]) -> Iterator[Change]:
    """Most records come in bulk, some one by one, as at the end of each chunk here."""
    window = sash.Window(QUERY, sash.last("24h", every="1min"), emit="changes")
    for start in range(0, len(ends), 500):
        chunk, few = slice(start, start + 480), range(start + 480, min(start + 500, len(ends)))
        bulk = {name: column[chunk] for name, column in calls.items()}
        yield from told(window.push_many(bulk, ends[chunk]))
        for i in few:
            record = {name: column[i].item() for name, column in calls.items()}
            yield from told(window.push(record, ends[i]))
    yield from told(window.finish())


def told(answers: Any) -> Iterator[Change]:
    for time, answer in zip(answers.times, answers, strict=True):
        when = np.datetime64(time, "s").item()
        yield when, int(answer.longest), int(answer.how_many), str(answer.who)


def looked_up(calls: list[tuple[datetime, int, str]], end: datetime) -> list[Any] | None:
    """The answer for the window that ends here, from all calls, in plain Python."""
    held = [(length, caller) for time, length, caller in calls if end - DAY <= time < end]
    if not held:
        return None
    longest = max(length for length, _ in held)
    callers = [caller for length, caller in held if length == longest]
    return [longest, len(callers), callers[0]]


def check(found: list[Change], calls: Table, ends: np.ndarray[Any, Any]) -> int:
    """Compare with what is looked up: at each change, a minute before it, and every 97 minutes."""
    rows = list(zip(ends.tolist(), calls["len"].tolist(), calls["caller"].tolist(), strict=True))
    minutes = {time - back for time, *_ in found for back in (timedelta(0), MINUTE)}
    last = rows[-1][0] + DAY
    minutes |= {found[0][0] + k * MINUTE for k in range(0, (last - found[0][0]) // MINUTE, 97)}
    for minute in sorted(minutes):
        standing = [answer for time, *answer in found if time <= minute]
        expected = looked_up(rows, minute)
        assert (standing[-1] if standing else None) == expected, (minute, expected)
    for (_, *before), (time, *answer) in pairwise(found):
        assert before != answer, f"{time}: nothing changed"
    return len(minutes)


def show(found: list[Change], last: datetime) -> None:
    print(f"  {'minute':<16}  {'longest':>8}  {'how many':>8}  who")
    for i, (time, longest, how_many, who) in enumerate(found):
        if time > last + MINUTE and found[i - 1][0] <= last + MINUTE:
            print("  no more calls come; the last of them leave the window:")
        length = timedelta(seconds=longest)
        print(f"  {time:%Y-%m-%d %H:%M}  {length!s:>8}  {how_many:8}  {who}")


def main() -> None:
    calls, ends = three_days()
    print(
        f"{len(ends):,} calls in {DAYS} days; the longest of the last 24 hours, when it changes:\n"
    )
    found = list(changes(calls, ends))
    show(found, ends[-1].item())
    checked = check(found, calls, ends)
    print(f"\n{len(found)} changes; as looked up among all calls at {checked} minutes.")


if __name__ == "__main__":
    main()
