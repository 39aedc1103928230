"""Numbers in captions, templates and the README are those of the results or of theory."""

import re
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from untruncated.catalogue import lookup
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.environments.trace_conditioning_optimal import constant_msre, memoryless_msre
from untruncated.experiments.expansion import load_figures
from untruncated.problems import CharacterLSTM
from untruncated.results.result_files import read_result

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results" / "runs"
SCALES = ("smoke", "small", "paper")
FIGURES = {scale: load_figures(ROOT / "experiments", scale) for scale in SCALES}
README = (ROOT / "README.md").read_text()
TEMPLATES = {path.name: path.read_text() for path in (ROOT / "docs" / "templates").iterdir()}


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_character_model_and_its_error_at_one_unroll():
    """(P + 1)/(N/2), as the paper has it."""
    theta = jax.eval_shape(CharacterLSTM().initial_theta, jax.random.key(0))
    parameters = sum(leaf.size for leaf in jax.tree.leaves(theta))
    for name in ("pes_figure3", "pes_figure16", "pes_figure18"):
        caption = FIGURES["small"][name].caption
        assert f"LSTM of {parameters} parameters" in caption
        particles = {run.fields["estimator"]["particles"] for run in _runs("small", name)} - {5000}
        assert particles == {1000}
        plots = [panel.plot for panel in FIGURES["small"][name].panels.values()]
        assert {plot["parameters"] for plot in plots} <= {parameters, None}
    assert f"number({parameters + 1} / 500)" in TEMPLATES["pes.md"]


def test_the_loss_of_the_schedule_that_is_caught():
    panel = FIGURES["small"]["pes_figure10"].panels["a"]
    (point,) = [point for point in panel.points if point.curve == "caught"]
    loss = read_result(RUNS / f"{point.finals[0].hash}.json").metrics["loss"].values
    caption = FIGURES["small"]["pes_figure10"].caption
    assert words(caption).endswith(f"caught at x₁ near π pays {float(loss.mean()):,.0f}.")


def test_the_best_constant_prediction():
    constant = constant_msre(TraceConditioning(30), 0.966)
    assert f"best constant {constant:.3f}" in words(TEMPLATES["figure2.md"])


def _runs(scale: str, figure: str):
    return FIGURES[scale][figure].runs.values()


def _expected_row(scale: str) -> list[str]:
    runs = _runs(scale, "rtu_figure2")
    tuned = [run for run in runs if len(run.fields.get("step_sizes", ())) > 1]
    (steps,) = {run.fields["steps"] for run in runs}
    (sizes,) = {len(run.fields["step_sizes"]) for run in tuned}
    blocks = sorted({len(run.fields["seeds"]) for run in tuned})
    finals = {seed for run in runs if run not in tuned for seed in run.fields["seeds"]}
    seeds = " or ".join(map(str, blocks))
    return [f"{steps:,}", f"{sizes} × {seeds}", str(len(finals)), str(len(runs))]


@pytest.mark.parametrize("scale", FIGURES)
def test_what_to_expect_of_figure_2(scale):
    """Steps, step sizes, seeds and runs in the README's table, by the experiment file."""
    (row,) = re.findall(rf"^\| `{scale}`[^|]*\|(.*)\|$", README, re.MULTILINE)
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[:4] == _expected_row(scale)


def test_what_figure_2_costs(monkeypatch):
    """By the timings in the result files, at scale paper as `make bench` projects it."""
    spent = [read_result(RUNS / f"{run.hash}.json").timing for run in _runs("small", "rtu_figure2")]
    hours = sum(t["run_cpu_seconds"] + t["compile_seconds"] for t in spent) / 3600
    stated = re.search(r"\| ([\d.]+) core-hours; the results are included", README)
    assert float(stated[1]) == pytest.approx(hours, rel=0.15)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks.online_prediction import projection

    runs, hours = projection(ROOT)
    learners = [r for r in _runs("paper", "rtu_figure2") if "learner" in r.fields]
    assert runs == len(learners)
    stated = re.search(r"about (\d+) core-hours, projected", README)
    assert float(stated[1]) == pytest.approx(hours, rel=0.15)


