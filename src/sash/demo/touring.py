"""`sash demo`: smart plugs, from readings to answers, in batch and as a stream; do they agree?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.demo.comparing import difference, read
from sash.demo.page import Table, page
from sash.demo.picture import PlugSeries, draw, save
from sash.pipeline import read_pipeline
from sash.pipeline.definition import Pipeline
from sash.pipeline.running import Ran, run_batch
from sash.pipeline.streaming import StreamRun
from sash.workloads import smart_plugs
from sash.workloads.smart_plugs import Written

HERE = Path(__file__).parent
FILES = ("smart_home.toml", "plug_operators.py")
OURS = (*FILES, "readings", "answers", "stream", "answers.png", "answers.html")
SHOWN = 3
"""So many plugs are drawn."""


class DisagreementError(Exception):
    """The answers of batch and stream are not the same."""


@dataclass(frozen=True)
class Tour:
    """What the demo has made and found."""

    folder: Path
    written: Written
    batch: Ran
    stream: Ran

    @property
    def picture(self) -> Path:
        return self.folder / "answers.png"

    @property
    def page(self) -> Path:
        return self.folder / "answers.html"

    def summary(self) -> list[tuple[str, str]]:
        """For people."""
        made, batch, stream = self.written, self.batch, self.stream
        bad = sum(batch.set_aside.values())
        answers = {name: count for name, count in batch.answers.items()}
        return [
            ("readings", f"{made.rows:,} of {made.plugs} plugs, in {len(made.files)} files"),
            ("late", f"{made.late_rows:,} came after a later one"),
            (
                "malformed",
                f"{bad:,} lines, kept out of the windows: {self.batch.pipeline.quarantine}",
            ),
            ("loads", f"{batch.rows:,} rows went into windows"),
            *((name, f"{count:,} answers") for name, count in answers.items()),
            ("batch", f"{batch.seconds:.1f} s, {batch.rows / batch.seconds:,.0f} rows/s"),
            (
                "stream",
                f"{stream.seconds:.1f} s, {stream.rows / stream.seconds:,.0f} rows/s, "
                f"{stream.batches} micro-batches, {stream.late} rows too late",
            ),
            ("agreement", "batch and stream gave the same answers, all of them"),
        ]

    def told(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "folder": str(self.folder),
            "readings": self.written.rows,
            "batch": self.batch.told(),
            "stream": self.stream.told(),
            "agree": True,
            "picture": str(self.picture),
            "page": str(self.page),
        }


def prepare(folder: Path) -> None:
    """A folder for the demo; what an earlier one has left there goes."""
    folder.mkdir(parents=True, exist_ok=True)
    strange = sorted(each.name for each in folder.iterdir() if each.name not in _left(folder))
    if strange:
        raise ValueError(
            f"{folder} has files that are not the demo's, such as {strange[0]}: choose another "
            f"folder, as in sash demo --folder demo2."
        )
    for name in _left(folder):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
    for name in FILES:
        shutil.copyfile(HERE / name, folder / name)


def _left(folder: Path) -> tuple[str, ...]:
    return (*OURS, "__pycache__")


def tour(
    folder: Path,
    spark: Callable[[Pipeline], Any],
    written: Written,
    tell: Callable[[str], None],
    quiet: bool = False,
) -> Tour:
    """Answer in batch and as a stream, compare, draw. spark: starts a session for a pipeline."""
    pipeline = read_pipeline(folder / FILES[0])
    with spark(pipeline) as session:
        tell("answering all rows at once")
        batch = run_batch(pipeline, session, quiet)
        tell("answering them again, as a stream")
        streamed = _as_stream(pipeline, folder)
        stream = StreamRun(streamed, session, until_idle=True).run()
    tell("comparing the answers")
    for question in pipeline.questions:
        one = read(pipeline.sink.path_of(question.name))
        other = read(streamed.sink.path_of(question.name))
        found = difference(one, other)
        if found is not None:
            raise DisagreementError(f"{question.name}: batch and stream do not agree: {found}.")
    check_counts(written, batch, stream)
    made = Tour(folder, written, batch, stream)
    tell("drawing")
    _draw(made)
    return made


def _as_stream(pipeline: Pipeline, folder: Path) -> Pipeline:
    """The same pipeline, with answers in another folder."""
    where = str(folder.absolute() / "stream")
    return replace(
        pipeline,
        sink=replace(pipeline.sink, path=where),
        quarantine=f"{where}/quarantine",
        checkpoint=f"{where}/_checkpoint",
    )


def check_counts(written: Written, batch: Ran, stream: Ran) -> None:
    """No row is lost: each is in windows or in quarantine."""
    bad = sum(written.malformed.values())
    for ran, kind in ((batch, "batch"), (stream, "stream")):
        found = sum(ran.set_aside.values())
        if found != bad:
            raise DisagreementError(
                f"the {kind} has set {found:,} rows aside, and {bad:,} lines are malformed."
            )
    if stream.late or stream.rows != batch.rows:
        raise DisagreementError(
            f"the batch had {batch.rows:,} rows, the stream {stream.rows:,} and {stream.late:,} "
            f"that came too late."
        )


def _draw(made: Tour) -> None:
    pipeline = made.batch.pipeline
    hours, recent = (read(pipeline.sink.path_of(each.name)) for each in pipeline.questions)
    plugs = _liveliest(recent)
    series = [_series(hours, recent, plug) for plug in plugs]
    title = (
        f"{made.written.plugs} smart plugs, {made.batch.rows:,} loads: windows over {SHOWN} of them"
    )
    figure = draw(series, made.batch.set_aside, title)
    save(figure, made.picture)
    first = _of(hours, plugs[0]).sort_by("window_end").slice(60, 12)
    rows = [
        [f"{end:%H:%M}", f"{most:,.1f}", f"{peak:%H:%M:%S}", f"{mean:,.1f}"]
        for end, most, peak, mean in zip(
            *(first[name].to_pylist() for name in ("window_end", "max_load", "peak", "mean")),
            strict=True,
        )
    ]
    caption = f"The last hour of {_label(plugs[0])}, every minute (UTC)"
    header = ["window ends", "max load, W", "at", "mean, W"]
    page(figure, made.summary(), [Table(caption, header, rows)], made.page)


Plug = tuple[int, int, int]
KEY = ("house_id", "household_id", "plug_id")


def _liveliest(recent: pa.Table) -> list[Plug]:
    """Plugs whose loads vary, one of a house if there are enough."""
    found = recent.group_by(list(KEY)).aggregate([("load", "stddev"), ("load", "count")])
    found = found.sort_by([("load_stddev", "descending")])
    plugs = list(zip(*(found[name].to_pylist() for name in KEY), strict=True))
    chosen: list[Plug] = []
    for plug in plugs:
        if plug[0] not in {each[0] for each in chosen}:
            chosen.append(plug)
    chosen += [plug for plug in plugs if plug not in chosen]
    return chosen[:SHOWN]


def _of(table: pa.Table, plug: Plug) -> pa.Table:
    mine = pc.equal(table[KEY[0]], plug[0])
    for name, value in zip(KEY[1:], plug[1:], strict=True):
        mine = pc.and_(mine, pc.equal(table[name], value))
    return table.filter(mine)


def _series(hours: pa.Table, recent: pa.Table, plug: Plug) -> PlugSeries:
    windows = _of(hours, plug).sort_by("window_end")
    rows = _of(recent, plug).sort_by("ts")
    arrived = _times(rows.sort_by("id"), "ts")
    late = arrived < np.maximum.accumulate(arrived)
    return PlugSeries(
        times=_times(rows, "ts"),
        loads=rows["load"].to_numpy(),
        window_ends=_times(windows, "window_end"),
        max_loads=windows["max_load"].to_numpy(),
        peak_times=_times(windows, "peak"),
        recent_times=_times(rows, "ts"),
        recent_mean=rows["mean"].to_numpy(),
        late_times=arrived[late],
        label=_label(plug),
    )


def _times(table: pa.Table, name: str) -> Any:
    return table[name].to_numpy().astype("datetime64[us]")


def _label(plug: Plug) -> str:
    house, household, number = plug
    return f"house {house}, household {household}, plug {number}"


def readings(folder: Path, rows: int, on_rows: Callable[[int], object]) -> Written:
    """Make the readings."""
    return smart_plugs.write(folder / "readings", rows, on_rows=on_rows)
