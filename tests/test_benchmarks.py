"""Every benchmark runs, at tiny size: what it prints is checked for its rows, never for speed."""

import importlib
import re
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture
def benchmark(monkeypatch):
    """A module of benchmarks/ whose programs are called in a single round."""
    monkeypatch.syspath_prepend(ROOT)

    def load(name, **sizes):
        module = importlib.import_module(f"benchmarks.{name}")
        once = partial(module.median_cpu_seconds, rounds=1)
        monkeypatch.setattr(module, "median_cpu_seconds", lambda programs, _=1: once(programs))
        for size, value in sizes.items():
            monkeypatch.setattr(module, size, value)
        return module

    yield load
    for name in [name for name in sys.modules if name.split(".")[0] in ("benchmarks", "examples")]:
        del sys.modules[name]


def numbers(text, *rows):
    """The numbers in each row that begins so; all are there, and above zero."""
    for row in rows:
        line = next(line for line in text.splitlines() if line.startswith(row))
        found = [float(n) for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", line.removeprefix(row))]
        assert found and all(number >= 0 for number in found) and max(found) > 0, line


def test_online_prediction(benchmark, capsys):
    module = benchmark("online_prediction", STEPS=200, BATCHES=(1, 2), BUDGET=900)
    for cell in [cell for cell in module.CELLS if cell not in ("LRU, RTRL", "GRU, T-BPTT 1")]:
        module.CELLS.pop(cell)
    module.report(ROOT)
    printed = capsys.readouterr().out
    numbers(printed, "straightforward", "1 seeds", "2 seeds", "Adam alone", "LRU, RTRL", "GRU, T-")
    # of the committed results
    assert re.search(
        r"Figure 2 at paper scale: \d+ runs of learners, about \d+ core-hours", printed
    )


def test_gradient_estimation(benchmark, capsys):
    module = benchmark("gradient_estimation", PARTICLES=4, ITERATIONS=10)
    module.TOY.update(steps=10)
    module.INFLUENCE.update(steps=10, evaluation_steps=10)
    module.report()
    numbers(capsys.readouterr().out, "ours", "evosax", "unrolls alone", "draws alone", "iterations")


def test_popgym(benchmark, capsys):
    sizes = {"COPIES": 4, "BATCH_STEPS": 3, "SINGLE_STEPS": 5, "PACKAGE_STEPS": 4}
    benchmark("popgym", **sizes).report(["RepeatFirst", "PositionOnlyPendulum"])
    printed = capsys.readouterr().out
    assert len(re.findall(r"^(RepeatFirst|PositionOnlyPendulum)Easy +\d+k", printed, re.M)) == 2


def test_brax(benchmark, capsys):
    benchmark("brax", STEPS={1: 2}, UNSEEN={}).report()
    numbers(capsys.readouterr().out, "reacher")


def test_control(benchmark, capsys):
    module = benchmark("control", ROLLOUT=64, WIDTH=4, SEEDS=(1, 2))
    module.TASKS.pop("ant-P")
    module.report()
    printed = capsys.readouterr().out
    numbers(
        printed,
        "  straightforward, 1 seed",
        "  recompute, 1 seed",
        "  stored, 2 seeds",
        "  memory of one seed, stored:",
        "  µs per step, recompute:",
        "  matrix products:",
    )
