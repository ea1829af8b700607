"""docs/evaluation.md is what its CSV files give: every experiment in full, every claim told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sash.figures.claims.judging import HOLDS, NOT_MEASURED, Found
from sash.figures.report import writing
from sash.figures.report.markdown import markdown
from sash.figures.spec import drawings, specs

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "evaluation.md"


@pytest.fixture(scope="module")
def found() -> Found:
    return writing.found_in(DOCS / "evaluation")


def test_every_experiment_ran_in_full(found: Found) -> None:
    assert set(found) == set(specs())
    assert {name for name, each in found.items() if each.scale != "full"} == set()
    passes = {name: int(each.facts.get("passes", 1)) for name, each in found.items()}
    assert passes == {name: spec.passes["full"] for name, spec in specs().items()}


def test_the_page_is_what_the_results_give(found: Found) -> None:
    written = writing.to_write(DOCS, found)
    document = writing.the_report(found, written, render=lambda figure: "")
    assert markdown(document, "evaluation") == PAGE.read_text("utf-8")
    assert written.missing == {}
    assert {each.name for each in written.drawn} == {each.name for each in drawings()}


def test_every_claim_that_does_not_hold_is_explained(found: Found) -> None:
    verdicts = writing.judged(found)
    kinds = (HOLDS, NOT_MEASURED)
    silent = [
        each.claim.says for each in verdicts if each.verdict.kind not in kinds and not each.why
    ]
    assert silent == []


def test_figures_are_there_and_no_others() -> None:
    page, whole = PAGE.read_text("utf-8"), (DOCS / "evaluation.html").read_text("utf-8")
    there = {path.stem for path in (DOCS / "evaluation").glob("*.svg")}
    assert there == {each.name for each in drawings() if f"evaluation/{each.name}.svg" in page}
    assert all(f'id="{each.name}"' in whole for each in drawings())
