"""Spoiled experiment files are read, or refused in one line; the file beside them is read."""

import random
import shutil
from pathlib import Path

import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.experiments.expansion import load_figure, load_figures
from untruncated.experiments.figures import SCALES

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(path.relative_to(EXPERIMENTS) for path in EXPERIMENTS.glob("*/*.yaml"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(EXPERIMENTS, tmp_path_factory.mktemp("spoiled") / "experiments")


@pytest.mark.parametrize("block", range(6))
def test_a_spoiled_file_is_read_or_refused(block, folder, spoil, one_line, of_seed):
    read = 0
    for seed in range(100 * block, 100 * block + 100):
        with of_seed(seed):
            rng = random.Random(seed)
            path = folder / rng.choice(FILES)
            whole = path.read_text()
            if rng.random() < 0.5:
                content = spoil(whole, seed)
            else:
                tree = spoil(yaml.safe_load(whole), seed)
                content = yaml.safe_dump(tree, allow_unicode=True, sort_keys=False)
                content = content.encode("utf-8", "surrogatepass")
            path.write_bytes(content)
            try:
                for scale in SCALES:
                    load_figure(path, scale)
                read += 1
            except SpecError as error:
                one_line(error)
            finally:
                path.write_text(whole)
    assert read < 50  # most changes are faults


def test_the_others_are_read_beside_it(folder, spoil, of_seed):
    (folder / "rtu" / "figure99.yaml").write_bytes(
        spoil(EXPERIMENTS.joinpath(FILES[0]).read_text(), 5)
    )
    for seed in range(3):
        with of_seed(seed):
            path = folder / FILES[seed * 7]
            whole = path.read_bytes()
            path.write_bytes(spoil(whole, seed))
            figures = load_figures(folder, "smoke")
            path.write_bytes(whole)
            assert len(figures) + len(figures.broken) == len(FILES) + 1
            assert len(figures) >= len(FILES) - 5  # those that borrow from it may go with it
