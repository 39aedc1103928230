"""The session of a newcomer follows the pages: nothing is left out unsaid."""

from pathlib import Path

import pytest
from ci_scripts import ci_script

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def newcomer():
    return ci_script("newcomer")


PAGE = """
Say `make all`, or `make` alone, in `src/`:

```sh
make one   # a comment
export A=b
```

```python
# own/parts.py
x = 1
```

```python
print(inputs)
```

Then `untruncated run <hash>` and `make bench`.
"""


def test_commands_are_those_of_the_page_in_its_order(newcomer):
    *shell, code, run, bench = newcomer.commands(PAGE)
    assert shell == ["make all", "make one", "export A=b"]
    assert code.endswith("print(inputs)\nPYTHON")
    assert (run, bench) == ("untruncated run <hash>", "make bench")
    script = newcomer.script(PAGE, "f00d")
    assert "\nuntruncated run f00d\n" in script
    assert "bench" not in script


def test_files_are_written_with_their_packages(newcomer, tmp_path):
    assert newcomer.files(PAGE) == {"own/parts.py": "# own/parts.py\nx = 1\n"}
    newcomer.write(PAGE, tmp_path)
    assert (tmp_path / "own" / "parts.py").read_text().endswith("x = 1\n")
    assert (tmp_path / "own" / "__init__.py").exists()


def test_every_command_is_run_or_left_out_for_a_reason(newcomer):
    pages = [(ROOT / name).read_text() for name in newcomer.PAGES]
    shown = {command for page in pages for command in newcomer.commands(page)}
    named = set(newcomer.SKIPPED) | set(newcomer.MEANT)
    assert named <= shown, "no page has this any more"
    for page in pages:
        script = newcomer.script(page, "f00d")
        assert "<" not in script.replace("<<'PYTHON'", ""), "say in MEANT what stands for this"
        for command in set(newcomer.commands(page)) - named:
            assert command.replace("<hash>", "f00d") in script
