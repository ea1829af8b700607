"""What a report is made of, whatever it is written as.

Text may hold `code`, **bold** and [links](target), and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sash.figures.drawing.drawn import Table


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Items:
    items: list[str]


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Picture:
    """A figure, as SVG."""

    name: str
    title: str
    svg: str


Block = Heading | Text | Items | Code | Picture | Table


@dataclass
class Document:
    title: str
    blocks: list[Block] = field(default_factory=list)

    def add(self, *blocks: Block) -> None:
        self.blocks += blocks
