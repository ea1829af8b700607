"""`sash explain`: how a pipeline will run."""

from __future__ import annotations

from textwrap import fill

from sash.cli.run import AS_JSON, FILE, STREAM
from sash.cli.telling import sentences, stdout, told_as_json

WIDTH = 96


def explain(file: FILE, stream: STREAM = False, as_json: AS_JSON = False) -> None:
    """Tell how a pipeline will run, in words and as a drawing; nothing is run.

    **Examples**

    - `sash explain smart_home.toml`
    - `sash explain smart_home.toml --stream`
    """
    with sentences("explain", as_json):
        from sash.pipeline import read_pipeline
        from sash.pipeline.explaining import explained

        flow, shared, queries = explained(read_pipeline(file), stream)
    if as_json:
        each = {q.name: dict(q.topics) for q in queries}
        told_as_json({"stream": stream, "shared": shared, "queries": each})
        return
    out = stdout()
    for line in flow:
        out.print(line, markup=False)
    out.print()
    out.print(fill(shared, WIDTH), markup=False)
    for query in queries:
        out.print()
        out.print(query.name, style="bold", markup=False)
        for line in query.drawing:
            out.print(f"  {line}", style="cyan", markup=False)
        for title, text in query.topics:
            head = f"  {title:12}"
            out.print(
                fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * 14), markup=False
            )
