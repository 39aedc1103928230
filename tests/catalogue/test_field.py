"""Numbers that a run could not hold are refused for every field, in one line."""

import pytest

from untruncated.catalogue import KINDS, CatalogueError
from untruncated.catalogue.field import LARGEST_INTEGER, REQUIRED, Field

FIELDS = {
    f"{kind} {name}.{key}": field
    for kind, entries in KINDS.items()
    for name, entry in entries.items()
    for key, field in entry.fields.items()
}
NUMERIC = {place: field for place, field in FIELDS.items() if field.type in (int, float)}
TOO_LARGE = {int: [2**31, -(2**40), 10**300], float: [1e300, -3.5e38, "4e38", 10**60]}
TOO_SMALL = {int: [], float: [1e-300, -1e-39, 5e-324, "1.1e-38"]}


def refused(field: Field, value: object) -> str:
    with pytest.raises(CatalogueError) as caught:
        field.coerce(value, "some.where")
    message = str(caught.value)
    assert message.startswith("some.where: must be ") and "\n" not in message
    return message


@pytest.mark.parametrize("place", NUMERIC)
def test_no_field_takes_a_number_that_32_bits_do_not_hold(place):
    field = NUMERIC[place]
    for value in (*TOO_LARGE[field.type], *TOO_SMALL[field.type], float("nan"), float("inf")):
        refused(field, value)
    for bound in (field.below, field.above):
        if bound:
            refused(field, bound + 1e-12 * (1 if bound == field.above else -1))


def test_defaults_are_what_their_fields_allow():
    assert len(NUMERIC) > 100
    for place, field in FIELDS.items():
        if field.default is not REQUIRED:
            assert field.coerce(field.default, place) == field.default


def test_what_is_next_to_a_bound_is_told_as_float32_sees_it():
    discount = Field(float, minimum=0, below=1)
    assert refused(discount, 1 - 1e-9).endswith("must be below 1 in float32, not 0.999999999")
    assert discount.coerce(1 - 1e-7, "x") == 1 - 1e-7
    assert discount.coerce(0, "x") == 0 and discount.coerce(1e-37, "x") == 1e-37
    assert "from 1.2e-38 to 3.4e+38" in refused(Field(float), 1e39)
    assert Field(float).coerce(3.4028234e38, "x") == 3.4028234e38
    assert Field(int).coerce(LARGEST_INTEGER, "x") == LARGEST_INTEGER
    assert refused(Field(int), 1e15).endswith(f"at most {LARGEST_INTEGER}, not 1000000000000000")


def test_a_message_is_one_line_however_long_and_strange_the_value():
    assert len(refused(Field(float), ["x" * 10_000])) < 300
    error = CatalogueError("a\nb\x1b", "\u2028 \ud800 é")
    assert str(error) == r"a\nb\x1b: \u2028 \ud800 é"


def test_a_field_is_shown_as_it_was_written():
    field = Field(float, 0.9, minimum=0, below=1, meaning="share")
    assert (
        repr(field)
        == "Field(type=<class 'float'>, default=0.9, minimum=0, below=1, meaning='share')"
    )
    assert repr(Field(choices=("a", "b"))) == "Field(choices=('a', 'b'))"
