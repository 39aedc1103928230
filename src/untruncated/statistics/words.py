"""Numbers and lists as the pages write them, the same on every machine.

Everything is rounded twice, first to ten significant digits: sums that differ in their last bits
between machines are then written alike.
"""

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

_LAST_BITS = 10
_FIXED = range(-4, 9)  # powers of ten outside of these are written with an exponent
LEAST_P = 1e-4


def number(value: float, digits: int = 3) -> str:
    """`value` to so many significant digits: 0.0912, 14.6, 1,235, 2.5e-6; × if it is NaN."""
    if not math.isfinite(value):
        return _not_finite(value)
    exact = _exact(value)
    if not exact:
        return "0"
    rounded = exact
    for _ in range(2):  # 0.9996 becomes 1.000, which has a digit too many
        rounded = _to_place(rounded, rounded.adjusted() - digits + 1)
    if rounded.adjusted() not in _FIXED:
        mantissa = rounded.scaleb(-rounded.adjusted())
        return f"{mantissa:f}e{rounded.adjusted()}"
    return f"{rounded:,f}" if rounded.as_tuple().exponent < 0 else f"{int(rounded):,}"


def count(value: float) -> str:
    """A whole number, with a comma at the thousands."""
    return f"{round(value):,}"


def fixed(value: float, places: int) -> str:
    """`value` to so many places after the point."""
    if not math.isfinite(value):
        return _not_finite(value)
    rounded = _to_place(_exact(value), -places)
    return f"{rounded if rounded else abs(rounded):,f}"


def percent(share: float, digits: int = 2) -> str:
    """A share in per cent: 5.6 %."""
    return f"{number(100 * share, digits)} %"


def plus_minus(mean: float, error: float) -> str:
    """A mean ± its standard error: one digit of the error, two if the first is a 1, and as many
    places of the mean. Without an error (a single seed), or where it is 0, three digits."""
    if not math.isfinite(mean) or not math.isfinite(error) or not error:
        return number(mean)
    size = _exact(error)
    leading = size.scaleb(-size.adjusted())
    digits = 2 if leading < 2 else 1
    if mean and _exact(mean).adjusted() not in _FIXED:
        return f"{number(mean)} ± {number(error, digits)}"
    place = size.adjusted() - digits + 1
    center, around = (_to_place(_exact(part), place) for part in (mean, error))
    if place >= 0:
        return f"{int(center):,} ± {int(around):,}"
    return f"{center:,f} ± {around:,f}"


def step_size(value: float) -> str:
    """As the experiment files write it: 1e-3, 3e-4."""
    mantissa, exponent = f"{value:.10e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def p_value(p: float) -> str:
    """p = 0.0031, p < 0.0001."""
    return f"p < {LEAST_P:.4f}" if p < LEAST_P else f"p = {number(p, 2)}"


def listing(parts: Iterable[object], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    *first, end = [str(part) for part in parts]
    return f"{', '.join(first)} {last} {end}" if first else end


def span(values: Sequence[float], digits: int = 3) -> str:
    """From the smallest to the largest of some numbers, or the one that all of them round to."""
    ends = [number(float(end), digits) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def in_words(value: int) -> str:
    """A small number in words: no, one, … ten; larger ones in digits."""
    words = "no one two three four five six seven eight nine ten".split()
    return words[value] if 0 <= value < len(words) else count(value)


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.{_LAST_BITS}g}")


def _to_place(value: Decimal, place: int) -> Decimal:
    """`value` rounded to a multiple of 10 to the power of `place`."""
    return value.quantize(Decimal(1).scaleb(place), rounding=ROUND_HALF_EVEN)


def _not_finite(value: float) -> str:
    return "×" if math.isnan(value) else f"{'-' if value < 0 else ''}∞"