# Of control, RTU paper, Table 1.
LARGEST_RATE = max(
    size
    for run in _runs("paper", "rtu_companion_repeat_previous")
    for size in run.fields.get("step_sizes", ())
)
# What a reason for a step size at the edge of its grid says, and whether the tuning run has it so.
NEAR = 0.06
REASONS = {
    r"within a standard error of ([\d.e-]+)": lambda c, size: c.distance(float(size)) <= 1,
    r"within two standard errors of ([\d.e-]+)": lambda c, size: c.distance(float(size)) <= 2,
    r"as good as ([\d.e-]+)": lambda c, size: c.distance(float(size)) <= 1,
    r"at the level of the best memoryless prediction": lambda c: (
        abs(c.means[c.chosen] / c.memoryless - 1) < NEAR
    ),
    r"learns nothing": lambda c: c.means[c.chosen] > (1 - NEAR) * c.constant,
    r"learns slowly": lambda c: c.late[c.chosen] < c.means[c.chosen],
    r"a smaller step size may do better; see docs/figure2.md": lambda c: c.chosen == 0,
    r"all three predict state 3's successor 99.8 % of the time or more": (
        lambda c: c.accuracies.min() >= 0.998
    ),
    r"diverges with every step size of the grid": lambda c: np.isnan(c.means).all(),
    r"the largest learning rate of the paper's grid": lambda c: c.size == LARGEST_RATE,
    r"diverges with every larger one": lambda c: np.isnan(np.delete(c.means, c.chosen)).all(),
}


class Choice:
    """A tuning result, and which step size it leads to."""

    def __init__(self, point):
        self.result = read_result(RUNS / f"{point.tuning.hash}.json")
        objective = lookup("program", point.fields["program"], "program").objective
        self.scores = self.result.metrics[objective.name].values.astype(float)
        self.means = self.scores.mean(axis=1)
        sizes = self.result.axes["step_size"]
        final = read_result(RUNS / f"{point.finals[0].hash}.json")
        self.size = final.choices["step_size"]
        self.chosen = sizes.index(self.size)
        environment = point.fields.get("environment", {})
        if environment.get("name") == "trace_conditioning":
            task = TraceConditioning(environment["interval"])
            discount = point.fields["learner"]["discount"]
            self.constant = constant_msre(task, discount)
            self.memoryless = memoryless_msre(task, discount)

    @property
    def late(self):
        return self.result.metrics["msre_last_tenth"].values.mean(axis=1)

    @property
    def accuracies(self):
        return self.result.metrics["accuracy_last_tenth"].values

    def distance(self, size: float) -> float:
        """How many standard errors of the difference the mean at `size` is above the chosen one."""
        (other,) = np.flatnonzero(np.isclose(self.result.axes["step_size"], size))
        errors = self.scores.std(axis=1, ddof=1) / np.sqrt(self.scores.shape[1])
        return (self.means[other] - self.means[self.chosen]) / np.hypot(
            errors[other], errors[self.chosen]
        )


EDGES = {
    f"{name}: {point.configuration}": point
    for name, figure in FIGURES["small"].items()
    for panel in figure.panels.values()
    for point in panel.points
    if point.edge and point.finals
}


@pytest.mark.parametrize("name", EDGES)
def test_the_reason_for_a_step_size_at_the_edge_is_so(name):
    point = EDGES[name]
    choice = Choice(point)
    for part in re.split(r", (?=learns)", point.edge):
        holds = [
            check(choice, *found.groups())
            for pattern, check in REASONS.items()
            if (found := re.fullmatch(pattern, part))
        ]
        assert holds, f"{part!r} is none of the reasons that this test knows"
        assert all(holds), f"{part!r} is not so"
