"""The colours of the demo's picture, and what they become on a page that is shown dark.

Readers who do not see all colours tell them apart too (they are close to Okabe and Ito's), and by
lightness. The page finds a colour in the picture by its value, so all are different.
"""

from __future__ import annotations

from typing import Final

INK: Final = "#20242c"
FAINT: Final = "#dde1e7"
READINGS: Final = "#949dab"
MAX: Final = "#d55e00"
MEAN: Final = "#0072b2"
WINDOW: Final = "#f2cf63"
LATE: Final = "#aa3377"
REFUSED: Final = "#009e73"

IN_THE_DARK: Final = {
    INK: "#e4e7ec",
    FAINT: "#39404b",
    READINGS: "#7c8798",
    MAX: "#ff8b3d",
    MEAN: "#5cb8f0",
    WINDOW: "#b8922a",
    LATE: "#ea8fc4",
    REFUSED: "#2fbf96",
}
