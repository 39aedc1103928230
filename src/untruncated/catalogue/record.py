"""Records: a component's fields, said once for the catalogue and for the component itself.

    Width = Annotated[int, Field(minimum=1, meaning="number of units")]

    @dataclass(frozen=True)
    class GRUFields(Record):
        inputs: int
        width: Width

A component is a subclass, so it has these arguments, with these defaults, and refuses what they do
not allow. What is not annotated with a `Field`, such as `inputs`, no YAML gives. No jax here.
"""

import dataclasses
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, get_args, get_origin, get_type_hints

from untruncated.catalogue.field import REQUIRED, Field


@dataclass(frozen=True)
class Record:
    """The arguments of a component, coerced and checked as those of a YAML are.

    Raises:
        CatalogueError: A field has a value that is not allowed.
    """

    def __post_init__(self) -> None:
        for name, field in fields_of(type(self)).items():
            object.__setattr__(self, name, field.coerce(getattr(self, name), name))


@cache
def fields_of(record: type) -> dict[str, Field]:
    """The fields of a dataclass: what is annotated with a `Field`, which also has type and default.

    A type such as `int | None` makes a field that may be null.
    """
    hints = get_type_hints(record, include_extras=True)
    defaults = {entry.name: entry.default for entry in dataclasses.fields(record)}
    return {
        name: _field(hints[name], REQUIRED if default is dataclasses.MISSING else default)
        for name, default in defaults.items()
        if get_origin(hints[name]) is Annotated
    }


def _field(hint: type, default: object) -> Field:
    annotated, field = get_args(hint)
    kinds = set(get_args(annotated) or [annotated])
    (kind,) = kinds - {NoneType}
    return dataclasses.replace(field, type=kind, default=default, nullable=NoneType in kinds)
