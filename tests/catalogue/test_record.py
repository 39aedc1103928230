"""Records: what an annotation says of a field, and what their arguments may not be."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pytest

from untruncated.catalogue import CatalogueError, Field, Record, fields_of
from untruncated.catalogue.field import REQUIRED

Size = Annotated[int, Field(minimum=1, meaning="numbers")]


@dataclass(frozen=True)
class Parent(Record):
    given: Any
    size: Size
    rate: Annotated[float | None, Field(below=1)] = None
    form: Annotated[str, Field(choices=("a", "b"))] = "a"


@dataclass(frozen=True)
class Child(Parent):
    form: Annotated[str, Field(choices=("a", "b", "c"))] = "c"
    more: "Annotated[bool, Field(meaning='as a text')]" = True


def test_type_default_and_null_come_from_what_is_annotated():
    assert fields_of(Parent) == {
        "size": Field(int, minimum=1, meaning="numbers"),
        "rate": Field(float, None, below=1, nullable=True),
        "form": Field(str, "a", choices=("a", "b")),
    }
    assert fields_of(Parent)["size"].default is REQUIRED


def test_a_subclass_has_its_own_default_in_the_parents_place():
    assert list(fields_of(Child)) == ["size", "rate", "form", "more"]
    assert Child(None, 2) == Child(None, 2, None, "c", True)
    assert fields_of(Child)["more"] == Field(bool, True, meaning="as a text")
    assert Parent(None, 2).form == "a"


def test_arguments_are_coerced_as_those_of_a_file():
    made = Parent("whatever", np.int64(3), "1e-3")
    assert type(made.size) is int and made.rate == 1e-3 and type(made.rate) is float
    assert made == Parent("whatever", 3, 0.001) and hash(made) == hash(Parent("whatever", 3, 1e-3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size: must be at least 1, not 0"),
        ({"size": 1.5}, "size: must be a whole number, not 1.5"),
        ({"size": None}, "size: must be a whole number, not None"),
        ({"rate": 1}, "rate: must be below 1, not 1.0"),
        ({"form": "c"}, "form: unknown value 'c'. Allowed: a, b"),
    ],
)
def test_what_is_not_allowed_is_refused_in_one_line(arguments, message):
    with pytest.raises(CatalogueError) as caught:
        Parent(**{"given": None, "size": 1} | arguments)
    assert str(caught.value) == message
    with pytest.raises(ValueError):
        replace(Parent(None, 1), **arguments)
