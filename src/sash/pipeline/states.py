"""[state]: the store that a stream's windows are kept in. Its address is never shown whole."""

from __future__ import annotations

from sash.pipeline.definition import Pipeline, Question, State, absolute, is_local, local
from sash.pipeline.tables import EXAMPLES, SETTINGS, File, Table
from sash.stores.addresses import store_at
from sash.stores.contract import StoreError, checked_name
from sash.stores.rocksdb_options import library

EXAMPLE = 'store = "rocksdb:state/plugs"'
WITHOUT = "leave [state] out, and Spark keeps them"


def state_of(top: Table) -> State | None:
    """The store that the file names, if it does. It is not opened."""
    table = top.table("state", example=EXAMPLES["state"], known=SETTINGS["state"])
    if table is None:
        return None
    address = table.text("store", example=EXAMPLE, needed=True)
    table.no_more()
    if address is None:
        return None
    found, wrong = _checked(address, top.file)
    if wrong is not None:
        table.problem("store", f"state: store: {wrong.rstrip('.')}: write {EXAMPLE}.")
    return found


def _checked(address: str, file: File) -> tuple[State | None, str | None]:
    """The store, with its path told from the folder of the file; or what is wrong with it."""
    scheme, _, rest = address.partition(":")
    try:
        if scheme == "memory":
            return None, "what is in memory ends with the command, and a stream goes on after it"
        if scheme != "rocksdb" or not rest:
            store_at(address).close()  # not connected to
            return State(address), None
        library()
    except (ImportError, StoreError, ValueError) as error:
        return None, str(error)
    if not is_local(rest):
        return None, f"RocksDB keeps windows in a folder of this machine, and {rest} is none"
    return State(f"rocksdb:{local(absolute(file.path, rest))}"), None


def place_of(pipeline: Pipeline, question: Question) -> str:
    """What a query's window is called in the store."""
    return f"{pipeline.name}.{question.name}"


def check_state(pipeline: Pipeline, file: File) -> None:
    """Note what windows in a store cannot do."""
    if "state" not in file.content:
        return
    source = pipeline.source
    if source.idle is not None:
        file.problem(
            ("source", "idle"),
            "source: idle is for keys, and windows in a store have none: leave idle out.",
        )
    for question in pipeline.questions:
        at, own = ("queries", question.name), question.key != source.key
        where = (*at, "key") if own else ("source", "key")
        if question.key and file.is_right(*where):
            file.problem(
                where,
                f"{'.'.join(where[:-1])}: key: windows in a store have no keys: leave key out; or "
                f"{WITHOUT}.",
            )
        if question.emit == "early":
            file.problem(
                (*at, "emit"),
                f'{".".join(at)}: emit = "early" is not for windows in a store: write '
                f'emit = "every"; or {WITHOUT}.',
            )
        try:
            checked_name(place_of(pipeline, question))
        except ValueError as error:
            file.problem(
                ("state",), f"state: windows are called after the file and the query: {error}"
            )
