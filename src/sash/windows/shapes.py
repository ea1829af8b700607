"""What a definition comes to: the constants and numbers that `cut` is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sash.aggregators.clocks import Clock
from sash.aggregators.duration import Steps, Time
from sash.windows import cutting
from sash.windows.definitions import (
    Definition,
    Delta,
    Last,
    Punctuated,
    Session,
    SlideWhile,
)

UNBOUNDED = 2**62


@dataclass(frozen=True)
class Shape:
    """One kind of window, for `cut`."""

    definition: Definition

    @cached_property
    def size(self) -> int:
        """What the window holds."""
        given = self.definition
        if isinstance(given, Last):
            return cutting.ROWS if isinstance(given.size, int) else cutting.TIME
        kinds = {
            Delta: cutting.DELTA,
            Punctuated: cutting.MARKED,
            Session: cutting.SESSION,
            SlideWhile: cutting.POLICY,
        }
        return kinds[type(given)]

    @cached_property
    def trigger(self) -> int:
        """When it answers."""
        every = getattr(self.definition, "every", None)
        if every is None:
            return cutting.WHEN_OVER
        if isinstance(every, Punctuated):
            return cutting.AT_MARKS
        return cutting.AT_ROWS if isinstance(every, int) else cutting.AT_ENDS

    @cached_property
    def closed(self) -> tuple[bool, bool]:
        """Whether the left and the right end of the window are in it."""
        if isinstance(self.definition, Delta):
            return True, True
        closed = getattr(self.definition, "closed", "right")
        return closed in ("left", "both"), closed in ("right", "both")

    @cached_property
    def marks_end(self) -> bool:
        return isinstance(self.definition, Punctuated) and self.definition.marks == "end"

    @cached_property
    def mark(self) -> str | None:
        """The column that marks rows."""
        if isinstance(self.definition, Punctuated):
            return self.definition.column
        every = getattr(self.definition, "every", None)
        return every.column if isinstance(every, Punctuated) else None

    @cached_property
    def along(self) -> str | None:
        """The column that a width is measured along, if it is not the time."""
        return self.definition.column if isinstance(self.definition, Delta) else None

    @cached_property
    def needs_times(self) -> bool:
        return self.size in (cutting.TIME, cutting.SESSION) or self.trigger == cutting.AT_ENDS

    @cached_property
    def answers_rows(self) -> bool:
        """Whether answers come at each so-many-th row, whatever the time is."""
        return self.trigger == cutting.AT_ROWS

    @cached_property
    def at_rows(self) -> bool:
        """Whether answers are for rows, all or some of them."""
        return self.trigger in (cutting.AT_ROWS, cutting.AT_MARKS)

    @cached_property
    def plain(self) -> bool:
        """Whether each row has an answer."""
        return self.answers_rows and getattr(self.definition, "every", 0) == 1

    @cached_property
    def rolls(self) -> bool:
        """Whether each row's answer is for the last rows, up to it: so many, or so old."""
        by_itself = self.size in (cutting.ROWS, cutting.TIME)
        return self.plain and by_itself and self.closed == (False, True)

    @cached_property
    def sliced(self) -> bool:
        """Whether windows are stretches of time, which begin and end whatever rows there are."""
        aligned = self.size == cutting.TIME and self.trigger == cutting.AT_ENDS
        return aligned or self.size == cutting.SESSION

    @cached_property
    def one_at_most(self) -> bool:
        """Whether a row completes one window at most."""
        if self.trigger != cutting.AT_ENDS:
            return True
        given = self.definition
        return isinstance(given, Last) and given.size == given.every

    @cached_property
    def loops(self) -> tuple[Any, Any]:
        """`cut` for this kind: in plain Python, and compiled."""
        left, right = self.closed
        return cutting.settle(
            SIZE=self.size,
            TRIGGER=self.trigger,
            LEFT=int(left),
            RIGHT=int(right),
            MARK_ENDS=int(self.marks_end),
            PLAIN=int(self.plain),
        )

    @cached_property
    def numbers(self) -> tuple[int, Any, int, int]:
        """size, width, every and offset, each in rows or in the units of its time."""
        given = self.definition
        size, width, every, offset = UNBOUNDED, 0, 1, 0
        if isinstance(given, Last):
            if isinstance(given.size, int):
                size = min(given.size, UNBOUNDED)
            else:
                width = min(amount(given.size), UNBOUNDED - 1)
        elif isinstance(given, Delta):
            width = amount(given.width)
        elif isinstance(given, Session):
            width = min(amount(given.gap), UNBOUNDED - 1)
        asked = getattr(given, "every", 1)
        if not isinstance(asked, Punctuated):
            every = min(amount(asked), UNBOUNDED - 1)
        if self.trigger == cutting.AT_ENDS:
            offset = amount(getattr(given, "offset", None) or 0)
            # As Spark's window(): it is the begins of windows that lie on the grid.
            offset = (offset + width) % every if self.size == cutting.TIME else offset
        return size, width, every, offset

    def check_clock(self, clock: Clock, others: dict[str, Any]) -> None:
        """Lengths of time are for datetimes, steps for integers."""
        own = {name: getattr(self.definition, name, None) for name in ("size", "every", "gap")}
        for name, given in (own | others).items():
            if isinstance(given, Time) and clock.kind == "integers":
                raise ValueError(
                    f"integer times have no unit: write {name}={str(given)!r} in theirs, as in "
                    f"'3600i', or convert the times to datetime64."
                )
            if isinstance(given, Steps) and clock.kind != "integers":
                raise ValueError(
                    f"{name}={str(given)!r} is for integer times, and these are {clock.kind}; "
                    f"write it as in '1h'."
                )


def amount(given: Any) -> Any:
    """A number of rows, nanoseconds or steps, or a width as it is."""
    if isinstance(given, Time):
        return given.nanoseconds
    return given.count if isinstance(given, Steps) else given
