"""The picture of the demo and its page, on series whose answers are plain."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sash.demo import picture
from sash.demo.colours import IN_THE_DARK, LATE, MAX, MEAN, READINGS, WINDOW

START = 1_378_130_400
PNG = b"\x89PNG\r\n\x1a\n"


def plug(
    label: str = "plug 1", *, rows: int = 9_000, unit: str | None = None
) -> picture.PlugSeries:
    """Three hours of 100 W, one peak of 900 W at 01:15, silence from 02:00 to 02:30.

    load      ______|________......____
    max       ______|‾‾‾‾‾‾‾‾‾|________     the last hour, every minute
    """
    times = np.linspace(START, START + 3 * 3_600, rows).astype(np.int64)
    loads = np.full(rows, 100.0)
    loads[rows * 5 // 12] = 900.0
    peak = times[rows * 5 // 12]
    spoke = (times < START + 7_200) | (times >= START + 9_000)
    times, loads = times[spoke], loads[spoke]
    ends = np.arange(START + 60, START + 3 * 3_600 + 1, 60)
    inside = (ends > peak) & (ends <= peak + 3_600)

    def moments(seconds: np.ndarray) -> np.ndarray:
        return seconds if unit is None else seconds.astype("datetime64[s]").astype(unit)

    return picture.PlugSeries(
        times=moments(times),
        loads=loads,
        window_ends=moments(ends),
        max_loads=np.where(inside, 900.0, 100.0),
        peak_times=moments(np.where(inside, peak, ends - 1)),
        recent_times=moments(times),
        recent_mean=np.full(len(times), 101.5),
        late_times=moments(times[::500]),
        label=label,
    )


@pytest.fixture(scope="module")
def figure() -> picture.Figure:
    plugs = [plug(f"plug {number}") for number in range(3)]
    return picture.draw(plugs, {"no <value>": 12, "too few fields": 1_034}, "Loads & answers")


def lines_of(panel: picture.Axes, colour: str) -> list[picture.Line2D]:
    return [line for line in panel.get_lines() if line.get_color() == colour]


def texts_of(figure: picture.Figure) -> str:
    return " | ".join(
        text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


def test_one_panel_for_each_plug_over_the_same_time(figure: picture.Figure) -> None:
    _, *panels, strip = figure.axes
    assert [panel.get_title(loc="left") for panel in panels] == ["plug 0", "plug 1", "plug 2"]
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert all(panel.get_ylabel() == "load, W" for panel in panels)
    assert "UTC" in panels[-1].get_xlabel()
    assert strip.get_title(loc="left") == "rows in quarantine: 1,046"
    for panel in panels:
        for colour in (READINGS, MAX, MEAN, LATE):
            assert len(lines_of(panel, colour)) >= 1


def test_a_window_is_shown_with_its_maximum(figure: picture.Figure) -> None:
    """Its peak, of 15:15, lies in the middle: [14:45, 15:45)."""
    shown = texts_of(figure)
    assert shown.count("900.0 W at 15:15:00") == 3
    assert "one window, [14:45, 15:45), and its max" in shown
    panel = figure.axes[1]
    assert [patch.get_facecolor()[:3] for patch in panel.patches] == [
        tuple(int(WINDOW[digit : digit + 2], 16) / 255 for digit in (1, 3, 5))
    ]


def test_gaps_stay_gaps_and_thinning_keeps_the_peak(figure: picture.Figure) -> None:
    (line,) = lines_of(figure.axes[1], READINGS)
    loads = np.asarray(line.get_ydata(), float)
    assert len(loads) <= 2 * picture.BINS + 1
    assert np.isnan(loads).sum() == 1
    assert np.nanmax(loads) == 900
    (largest,) = [line for line in lines_of(figure.axes[1], MAX) if len(line.get_ydata()) > 1]
    assert not np.isnan(np.asarray(largest.get_ydata(), float)).any()


def test_png(figure: picture.Figure, tmp_path: Path) -> None:
    picture.save(figure, tmp_path / "demo.png")
    written = (tmp_path / "demo.png").read_bytes()
    assert written.startswith(PNG)
    assert len(written) > 30_000


class Reader(HTMLParser):
    """Elements that are open, and the text of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


def test_page(figure: picture.Figure, tmp_path: Path) -> None:
    summary = [("rows", "3,000,000"), ("late rows", "14,884"), ("answers < 1 s", "99.5 %")]
    answers = picture.Table("Answers", ["end", "max, W"], [["15:45", "900.0"], ["15:46", "<none>"]])
    picture.page(figure, summary, [answers], tmp_path / "demo.html")
    text = (tmp_path / "demo.html").read_text(encoding="utf-8")

    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert {"svg", "table", "style", "h1"} <= reader.seen
    assert not {"script", "link", "img", "image"} & reader.seen
    for name, value in summary:
        assert reader.cells[reader.cells.index(name) + 1] == value
    assert reader.cells[-6:] == ["end", "max, W", "15:45", "900.0", "15:46", "<none>"]

    outside = set(re.findall(r"https?:[^\s\"'<>)]*", text))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "url(" not in re.sub(r"url\(#\w+\)", "", text)
    assert "<h1>Loads &amp; answers</h1>" in text
    assert "no &lt;value&gt;" in text
    assert "prefers-color-scheme: dark" in text
    drawn = text[text.index("<svg ") :]
    assert not [colour for colour in IN_THE_DARK if colour in drawn]
    assert figure.get_suptitle() == "Loads & answers"


def test_the_same_series_give_the_same_page(tmp_path: Path) -> None:
    for name in ("once", "again"):
        picture.page(picture.draw([plug()], {"garbage": 3}, "same"), [], [], tmp_path / name)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("unit", ["datetime64[s]", "datetime64[us]", "datetime64[ns]"])
def test_times_of_any_unit(unit: str) -> None:
    shown = picture.draw([plug(unit=unit)], {}, "")
    assert "900.0 W at 15:15:00" in texts_of(shown)


def test_next_to_nothing(tmp_path: Path) -> None:
    """A plug without a row, one with a single row, and no answer yet."""
    none = np.array([])
    silent = picture.PlugSeries(*[none] * 8, label="silent")
    one = picture.PlugSeries(np.array([START]), np.array([0.0]), *[none] * 6, label="one")
    for plugs in ([silent], [one], [silent, one, plug()]):
        picture.save(picture.draw(plugs, {}, "little"), tmp_path / "little.png")
    with pytest.raises(ValueError, match="plugs is empty"):
        picture.draw([], {}, "none")
