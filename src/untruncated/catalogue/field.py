"""One field of a component, and what is said of values that it may not have. No jax here."""

import difflib
import math
import re
import struct
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

REQUIRED = object()
# What runs can hold: a smaller float32 is flushed to zero by XLA.
SMALLEST_FLOAT, LARGEST_FLOAT = 2.0**-126, (2 - 2.0**-23) * 2.0**127
LARGEST_INTEGER = 2**31 - 1
# A number in a text: 010 might be meant as 8.
DECIMAL = r"[-+]?(0|[1-9][0-9_]*)?(\.[0-9_]*)?([eE][-+]?[0-9]+)?"


class CatalogueError(ValueError):
    """A name or a field that the catalogue does not allow; `where` is the field's dotted path."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(one_line(f"{where}: {problem}"))
        self.where = where
        self.problem = problem


@dataclass(frozen=True)
class Field:
    """One field of a component: type, default and allowed values.

    A field equal to its default is left out of a run's canonical form, so a default must never
    change: give a new meaning a new name or raise the component's `semantics`. A text that is
    `drawn` stands in a figure. A number is one that runs can hold, in 32 bits: what would overflow,
    vanish or round to an excluded bound is refused. In an annotation, the type and the default are
    those of what is annotated: see `catalogue.record`.
    """

    type: "type | None" = None
    default: Any = REQUIRED
    choices: tuple = ()
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    above: float | None = None
    multiple_of: int | None = None
    nullable: bool = False
    drawn: bool = False
    meaning: str = ""

    def __repr__(self) -> str:
        """What is said of it, and nothing else: it stands in signatures, as `help` shows them."""
        values = {entry.name: (getattr(self, entry.name), entry.default) for entry in fields(self)}
        said = [f"{name}={value!r}" for name, (value, usual) in values.items() if value != usual]
        return f"Field({', '.join(said)})"

    def coerce(self, value: Any, where: str) -> Any:
        """The value in the field's type, so that 1e-3, 0.001 and the string "1e-3" are one.

        Raises:
            CatalogueError: The value has the wrong type or is not allowed.
        """
        if value is None and self.nullable:
            return None
        value = coerce_type(value, self.type, where)
        if self.choices and value not in self.choices:
            raise CatalogueError(where, not_among(value, self.choices))
        self._check_bounds(value, where)
        if self.type in (int, float):
            self._check_held(value, where)
        return value

    def _check_bounds(self, value: Any, where: str) -> None:
        if self.below is not None and value >= self.below:
            raise CatalogueError(where, f"must be below {self.below}, not {value}")
        if self.above is not None and value <= self.above:
            raise CatalogueError(where, f"must be above {self.above}, not {value}")
        if self.minimum is not None and value < self.minimum:
            raise CatalogueError(where, f"must be at least {self.minimum}, not {value}")
        if self.maximum is not None and value > self.maximum:
            raise CatalogueError(where, f"must be at most {self.maximum}, not {value}")
        if self.multiple_of is not None and value % self.multiple_of:
            raise CatalogueError(where, f"must be a multiple of {self.multiple_of}, not {value}")

    def _check_held(self, value: float, where: str) -> None:
        """Refuses what 32 bits cannot hold, or hold as a value that is not allowed."""
        if self.type is int:
            if abs(value) > LARGEST_INTEGER:
                raise CatalogueError(where, f"must be at most {LARGEST_INTEGER}, not {value}")
            return
        if value and not SMALLEST_FLOAT <= abs(value) <= LARGEST_FLOAT:
            raise CatalogueError(
                where,
                f"must be 0 or of a size from {SMALLEST_FLOAT:.2g} to {LARGEST_FLOAT:.2g}, as "
                f"float32 holds it, not {value}",
            )
        (held,) = struct.unpack("f", struct.pack("f", value))
        for bound, side in ((self.below, "below"), (self.above, "above")):
            if bound is not None and held == bound:
                raise CatalogueError(where, f"must be {side} {bound} in float32, not {value}")


def coerce_type(value: Any, wanted: type, where: str) -> Any:
    """The value as a number, text or truth value, whatever its size.

    Raises:
        CatalogueError: It is of another type.
    """
    if wanted in (bool, str) or isinstance(value, bool):
        if wanted in (bool, str) and isinstance(value, wanted):
            return value
    elif not isinstance(value, str) or re.fullmatch(DECIMAL, value):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
            if math.isfinite(number) and (wanted is float or number == int(number)):
                return wanted(number)
    raise CatalogueError(where, f"must be {_NAMES[wanted]}, not {shown(value)}")


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def not_among(value: Any, allowed: Any, what: str = "value") -> str:
    """Says that a value is unknown, what is meant perhaps, and what is allowed."""
    names = [str(name) for name in allowed]
    nearest = difflib.get_close_matches(str(value), names, n=1)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return f"unknown {what} {shown(value)}{hint}. Allowed: {', '.join(names) or 'none'}"


def shown(value: Any) -> str:
    """What stands in a message for a value, however long that is."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:120]} … {text[-20:]}"


def one_line(text: str) -> str:
    """The text with the escapes of Python for line ends and all else that cannot be printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
