"""Colours that stand for something can be told apart, by readers with a colour deficiency too.

Deficiencies are simulated by the matrices of G. M. Machado et al., "A physiologically-based model
for simulation of color vision deficiency" (2009), at full severity, and differences measured by
CIEDE2000 (G. Sharma et al., 2005).
"""

import re
from importlib.resources import files
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from typing import Final

import pytest

from logtriage.report.first_page import CRITERION_COLOURS

LEAST: Final = 15.0
#: Of graphics against what is behind them (WCAG 2.2, 1.4.11).
CONTRAST: Final = 3.0

Triple = tuple[float, float, float]
VISION: Final[dict[str, tuple[Triple, Triple, Triple]]] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
XYZ: Final = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def times(matrix: tuple[Triple, Triple, Triple], one: Triple) -> Triple:
    x, y, z = (sum(a * b for a, b in zip(row, one, strict=True)) for row in matrix)
    return x, y, z


def linear(colour: str) -> Triple:
    """The linear light of ``#rrggbb``."""
    raw = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in raw)
    return r, g, b


def lab(light: Triple) -> Triple:
    white = times(XYZ, (1, 1, 1))
    shares = [one / most for one, most in zip(times(XYZ, light), white, strict=True)]
    x, y, z = (
        one ** (1 / 3) if one > 216 / 24389 else (24389 / 27 * one + 16) / 116 for one in shares
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Triple, other: Triple) -> float:
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    middle = (hypot(a1, b1) + hypot(a2, b2)) / 2
    grey = 1 + 0.5 * (1 - sqrt(middle**7 / (middle**7 + 25**7)))
    c1, c2 = hypot(grey * a1, b1), hypot(grey * a2, b2)
    h1, h2 = degrees(atan2(b1, grey * a1)) % 360, degrees(atan2(b2, grey * a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    mean = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * cos(radians(mean - 30))
        + 0.24 * cos(radians(2 * mean))
        + 0.32 * cos(radians(3 * mean + 6))
        - 0.20 * cos(radians(4 * mean - 63))
    )
    sl = 1 + 0.015 * (lightness - 50) ** 2 / sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    bend = -2 * sqrt(chroma**7 / (chroma**7 + 25**7))
    bend *= sin(radians(60 * exp(-(((mean - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return sqrt(dl**2 + dc**2 + dh**2 + bend * dc * dh)


def seen(colour: str, vision: str) -> Triple:
    r, g, b = (min(1.0, max(0.0, one)) for one in times(VISION[vision], linear(colour)))
    return lab((r, g, b))


def variables(*names: str) -> tuple[dict[str, str], dict[str, str]]:
    """The colours that the page's styles name, by light and by dark scheme."""
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for name in names:
        text = files("logtriage.report").joinpath(name).read_text("utf-8")
        for match in re.finditer(r"(@media[^{]*dark\) \{\s*)?:root \{(.*?)\}", text, re.S):
            found = re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", match[2])
            (dark if match[1] else light).update(found)
    return light, dark


SCHEMES: Final = dict(
    zip(("light", "dark"), variables("replay/replay.css", "replay/figures.css"), strict=True)
)
CRITERIA: Final = tuple(f"--c{number}" for number in range(10))
STATES: Final = ("--alert", "--signs", "--calm")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [  # from the test data of Sharma et al.
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_ciede2000(one: Triple, other: Triple, expected: float) -> None:
    assert difference(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("names", [CRITERIA, STATES], ids=["criteria", "states"])
def test_every_pair_can_be_told_apart(vision: str, scheme: str, names: tuple[str, ...]) -> None:
    colours = {name: seen(SCHEMES[scheme][name], vision) for name in names}
    close = {
        pair: round(difference(colours[pair[0]], colours[pair[1]]), 1)
        for pair in combinations(names, 2)
        if difference(colours[pair[0]], colours[pair[1]]) <= LEAST
    }
    assert close == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_criteria_stand_out_from_the_card(scheme: str) -> None:
    def luminance(name: str) -> float:
        return times(XYZ, linear(SCHEMES[scheme][name]))[1] + 0.05

    card = luminance("--card")
    contrasts = {name: max(card, luminance(name)) / min(card, luminance(name)) for name in CRITERIA}
    assert {name: one for name, one in contrasts.items() if one < CONTRAST} == {}


def test_there_are_as_many_as_the_plots_use() -> None:
    assert len(CRITERIA) == CRITERION_COLOURS
