"""An experiment that fails says so, and takes no other along, however it ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sash.figures import results
from sash.figures.running import run
from sash.figures.spec import Spec, spec_of


def spec(name: str, **settings: Any) -> Spec:
    draw = {"label": "Figure 1", "title": "–", "kind": "lines"}
    told = {
        "paper": "rivals",
        "title": name,
        "about": "–",
        "measure": f"figures.own_measures:{name}",
        "settings": settings,
        "quick": {"takes": 1},
        "full": {"takes": 1},
        "draw": [draw],
    }
    return spec_of(name, told)


def test_one_that_fails_takes_no_other_along(tmp_path: Path) -> None:
    names = [spec("fine", size=2), spec("failing"), spec("killed"), spec("nothing")]
    told: list[tuple[str, int, int]] = []
    outcomes = run(
        [*names, spec("fine", size=3)],
        "quick",
        tmp_path,
        {"processor": "any"},
        lambda spec, done, groups: told.append((spec.name, done, groups)),
    )
    fine, failing, killed, nothing, again = outcomes
    assert not fine.failure and len(fine.rows) == 4
    assert "ZeroDivisionError: of all things" in failing.failure
    assert "exit code -9" in killed.failure
    assert "measured nothing" in nothing.failure
    assert not again.failure and len(again.rows) == 6
    assert [path.name for path in sorted(tmp_path.glob("*.csv"))] == ["fine.csv"]
    found = results.read(tmp_path / "fine.csv")
    assert found.facts["experiment"] == "fine" and found.facts["processor"] == "any"
    assert "about to fail" in (tmp_path / "logs" / "failing.log").read_text()
    assert not (tmp_path / "logs" / "fine.log").exists()
    assert ("fine", 1, 2) in told and ("fine", 3, 3) in told


def test_all_sizes_before_other_rounds(tmp_path: Path) -> None:
    both = replace(spec("timed", size=2), rounds={"quick": 3}, passes={"quick": 2})
    told: list[tuple[int, int]] = []
    (found,) = run([both], "quick", tmp_path, {}, lambda _, *done: told.append(done))
    order = [(row.x, row.round) for row in found.rows]
    assert order == [(0, 0), (0, 2), (1, 0), (1, 2), (0, 1), (1, 1)]
    assert told == [(0, 1), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_several_at_once(tmp_path: Path) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    one = replace(spec("meeting", here=a, there=b), name="one", takes={"quick": 2})
    other = replace(spec("meeting", here=b, there=a), name="other", takes={"quick": 3})
    begun: list[str] = []
    outcomes = run(
        [spec("failing"), one, other],
        "quick",
        tmp_path,
        {},
        lambda spec, done, _: begun.append(spec.name) if not done else None,
        at_once=2,
    )
    assert begun == ["other", "one", "failing"]  # the longest first
    assert [each.spec.name for each in outcomes] == ["failing", "one", "other"]
    assert [bool(each.failure) for each in outcomes] == [True, False, False]
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["one.csv", "other.csv"]


def test_what_is_not_installed_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (outcome,) = run([spec("absent")], "quick", tmp_path, {}, lambda *_: None)
    assert outcome.failure == ""
    assert results.read(tmp_path / "absent.csv").missing == ["no such library"]
    assert "absent: no such library is not installed" in capsys.readouterr().err
