"""All claims, in the order of the papers."""

from __future__ import annotations

from sash.figures.claims import flat_fit
from sash.figures.claims.judging import Claim, Found, Judged
from sash.figures.papers import PAPERS

ALL = (flat_fit.CLAIMS,)


def claims() -> list[Claim]:
    """Every claim, paper by paper."""
    by_paper = {each.paper: each.all for each in ALL}
    return [claim for paper in PAPERS for claim in by_paper.get(paper, [])]


def judged(found: Found) -> list[Judged]:
    """Every claim with its verdict."""
    return [claim.judged(found) for claim in claims()]
