"""`sash run` and `sash check`: a pipeline file, checked and run."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sash.cli.starting import started
from sash.cli.telling import STOPPED, sentences, stderr, stdout, told_as_json

if TYPE_CHECKING:
    from sash.pipeline.running import Ran

FILE = Annotated[Path, typer.Argument(help="A pipeline file, in TOML.", show_default=False)]
AS_JSON = Annotated[bool, typer.Option("--json", help="For scripts.")]
STREAM = Annotated[bool, typer.Option("--stream", help="As a stream, with a checkpoint.")]


def run(
    file: FILE,
    stream: STREAM = False,
    until_idle: Annotated[
        bool,
        typer.Option("--until-idle", help="With --stream: end when the source has nothing new."),
    ] = False,
    leave_open: Annotated[
        bool,
        typer.Option(
            "--leave-open",
            help="With --until-idle: do not answer for windows that are still open at the end.",
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn, k8s://…"),
    ] = None,
    remote: Annotated[
        str | None, typer.Option(help="A Spark Connect server: sc://host:15002.")
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option(help="A setting of Spark, as spark.driver.memory=4g; may be given often."),
    ] = None,
    as_json: AS_JSON = False,
) -> None:
    """Run a pipeline file: all rows at once, or as a stream.

    A stream goes on until Ctrl-C, which lets the micro-batch that runs come to its end; started
    again, it goes on from there. Exit codes: 0 done, 1 failed, 2 something to mend in the file.

    **Examples**

    - `sash run smart_home.toml`
    - `sash run smart_home.toml --stream`
    - `sash run smart_home.toml --stream --until-idle --json`
    - `sash run smart_home.toml --master spark://host:7077 --conf spark.executor.memory=8g`
    """
    with sentences("run", as_json):
        settings = dict(_setting(each) for each in conf or ())
        if (until_idle or leave_open) and not stream:
            raise typer.BadParameter("--until-idle and --leave-open go with --stream.")
        if leave_open and not until_idle:
            raise typer.BadParameter("--leave-open goes with --until-idle.")
        from sash.pipeline import read_pipeline
        from sash.pipeline.running import refuse_endless, refuse_old_answers

        pipeline = read_pipeline(file)
        refuse_endless(pipeline, stream, until_idle)
        if not stream:
            refuse_old_answers(pipeline)
        ran = _run(pipeline, stream, until_idle, leave_open, master, remote, settings, as_json)
    if as_json:
        told_as_json(ran.told())
    else:
        show(ran)


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"--conf takes name=value, not {given!r}.")
    return name, value


def _run(
    pipeline: Any,
    stream: bool,
    until_idle: bool,
    leave_open: bool,
    master: str | None,
    remote: str | None,
    conf: dict[str, str],
    as_json: bool,
) -> Ran:
    from sash.pipeline.brokers import require_brokers, told_of_brokers
    from sash.pipeline.running import run_batch, settings
    from sash.pipeline.streaming import StreamRun
    from sash.pipeline.streaming_apart import StreamsApart
    from sash.pipeline.streaming_stored import stream_run
    from sash.spark.kind import is_connect

    if remote is None and "SPARK_REMOTE" not in os.environ:  # or they need not be seen from here
        require_brokers(pipeline)
    tell = _teller()
    tell("starting Spark")
    with (
        told_of_brokers(pipeline),
        started(f"sash {pipeline.name}", master, remote, settings(pipeline, conf, remote)) as spark,
    ):
        if not stream:
            with _ctrl_c():
                return run_batch(pipeline, spark, quiet=as_json, tell=tell)
        running: StreamRun | StreamsApart
        if is_connect(spark):
            running = StreamsApart(pipeline, spark, until_idle=until_idle, tell=tell)
        else:
            running = stream_run(
                pipeline,
                spark,
                quiet=as_json,
                until_idle=until_idle,
                leave_open=leave_open,
                tell=tell,
            )
        with _ctrl_c(running):
            return running.run()


def _teller() -> Any:
    console = stderr()
    if not console.is_terminal:
        return lambda said: None
    return lambda said: console.print(f"{said} …", style="dim", markup=False)


@contextmanager
def _ctrl_c(running: Any = None) -> Iterator[None]:
    """Ctrl-C, or SIGTERM, ends a stream at a boundary of micro-batches; a second one at once."""

    def asked_to_stop(number: int, frame: Any) -> None:
        logging.disable()  # Py4J would tell where it was, in a page
        if running is None or running.stopping.is_set():
            raise KeyboardInterrupt
        stderr().print("ending after this micro-batch; Ctrl-C again ends at once", style="dim")
        running.stop()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.signal(n, asked_to_stop) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show(ran: Ran) -> None:
    """A run, in a few lines."""
    out = stdout()
    pipeline = ran.pipeline
    for question in pipeline.questions:
        open_ones = ran.open_answers.get(question.name, 0)
        count = ran.answers.get(question.name, 0) + open_ones
        where = f" in {pipeline.sink.path_of(question.name)}" if pipeline.sink.is_files else ""
        still = f", {open_ones:,} of them of windows still open" if open_ones else ""
        out.print(f"{question.name}: {count:,} answers{where}{still}", markup=False)
    rows = f"{ran.rows:,} rows"
    if ran.batches is not None:
        rows += f" in {ran.batches:,} micro-batches"
    out.print(f"{rows}, {ran.seconds:.1f} s", markup=False)
    if ran.late:
        out.print(f"{ran.late:,} rows came too late, and were dropped", style="yellow")
    if ran.set_aside:
        total = sum(ran.set_aside.values())
        out.print(
            f"{total:,} malformed rows in {pipeline.quarantine}:", style="yellow", markup=False
        )
        for reason, count in ran.set_aside.items():
            out.print(f"  {count:,} {reason}", markup=False)
    if ran.batches is not None:
        final = f", final up to {ran.watermark}" if ran.watermark else ""
        out.print(f"checkpoint {pipeline.checkpoint}{final}", markup=False)
        if pipeline.state is not None:
            out.print(f"windows in {pipeline.state}", markup=False)


def check(file: FILE, as_json: AS_JSON = False) -> None:
    """Check a pipeline file without running it: every mistake, with its line and what to write.

    **Examples**

    - `sash check smart_home.toml`
    - `sash check smart_home.toml --json`
    """
    from sash.pipeline import read_pipeline

    with sentences("check", as_json):
        pipeline = read_pipeline(file)
    if as_json:
        told_as_json({"problems": [], "queries": [each.name for each in pipeline.questions]})
        return
    many = len(pipeline.questions)
    stdout().print(
        f"{file}: {many} {'query' if many == 1 else 'queries'}, nothing wrong", markup=False
    )
