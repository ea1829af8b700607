"""Every experiment's file says what its measurement and its drawings take; nothing is left out."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest

from sash.figures.claims.registry import claims
from sash.figures.drawing.registry import KINDS
from sash.figures.measures.registry import measure_named
from sash.figures.papers import PAPERS
from sash.figures.spec import Spec, drawings, spec_of, specs

PROMISED = {
    "reactive": {*(f"Figure {n}" for n in range(6, 13)), "Table 3", "Table 4"},
    "constant_time": {"Table 1", "Table 2", "Figure 18 (throughput)", "Figure 18 (latency)"},
    "mta": {"Figure 6", "Figure 7", "Figure 8", "Figure 9", "Table 2"},
    "flat_fit": {f"Figure {n}" for n in range(8, 17)},
    "pba": {*(f"Figure {n}" for n in range(4, 9)), "Table 1", "Table 2", "Table 3"},
}


@pytest.mark.parametrize("paper", PROMISED)
def test_every_figure_and_table_is_there(paper: str) -> None:
    labels = [each.label for each in drawings() if each.paper == paper]
    missing = {
        wanted
        for wanted in PROMISED[paper]
        if not any(label == wanted or label.startswith(f"{wanted} ") for label in labels)
    }
    assert missing == set()


def test_names_of_drawings_are_their_own() -> None:
    counted = Counter(each.name for each in drawings())
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("spec", specs().values(), ids=lambda spec: spec.name)
def test_what_a_file_says_is_taken(spec: Spec) -> None:
    for scale in ("quick", "full"):
        signature = inspect.signature(measure_named(spec.measure))
        signature.bind(**spec.settings[scale])
        assert spec.takes[scale] > 0
    assert spec.drawings
    for drawing in spec.drawings:
        taken = inspect.signature(KINDS[drawing.kind]).parameters
        needed = {
            name
            for name, each in taken.items()
            if each.default is inspect.Parameter.empty
            and each.kind is inspect.Parameter.KEYWORD_ONLY
        }
        assert needed <= set(drawing.options)
        strange = set(drawing.options) - set(taken)
        assert strange == set()


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_say_where_they_stand(paper: str) -> None:
    own = [claim for claim in claims() if claim.paper == paper]
    labels = {each.label for each in drawings() if each.paper == paper}
    assert len(own) >= 6
    for claim in own:
        assert claim.says[-1] != "." and claim.where
        if claim.where.startswith(("Figure", "Table")) and paper != "rivals":
            assert labels & set(claim.where.split(", ")), claim.where
    said = Counter((claim.where, claim.says) for claim in own)
    assert max(said.values()) == 1


def test_what_a_file_gets_wrong_is_told() -> None:
    told = {"paper": "flat_fit", "sizes": [1], "quick": {}, "full": {}, "draw": []}
    with pytest.raises(ValueError, match="some: 'sizes' is not known"):
        spec_of("some", told)
    with pytest.raises(ValueError, match="there is no paper 'daba'"):
        spec_of("some", {"paper": "daba"})


def test_powers_of_two() -> None:
    draw = {"label": "Figure 1", "title": "–", "kind": "lines"}
    told = {
        **{"paper": "pba", "title": "–", "about": " a\n b ", "measure": "calls", "draw": [draw]},
        "settings": {"sizes": "2^1 .. 2^3", "word": "2^"},
        "quick": {"takes": 1, "sizes": "2^0 .. 2^5 by 2^2"},
        "full": {"takes": 1, "rounds": 4, "passes": 3},
    }
    spec = spec_of("some", told)
    assert spec.settings["quick"]["sizes"] == [1, 4, 16]
    assert spec.settings["full"] == {"sizes": [2, 4, 8], "word": "2^"}
    assert (spec.rounds, spec.about) == ({"quick": 1, "full": 4}, "a b")
    assert [list(each) for each in spec.rounds_by_pass("full")] == [[0, 3], [1], [2]]
    assert [list(each) for each in spec.rounds_by_pass("quick")] == [[0]]
