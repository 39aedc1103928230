"""The page of fields: every field of the catalogue, in words."""

from pathlib import Path

import pytest

from untruncated.catalogue import Field
from untruncated.experiments.field_tables import allowed, field_page

ROOT = Path(__file__).parents[2]


def test_the_committed_page_is_the_catalogues():
    text = (ROOT / "docs" / "fields.md").read_text(encoding="utf-8")
    assert text == field_page(), "make it anew with: make docs"


def test_a_row_says_what_a_field_may_be():
    rows = field_page().splitlines()
    assert "| `linear_rtu`, `nonlinear_rtu` | `width` | whole number from 1 on | – " in "\n".join(
        rows
    )
    assert (
        "| `sgd` | `momentum` | number from 0, below 1 | 0 | share of the last step"
        in "\n".join(rows)
    )
    assert "| `rtrl`, `dense_rtrl`, `bptt` |  |  |  |  |" in rows


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (Field(int, minimum=2, multiple_of=2), "whole number from 2 on, a multiple of 2"),
        (Field(float, above=0, maximum=1), "number above 0, to 1"),
        (Field(float, minimum=0, maximum=1e18), "number from 0 to 1e+18"),
        (Field(int, None, minimum=1, nullable=True), "whole number from 1 on, `null`"),
        (Field(str, choices=("a", "b")), "`a`, `b`"),
        (Field(bool), "`true`, `false`"),
        (Field(str), "text"),
        (Field(float), "number"),
    ],
    ids=str,
)
def test_bounds_in_words(field, words):
    assert allowed(field) == words
