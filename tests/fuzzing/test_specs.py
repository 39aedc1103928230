"""Spoiled specs are resolved, to one name for good, or refused in one line."""

import json
import random
from pathlib import Path

import pytest

from untruncated.basics.errors import SuiteError
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.finding import Runs, find_run
from untruncated.experiments.spec import resolve_run

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def specs():
    figures = load_figures(EXPERIMENTS, "small").values()
    return sorted({run.json for figure in figures for run in figure.runs.values()})


@pytest.mark.parametrize("block", range(5))
def test_a_spoiled_spec_is_resolved_or_refused(block, specs, spoil, one_line, of_seed):
    runs, resolved = Runs(EXPERIMENTS), 0
    for seed in range(3000 * block, 3000 * block + 3000):
        with of_seed(seed):
            rng = random.Random(seed)
            whole = json.loads(rng.choice(specs))
            if rng.random() < 0.3:
                text = spoil(json.dumps(whole, indent=1), seed)
                text = text.decode("utf-8", "surrogateescape")  # as an argument arrives
            else:
                text = json.dumps(spoil(whole, seed))
            try:
                run, _ = find_run(text, runs)
            except SuiteError as error:
                one_line(error)
            else:
                assert resolve_run(json.loads(run.json)).hash == run.hash
                resolved += 1
    assert resolved < 1000
