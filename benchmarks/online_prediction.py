"""Speed of online prediction: µs per step and seed, on one core."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from examples import td_lambda_rtu

from benchmarks.timing import Program, elementwise_bound, matmul_bound, median_cpu_seconds
from untruncated.agents.adam import adam_with_corrections, bias_corrections
from untruncated.agents.heads import init_predictor, make_head
from untruncated.basics.errors import ResultError
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.padding import padded_width
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.figures import Point
from untruncated.experiments.spec import resolve_run
from untruncated.experiments.widths import component, flops, resolve_width
from untruncated.programs.compiling import ONLINE_LEARNING
from untruncated.programs.online_prediction import build
from untruncated.results.result_files import read_result

BUDGET, INPUTS, STEPS = 15_000, 12, 4000
BATCHES = (1, 5, 10, 15)
CELLS = {
    "linear RTU, RTRL": ("linear_rtu", "rtrl"),
    "nonlinear RTU, RTRL": ("nonlinear_rtu", "rtrl"),
    "LRU, RTRL": ("lru", "rtrl"),
    "GRU, T-BPTT 1": ("gru", {"name": "truncated_bptt", "truncation": 1}),
    "GRU, T-BPTT 15": ("gru", {"name": "truncated_bptt", "truncation": 15}),
    "GRU, T-BPTT 45": ("gru", {"name": "truncated_bptt", "truncation": 45}),
    "LRU, T-BPTT 1": ("lru", {"name": "truncated_bptt", "truncation": 1}),
    "LRU, T-BPTT 15": ("lru", {"name": "truncated_bptt", "truncation": 15}),
    "LRU, T-BPTT 45": ("lru", {"name": "truncated_bptt", "truncation": 45}),
}


def suite_program(cell: Mapping[str, Any], credit: Any, seeds: int) -> Program:
    """One chunk of the program that a run executes: streams, learners, errors and all."""
    spec = resolve_run(
        {
            "program": "online_prediction",
            "steps": STEPS,
            "environment": "trace_conditioning",
            "cell": dict(cell),
            "credit": credit,
            "learner": "td",
            "step_sizes": [1e-3],
            "seeds": list(range(seeds)),
        }
    )
    program = build(spec.fields, [1e-3], {})
    # `advance` may reuse its argument's memory, so each call starts from where the last one ended.
    state = {"carry": program.init()}

    def call() -> object:
        state["carry"] = program.advance(state["carry"])._replace(step=jnp.zeros((), jnp.int32))
        return state["carry"]

    return Program(call, program.chunk_steps * seeds)


def straightforward_program(width: int) -> Program:
    """The first program one would write, examples/td_lambda_rtu.py, on a stream made beforehand."""
    environment = TraceConditioning()
    start = environment.start(jax.random.key(0))
    _, stream = jax.jit(environment.unroll, static_argnums=1)(start, STEPS)
    params = td_lambda_rtu.init_params(jax.random.key(1), INPUTS, width)
    learn = partial(td_lambda_rtu.learn, optimiser=optax.adam(1e-3))
    compiled = jax.jit(learn, compiler_options=ONLINE_LEARNING)
    observed = {"observations": stream.observation, "rewards": stream.reward}
    return Program(lambda: compiled(params, **observed), STEPS)


def optimiser_program(width: int, seeds: int) -> Program:
    """What no program of this learner can do without: eligibility traces and Adam, nothing else."""
    cell = LinearRTU(INPUTS, width)
    keys = jax.random.split(jax.random.key(0), seeds)
    params = jax.vmap(lambda key: init_predictor(cell, make_head(cell, 0), key))(keys)
    optimiser = adam_with_corrections()
    start = params, jax.vmap(optimiser.init)(params), jax.tree.map(jnp.zeros_like, params)
    inputs = bias_corrections(1 + jnp.arange(STEPS)), jnp.linspace(-1.0, 1.0, STEPS)

    def learn(params: Any, moments: Any, eligibility: Any, corrections: Any, error: Any) -> tuple:
        descent = jax.tree.map(lambda e: -error * e, eligibility)
        updates, moments = optimiser.update(
            descent, moments, params, step_size=jnp.asarray(1e-3), corrections=corrections
        )
        new = optax.apply_updates(params, updates)
        return new, moments, jax.tree.map(lambda e, p: 0.87 * e + p, eligibility, params)

    over_seeds = jax.vmap(learn, (0, 0, 0, None, None))

    @partial(jax.jit, compiler_options=ONLINE_LEARNING)
    def run(start: tuple, inputs: tuple) -> tuple:
        return jax.lax.scan(lambda carry, x: (over_seeds(*carry, *x), None), start, inputs)[0]

    return Program(lambda: run(start, inputs), STEPS * seeds)


def report(root: Path) -> None:
    """Prints three tables: the linear RTU, every cell, the cost of Figure 2 at paper scale."""
    _report_linear_rtu()
    _report_cells()
    _report_projection(root)


def _report_linear_rtu() -> None:
    rtrl = component("credit", "rtrl", "credit")
    cell = resolve_width({"name": "linear_rtu", "width": {"flops": BUDGET}}, rtrl, INPUTS, "cell")
    width = cell["width"]
    programs = {"straightforward": straightforward_program(width)}
    programs |= {f"{n} seeds": suite_program(cell, "rtrl", n) for n in BATCHES}
    programs["Adam alone, 15 seeds"] = optimiser_program(padded_width(width), 15)
    seconds = median_cpu_seconds(programs)
    print(f"\nLinear RTU of {width} units, RTRL, TD(0.9), Adam: CPU-µs per step and seed")
    print(f"{'program':<20}{'µs':>8}{'times faster':>15}")
    for name, value in seconds.items():
        print(f"{name:<20}{1e6 * value:>8.2f}{seconds['straightforward'] / value:>15.1f}")


def _report_cells() -> None:
    programs, costs, widths = {}, {}, {}
    for label, (name, credit) in CELLS.items():
        resolved = component("credit", credit, "credit")
        budget = {"name": name, "width": {"flops": BUDGET}}
        cell = resolve_width(budget, resolved, INPUTS, "cell")
        programs[label] = suite_program(cell, credit, 5)
        costs[label], widths[label] = flops(cell, resolved, INPUTS), cell["width"]
    seconds = median_cpu_seconds(
        {**programs, "elementwise": elementwise_bound(), "matmul": matmul_bound()}
    )
    bounds = {name: 1 / seconds[name] for name in ("elementwise", "matmul")}
    print("\nWidest cells within 15,000 FLOPs, 5 seeds: CPU-µs per step and seed")
    print(f"{'cell':<22}{'units':>6}{'FLOPs':>8}{'µs':>8}{'of elementwise':>16}{'of matmul':>11}")
    for label in programs:
        rate = costs[label] / seconds[label]
        shares = [f"{rate / bounds[name]:.0%}" for name in ("elementwise", "matmul")]
        print(
            f"{label:<22}{widths[label]:>6}{costs[label]:>8}{1e6 * seconds[label]:>8.2f}"
            f"{shares[0]:>16}{shares[1]:>11}"
        )
    print(
        f"bounds measured in the same run: elementwise {bounds['elementwise'] / 1e9:.1f}, "
        f"matmul {bounds['matmul'] / 1e9:.1f} GFLOP/s"
    )


def _report_projection(root: Path) -> None:
    try:
        runs, hours = projection(root)
    except ResultError as error:
        print(f"\nno projection of Figure 2 at paper scale: {error}")
        return
    print(f"\nFigure 2 at paper scale: {runs} runs of learners, about {hours:.0f} core-hours")


def projection(root: Path) -> tuple[int, float]:
    """How many runs of learners Figure 2 has at paper scale, and their core-hours.

    By the CPU time of the small scale's runs: a step's cost is fitted for each cell as
    a + b T + c FLOPs. So it is only as good as the machine was quiet when they were computed.

    Raises:
        ResultError: A run of the small scale is missing.
    """
    experiments, runs = root / "experiments", root / "results" / "runs"
    known: dict[str, list[tuple[list[float], float]]] = {}
    for point in _points(experiments, "small"):
        timing = read_result(runs / f"{point.tuning.hash}.json").timing
        cost = timing["run_cpu_seconds"] / (timing["steps"] * timing["members"])
        known.setdefault(point.fields["cell"]["name"], []).append((_predictors(point), cost))
    fits = {
        cell: np.linalg.lstsq(*map(np.asarray, zip(*rows, strict=True)), rcond=None)[0]
        for cell, rows in known.items()
    }
    least = {cell: min(cost for _, cost in rows) for cell, rows in known.items()}
    seconds: dict[str, float] = {}
    for point in _points(experiments, "paper"):
        name = point.fields["cell"]["name"]
        per_step = max(least[name], float(np.dot(_predictors(point), fits[name])))
        for run in (point.tuning, *point.finals):
            members = len(run.fields.get("step_sizes", [0])) * len(run.fields["seeds"])
            seconds[run.hash] = per_step * members * run.fields["steps"]
    return len(seconds), sum(seconds.values()) / 3600


def _points(experiments: Path, scale: str) -> list[Point]:
    panels = load_figures(experiments, scale)["rtu_figure2"].panels.values()
    return [point for panel in panels for point in panel.points]


def _predictors(point: Point) -> list[float]:
    return [1.0, float(point.fields["credit"].get("truncation", 0)), float(point.costs["flops"])]
