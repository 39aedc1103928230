"""The text that comes with the suite, and its numbering."""

import numpy as np

from untruncated.datasets import english_text
from untruncated.datasets.characters import encode


def test_the_story_is_long_enough_and_plain():
    text = english_text.load()
    assert len(text) >= 10_001
    assert len(set(text)) <= 50
    assert text == text.lower() and " " not in text and "__" not in text
    assert text.endswith("echo.\n") and text.startswith("the_lock_keeper's_house_")
    assert "\n\n" not in text


def test_characters_are_numbered_as_they_appear():
    numbers, symbols = encode("abba_c\n")
    np.testing.assert_array_equal(numbers, [0, 1, 1, 0, 2, 3, 4])
    assert symbols == "ab_c\n"
    text = english_text.load()
    numbers, symbols = encode(text)
    assert "".join(symbols[number] for number in numbers) == text
