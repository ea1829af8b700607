"""Windows as bytes, and back: everything they hold, under a checksum, without pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sash.aggregators.aggregator import checked_operator
from sash.aggregators.clocks import Clock
from sash.aggregators.columns import Column, column
from sash.aggregators.saving import SavedError, pack, unpack
from sash.aggregators.saving_windows import content_of, restore
from sash.operators.base import Operator
from sash.operators.errors import OperatorError
from sash.operators.known import described, known_operator
from sash.windows.batches import Batch
from sash.windows.definitions import Definition, definition, from_dict
from sash.windows.each import Each
from sash.windows.engine import Engine
from sash.windows.kept_rows import KeptRows
from sash.windows.keys import Keys
from sash.windows.ordering import Ordering
from sash.windows.pooled import Pooled
from sash.windows.stamps import Stamps
from sash.windows.tracking import CAME, END, START

if TYPE_CHECKING:
    from sash.windows.window import Window

W = TypeVar("W", bound="Window")
NONSENSE = (LookupError, TypeError, ValueError, AttributeError, MemoryError, ArithmeticError)
"""What comes of values that no window has had."""
KIND = "window"
LAYOUT = 1
"""Of what is told here; it grows when that changes."""
OPTIONS = ("algorithm", "latency", "min_size", "emit", "by", "debug")


def saved(window: Window) -> bytes:
    """All of a window."""
    content = {
        "layout": LAYOUT,
        **described_window(window),
        "engine": _engine(window._engine),
        **where_it_stands(window),
    }
    return pack(KIND, content)


def described_window(window: Window) -> dict[str, Any]:
    """Which window it is: what it is made with."""
    written = None
    try:
        written = window.window.to_dict()
    except TypeError:  # a policy that is no text: it must be given again
        written = {"as": repr(window.window)}
    lengths = {
        name: None if getattr(window, name) is None else str(getattr(window, name))
        for name in ("lateness", "idle")
    }
    return {
        "op": described(window.op),
        "window": written,
        "options": {name: getattr(window, name) for name in OPTIONS} | lengths,
        "dtype": None if window.dtype is None else str(window.dtype),
    }


def where_it_stands(window: Window) -> dict[str, Any]:
    """What is known beside what the engine holds."""
    return {
        "keys": window._reader.keys.content(),
        "stamps": _stamps(window._stamps),
        "order": None if window._order is None else _order(window._order),
        "early": window._giver.early.given,
        "before": window._giver.before,
        "like": saved_batch(window._reader.like),
        "clock": (window._newest, window._advanced, window._finished),
    }


def loaded(kind: type[W], data: bytes, op: Operator | None, window: Any) -> W:
    """The window that was saved; refused if it is not whole, or not of this operator."""
    content = unpack(KIND, data)
    if not isinstance(content, dict) or content.get("layout") != LAYOUT:
        raise SavedError("this was saved by another version of sash, which laid it out otherwise.")
    op = _operator(content["op"], op)
    shape = _definition(content["window"], window)
    try:
        found = kind(op, shape, dtype=content["dtype"], **content["options"])
        if not found._keyed and kind.needs_keys:
            raise ValueError("it has no keys; load it with sash.Window.load")
        _restore_engine(found._engine, content["engine"])
        going_on(found, content)
    except NONSENSE as error:
        raise SavedError(f"this is not a window that was saved: {error}.") from error
    return found


def going_on(window: Window, content: dict[str, Any]) -> None:
    """Let a window whose engine is as it was stand where it stood."""
    window._reader.keys = window._giver.keys = Keys.restored(content["keys"])
    _restore_stamps(window._stamps, content["stamps"])
    if window._order is not None:
        _restore_order(window._order, content["order"])
    window._giver.early.given = dict(content["early"])
    window._giver.before = dict(content["before"])
    window._reader.like = saved_batch_again(content["like"])
    window._newest, window._advanced, window._finished = content["clock"]
    _check_codes(window)


def _operator(description: Any, given: Operator | None) -> Operator:
    if given is None:
        try:
            return known_operator(description)
        except OperatorError as error:
            raise SavedError(str(error)) from error
    checked_operator(given)
    if described(given) != description:
        raise SavedError(f"this was saved of {_shown(description)}, not of {given!r}.")
    return given


def _shown(description: Any) -> str:
    if "together" in description:
        members = description["together"].items()
        return f"Together({', '.join(f'{name}={_shown(m)}' for name, m in members)})"
    given = [repr(name) for name in description["columns"]]
    given += [f"{k}={v!r}" for k, v in description["options"].items()]
    return f"{description['name']}({', '.join(given)})"


def _definition(written: Any, given: Any) -> Definition:
    if "as" in written:
        if given is None or repr(definition(given)) != written["as"]:
            raise SavedError(
                f"the policy of {written['as']} is a function, which is not saved: give the window "
                f"again, as in load(data, window=…)."
            )
        return definition(given)
    found = from_dict(written)
    if given is not None and definition(given) != found:
        raise SavedError(f"this was saved of {found!r}, not of {given!r}.")
    return found


def _check_codes(window: Window) -> None:
    """What compiled loops are told must be true, as they do not look."""
    keys = window._engine.keys
    if window._keyed and len(window._reader.keys) != keys:
        raise ValueError("its keys are at odds")
    pending = None if window._order is None else window._order.pending
    for batch in (pending, window._engine.tail, window._reader.like):
        codes = None if batch is None else batch.codes
        if codes is not None and len(codes) and not 0 <= codes.min() <= codes.max() < keys:
            raise ValueError("a row is of no key")


# The engine


def _engine(engine: Engine) -> dict[str, Any]:
    keeper = engine.keeper
    kept: Any = None
    if isinstance(keeper, Each):
        kept = {"each": [content_of(window) for window in keeper.windows]}
    elif keeper is not None:
        kept = {
            "pool": keeper.pool.content(),
            "types": [[str(kind) for kind in types] for types in keeper.types],
            "had_nulls": keeper.had_nulls,
            "last_value": [each[: engine.keys] for each in keeper.last_value],
            "no_rows": saved_batch(keeper.no_rows),
        }
    states = [state[: engine.keys] for state in engine.tracker.states]
    return {
        "keys": engine.keys,
        "states": states,
        "rows": _kept_rows(engine.tracker.kept, states[START], states[END]),
        "keeper": kept,
        "tail": saved_batch(engine.tail),
    }


def _restore_engine(engine: Engine, content: dict[str, Any]) -> None:
    keys = content["keys"]
    states = [np.ascontiguousarray(state, np.int64) for state in content["states"]]
    restore_states(engine, states, keys)
    start, end = states[START], states[END]
    engine.tracker.kept = _kept_rows_again(content["rows"], states)
    if engine.tracker.measures and (end > start).any() and not engine.tracker.kept.columns:
        raise ValueError("its rows are missing")
    kept = content["keeper"]
    if kept is not None and "each" in kept:
        if engine.keeper is None:
            engine.keeper = Each(engine._new_window)
            engine.keeper.add(keys)
        assert isinstance(engine.keeper, Each)
        for window, its_content in zip(engine.keeper.windows, kept["each"], strict=True):
            restore(window, its_content)
    elif kept is not None:
        types = tuple(tuple(np.dtype(kind) for kind in given) for given in kept["types"])
        pooled = Pooled(engine.module, engine.operator, types, engine.tracker)
        pooled.add(keys)
        pooled.pool.restore(kept["pool"])
        pooled.had_nulls = [bool(had) for had in kept["had_nulls"]]
        pooled.last_value = [np.ascontiguousarray(each, np.int64) for each in kept["last_value"]]
        if len(pooled.pool) != keys or any(len(each) != keys for each in pooled.last_value):
            raise ValueError("its keys are at odds")
        pooled.no_rows = saved_batch_again(kept["no_rows"])
        engine.keeper = pooled
    engine.tail = saved_batch_again(content["tail"])


def restore_states(engine: Engine, states: list[Any], keys: int) -> None:
    """Where each key's window stands."""
    if len(states) != 6 or any(state.shape != (keys,) for state in states):
        raise ValueError("its keys are at odds")
    came, start, end = states[CAME], states[START], states[END]
    if not ((start >= 0) & (start <= end) & (end <= came) & (came < 2**62)).all():
        raise ValueError("its counts are at odds")
    engine.add_keys(keys - engine.keys)
    engine.tracker.states = states


