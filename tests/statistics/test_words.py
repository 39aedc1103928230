"""How numbers are written."""

import math

import pytest

from untruncated.statistics import words


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.09123, 3, "0.0912"),
        (14.649, 3, "14.6"),
        (2422.97, 3, "2,420"),
        (2422.97, 4, "2,423"),
        (62743.2, 2, "63,000"),
        (752.0, 2, "750"),
        (0.9996, 3, "1.00"),
        (2.46e-7, 2, "2.5e-7"),
        (9.99e-5, 2, "0.00010"),
        (-0.0312, 2, "-0.031"),
        (3.53e15, 2, "3.5e15"),
        (999_999_999.0, 3, "1.00e9"),
        (0.0, 3, "0"),
        (math.nan, 3, "×"),
        (math.inf, 3, "∞"),
    ],
)
def test_numbers(value, digits, text):
    assert words.number(value, digits) == text


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (0.0912, 0.0067, "0.091 ± 0.007"),
        (0.1239, 0.0187, "0.124 ± 0.019"),
        (0.1239, 0.0199, "0.124 ± 0.020"),
        (752.3, 29.7, "750 ± 30"),
        (7523.4, 12.1, "7,523 ± 12"),
        (1.883e-5, 6e-7, "1.88e-5 ± 6e-7"),
        (0.1239, math.nan, "0.124"),
        (0.1239, 0.0, "0.124"),
        (math.nan, math.nan, "×"),
    ],
)
def test_means_and_errors(mean, error, text):
    assert words.plus_minus(mean, error) == text


def test_the_last_bits_of_a_number_do_not_change_its_text():
    for tie in (0.0125, 2.5, 1.05, 0.375):
        neighbours = [math.nextafter(tie, side) for side in (-math.inf, math.inf)]
        for digits in (1, 2):
            assert len({words.number(value, digits) for value in (tie, *neighbours)}) == 1
        assert len({words.plus_minus(value, 0.1) for value in (tie, *neighbours)}) == 1


def test_lists_ranges_and_probabilities():
    assert words.listing(["a"]) == "a"
    assert words.listing(["a", "b"]) == "a and b"
    assert words.listing([1, 2, 3], "or") == "1, 2 or 3"
    assert words.span([0.0769, 0.0751, 0.076]) == "0.0751 to 0.0769"
    assert words.span([0.07501, 0.07499], 2) == "0.075"
    assert words.p_value(0.0031) == "p = 0.0031"
    assert words.p_value(0.00009) == "p < 0.0001"
    assert words.step_size(0.003) == "3e-3"
    assert words.step_size(0.01) == "1e-2"
    assert words.percent(0.0563) == "5.6 %"
    assert words.count(10504.0) == "10,504"
    assert (words.in_words(5), words.in_words(11)) == ("five", "11")
    assert (words.fixed(-1.005, 1), words.fixed(-0.001, 2)) == ("-1.0", "0.00")
