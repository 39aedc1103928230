"""YAML that would hang, fill the memory or end in a traceback has its line instead."""

import math
import re

import pytest

from untruncated.basics.errors import SpecError
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import Field
from untruncated.experiments.reading import read_yaml

BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60))])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("curves: &c {again: *c}", "line 1, column 9"),
        ("x: 1\ny: &y\n  - 1\n  - [*y]\n", "its aliases make more than"),
        (BOMB, "its aliases make more than 100000 values"),
        ("steps: " + "7" * 6000, "'7777777777777777777777777777777777777777' is no int"),
        ("[" * 30_000, "not valid YAML"),
        ("{a: " * 5_000, "not valid YAML"),
    ],
)
def test_one_line_names_the_file_and_what_is_wrong(text, words, tmp_path):
    path = tmp_path / "figure3.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        read_yaml(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert words in message
    assert "\n" not in message
    assert len(message) < 300 + len(str(path))


def test_aliases_that_are_used_as_meant_are_read(tmp_path):
    path = tmp_path / "figure3.yaml"
    path.write_text("a: &a {steps: 3}\nb: *a\nc: {<<: *a, seeds: [1, 2]}\n")
    steps = {"steps": 3}
    assert read_yaml(path) == {"a": steps, "b": steps, "c": {**steps, "seeds": [1, 2]}}
    path.write_text("")
    assert read_yaml(path) is None


@pytest.mark.parametrize(
    "text",
    "017 -08 0_7 0o17 0b11 0x2F +0x1 2:45 12:30:59 1:20.5 yes No ON off y".split(),
)
def test_what_yaml_would_take_for_another_value_is_a_text_that_no_number_or_truth_is_made_of(
    text, tmp_path
):
    path = tmp_path / "figure3.yaml"
    path.write_text(f"{text}: [{text}, '{text}']\n")
    assert read_yaml(path) == {text: [text, text]}
    for kind in (int, float, bool):
        with pytest.raises(CatalogueError, match=rf"^x: must be .*, not {re.escape(repr(text))}$"):
            Field(kind).coerce(text, "x")
    path.write_text(f"steps: !!int {text}\n")
    with pytest.raises(
        SpecError, match=rf":  ?line 1, column 8:.*{re.escape(repr(text))} is no int"
    ):
        read_yaml(path)


def test_decimal_numbers_and_truths_are_read_as_ever(tmp_path):
    path = tmp_path / "figure3.yaml"
    path.write_text("[0, -3, +4, 1_000, 15_0.5, 00.5, 1.5e-3, .5, true, FALSE, 1e-3, .inf, 2_0e1]")
    read = read_yaml(path)
    expected = [0, -3, 4, 1000, 150.5, 0.5, 0.0015, 0.5, True, False, "1e-3", math.inf, "2_0e1"]
    assert read == expected
    numbers = [value for value in read if not isinstance(value, bool) and value != math.inf]
    coerced = [Field(float).coerce(value, "x") for value in numbers]
    assert coerced == [0, -3, 4, 1000, 150.5, 0.5, 0.0015, 0.5, 0.001, 200]