def _kept_rows(kept: KeptRows, S: Any, E: Any) -> dict[str, Any]:
    return {"columns": kept.held(S, E), "rooms": kept.rooms[: len(S)]}


def _kept_rows_again(content: dict[str, Any], states: list[Any]) -> KeptRows:
    return KeptRows.holding(content["columns"], content["rooms"], states[START], states[END])


# Rows on their way, times, order


def _column(given: Column) -> dict[str, Any]:
    numbers = None if given.numbers is None else str(given.numbers.dtype)
    return {"source": given.source, "kind": given.kind, "numbers": numbers}


def _column_again(content: dict[str, Any]) -> Column:
    found = column(content["source"])
    if content["numbers"] is not None and found.numbers is not None:
        wide = found.numbers.astype(np.dtype(content["numbers"]), copy=False)
        found = Column(found.source, found.kind, wide, found.valid)
    if content["numbers"] is None:
        found = Column(found.source, found.kind, None, None)
    if found.kind != content["kind"]:
        raise ValueError("a column is of another kind")
    return found


def saved_batch(given: Batch | None) -> Any:
    if given is None:
        return None
    columns = {name: _column(c) for name, c in given.columns.items()}
    return {"columns": columns, "rows": given.rows, "times": given.times} | {
        "codes": given.codes,
        "kind": given.kind,
    }


def saved_batch_again(content: Any) -> Batch | None:
    if content is None:
        return None
    columns = {name: _column_again(c) for name, c in content["columns"].items()}
    rows = content["rows"]
    times, codes = (
        None if each is None else np.ascontiguousarray(each, np.int64)
        for each in (content["times"], content["codes"])
    )
    marks: list[Any] = [each for each in (times, codes) if each is not None]
    if any(len(c) != rows for c in [*columns.values(), *marks]):
        raise ValueError("its rows are at odds")
    return Batch(columns, rows, times, codes, content["kind"])


def _stamps(stamps: Stamps) -> dict[str, Any]:
    clock = None if stamps.clock is None else stamps.clock.kind
    return {"clock": clock} | {
        name: getattr(stamps, name) for name in ("has_times", "zone", "unit", "kind")
    }


def _restore_stamps(stamps: Stamps, content: dict[str, Any]) -> None:
    if content["clock"] is not None:
        stamps.settle(Clock(content["clock"]))
    for name in ("has_times", "zone", "unit", "kind"):
        setattr(stamps, name, content[name])


def _order(order: Ordering) -> dict[str, Any]:
    return {
        "newest": order.newest,
        "advanced": order.advanced,
        "late": order.late,
        "pending": saved_batch(order.pending),
    }


def _restore_order(order: Ordering, content: dict[str, Any]) -> None:
    order.newest, order.advanced = content["newest"], content["advanced"]
    order.late, order.pending = content["late"], saved_batch_again(content["pending"])
