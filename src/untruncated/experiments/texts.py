"""Texts that stand in a figure: filled with numbers of its runs, and checked before anything runs.

In `T = {truncation}` the braces stand for what the runs have, so that no scale is given the number
of another. Between two $ stands matplotlib's mathematics, in which braces keep their meaning.
"""

import re
import string
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from untruncated.basics.matplotlib_settings import ignore_users_settings
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import not_among
from untruncated.experiments.figures import Point

# Characters that need not be looked up: importing matplotlib takes longer than all other checks.
KNOWN = frozenset("°±²³·×ΓΔΘΛΣΦΨΩαβγδεζηθκλμνξπρστφχψω–—‘’“”…₀₁₂₃₄ᵀ→∂∇∈−∞≈≠≤≥√△▽")
# What stands between two $ that are not escaped.
MATHEMATICS = re.compile(r"((?<!\\)\$.*?(?<!\\)\$)", flags=re.DOTALL)


def figure_text(text: str, points: Iterable[Point], where: str, *, in_legend: bool = False) -> str:
    """A text as it stands in a figure that shows the points.

    Raises:
        CatalogueError: It names what no run has, or matplotlib cannot draw it.
    """
    values = run_values(points) if "{" in text else {}
    return drawable(filled(text, values, where), where, in_legend=in_legend)


def run_values(points: Iterable[Point]) -> dict[str, list[Any]]:
    """What a text may name: every field of the points' runs, and in what values it occurs.

    A component stands for its name. A sweep variable comes before a field of the same name.
    """
    found: dict[str, list[Any]] = {}
    for point in points:
        components = {k: v for k, v in point.fields.items() if isinstance(v, Mapping)}
        pairs = [pair for part in components.values() for pair in part.items() if pair[0] != "name"]
        pairs += [(kind, part["name"]) for kind, part in components.items() if "name" in part]
        pairs += [pair for pair in point.fields.items() if isinstance(pair[1], int | float | str)]
        pairs = [pair for pair in pairs if pair[0] not in point.sweep]
        for name, value in (*pairs, *point.sweep.items()):
            if isinstance(value, int | float | str) and value not in found.setdefault(name, []):
                found[name].append(value)
    return {name: sorted(values, key=_order) for name, values in found.items()}


def _order(value: Any) -> tuple:
    return (1, value) if isinstance(value, str) else (0, value)


def filled(text: str, values: Mapping[str, list[Any]], where: str) -> str:
    """The text with the values in place of the fields that it names in braces.

    Several values stand one after the other, between commas; what follows a colon is how each is
    written, as in Python: `{steps:,}` gives 2,000.

    Raises:
        CatalogueError: It names what no run has, or its braces do not close.
    """
    parts = MATHEMATICS.split(text)
    return "".join(
        part if index % 2 else _filled(part, values, where) for index, part in enumerate(parts)
    )


def _filled(text: str, values: Mapping[str, list[Any]], where: str) -> str:
    written = []
    try:
        for before, name, style, conversion in string.Formatter().parse(text):
            written.append(before)
            if name is None:
                continue
            if name not in values or conversion:
                raise CatalogueError(
                    where,
                    f"{text!r} names a field that no run has: "
                    f"{not_among(name, sorted(values), 'field')}; a brace itself is {{{{ or }}}}",
                )
            written.append(", ".join(format(value, style) for value in values[name]))
    except CatalogueError:
        raise
    except ValueError as error:
        raise CatalogueError(
            where, f"{text!r} cannot be filled in: {error}; a brace itself is {{{{ or }}}}"
        ) from error
    return "".join(written)


def drawable(text: str, where: str, *, in_legend: bool = False) -> str:
    """The text, if matplotlib can draw it, and in a legend shows it.

    Raises:
        CatalogueError: Says what cannot be drawn.
    """
    if in_legend and text.startswith("_"):
        raise CatalogueError(where, f"{text!r} begins with _, which keeps it out of the legend")
    problem = _problem(text)
    if problem:
        raise CatalogueError(where, problem)
    return text


@cache
def _problem(text: str) -> str:
    """Why a text cannot be drawn; empty if it can."""
    for character in text:
        known = character in KNOWN or " " <= character <= "~"
        if not known and ord(character) not in glyphs():
            return f"{text!r} has {character!a}, which the figures' font cannot draw"
    if len(re.findall(r"(?<!\\)\$", text)) % 2:
        return rf"{text!r} has a $ without its partner: mathematics stands between two, a $ is \$"
    if not MATHEMATICS.search(text):
        return ""
    import matplotlib
    from matplotlib.mathtext import MathTextParser

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        try:
            MathTextParser("path").parse(text)
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1]
            return f"{text!r} is not mathematics that matplotlib can draw: {reason}"
    return ""


@cache
def glyphs() -> frozenset[int]:
    """The characters of the figures' font."""
    ignore_users_settings()
    import matplotlib
    from matplotlib.ft2font import FT2Font

    font = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    return frozenset(FT2Font(str(font)).get_charmap())
