"""What a template reads from a table made by hand."""

import csv
import math

import pytest

from untruncated.basics.errors import ResultError
from untruncated.pages.figures import Figures
from untruncated.tables.panel_tables import COLUMNS


def row(curve, seed, value, **fields):
    defaults = {"stage": "final", "metric": "msre", "label": curve.upper(), "diverged": value == ""}
    return {"curve": curve, "seed": seed, "value": value, **defaults, **fields}


ROWS = [
    *(row("gru", seed, 0.1 * seed, x=5, width=7, step_size=1e-3) for seed in (1, 2, 3)),
    *(row("gru", seed, 0.2, x=45.0, width=1, step_size=3e-3) for seed in (1, 2, 3)),
    row("gru", 0, 0.9, x=5, width=7, stage="tuning", step_size=1e-3),
    row("gru", 0, "", x=5, width=7, stage="tuning", step_size=1e-2),
    row("1.0", 1, 0.5, x=5),
    row("1.0", 2, "", x=5),
    *(row("gru", seed, 9.0, x=5, metric="other") for seed in (1, 2)),
    *(
        row("gru", seed, value, metric="loss_curve", curve_step=step)
        for seed, values in {1: (8, 4, 2, 1), 2: (8, 9, 7, 6)}.items()
        for step, value in zip((10, 20, 30, 40), values, strict=True)
    ),
    row("gru", "", 1e-6, metric="seconds", repeat=0),
    row("gru", "", 3e-6, metric="seconds", repeat=1),
    row("baseline", "", 0.0195, metric="msre_exact", stage="baseline"),
]


@pytest.fixture
def figures(tmp_path):
    with open(tmp_path / "made1a.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(ROWS)
    return Figures(tmp_path)


def test_a_configuration_of_the_final_stage(figures):
    sample = figures.final("made1a", "gru", x=5)
    assert sample.values == pytest.approx((0.1, 0.2, 0.3))
    assert (sample.x, sample.width, sample.step_size, sample.label) == (5, 7, 1e-3, "GRU")
    assert figures.final("made1a", "gru", x=45).values == (0.2,) * 3


def test_a_sweep_a_diverged_seed_and_tuning(figures):
    assert [s.x for s in figures.sweep("made1a", "gru")] == [5, 45]
    lost = figures.final("made1a", "1.0")
    assert (lost.seeds, lost.diverged, lost.mean) == (2, 1, 0.5)
    sizes = figures.step_sizes("made1a", "gru")
    assert [(s.step_size, s.diverged) for s in sizes] == [(1e-3, 0), (1e-2, 1)]
    assert figures.tuning("made1a", "gru", step_size=1e-3).mean == 0.9


def test_single_numbers_columns_and_curves(figures):
    assert figures.single("made1a", "msre_exact") == 0.0195
    assert figures.curves("made1a") == ["gru", "1.0"]
    assert figures.column("made1a", "step_size") == [1e-3, 3e-3, 1e-2]
    assert figures.final("made1a", "gru", "seconds").values == (1e-6, 3e-6)


def test_learning_curves(figures):
    assert figures.along("made1a", "gru", "loss_curve").loc[20].tolist() == [4, 9]
    first = figures.first_below("made1a", "gru", "loss_curve", 4.4)
    assert first.values[0] == 20 and math.isnan(first.values[1])
    assert str(first) == "20.0 (1 of 2 never below 4)"
    assert figures.at_step("made1a", "gru", "loss_curve", 11).values == (4, 9)
    assert figures.at_step("made1a", "gru", "loss_curve", 20).values == (4, 9)
    assert figures.at_step("made1a", "gru", "loss_curve", 99).x == 40
    assert figures.last_part("made1a", "gru", "loss_curve", 0.5).values == (1.5, 6.5)
    assert figures.last_part("made1a", "gru", "loss_curve").values == (1, 6)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda f: f.final("made1b", "gru"), r"made1b\.csv: cannot be read.*table made1b"),
        (lambda f: f.final("made1a", "grru"), "made1a.*: unknown curve 'grru'.*did you mean 'gru'"),
        (lambda f: f.final("made1a", "gru", "msr", x=5), "unknown metric 'msr'.*'msre'"),
        (lambda f: f.final("made1a", "gru", x=6), r"unknown x '6'.*5, 45"),
        (lambda f: f.final("made1a", "gru", colour=6), "unknown column 'colour'"),
        (lambda f: f.final("made1a", "gru"), r"several values a seed; choose x among 5, 45"),
        (lambda f: f.single("made1a", "other", seed=1), None),
        (lambda f: f.single("made1a", "msre"), "msre has 6 values, not one"),
        (lambda f: f.along("made1a", "gru", "msre"), "msre is no curve"),
    ],
)
def test_what_is_not_there_is_told(figures, ask, message):
    if message is None:
        assert ask(figures) == 9.0
        return
    with pytest.raises(ResultError, match=message):
        ask(figures)
