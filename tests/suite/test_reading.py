"""YAML that would hang, fill the memory or end in a traceback has its line instead."""

import pytest

from untruncated.suite.errors import SpecError
from untruncated.suite.reading import read_yaml

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
