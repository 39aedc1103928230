"""Speed of gradient estimation for unrolled systems, on one core."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from evosax.algorithms import PersistentES
from jax import Array

from benchmarks.timing import Program, median_cpu_seconds
from untruncated.estimators.unrolled.pes import PES
from untruncated.experiments.spec import resolve_run
from untruncated.problems.toy_regression import ToyRegression
from untruncated.programs.meta_optimisation import build

PARTICLES, SIGMA, TRUNCATION = 100, 0.3, 10
LEARNING_RATE, B1, ITERATIONS = 0.01, 0.99, 2000

TOY = {
    "steps": 20_000,
    "problem": "toy_regression",
    "estimator": {
        "name": "pes",
        "particles": PARTICLES,
        "sigma": SIGMA,
        "truncation": TRUNCATION,
    },
    "optimiser": {"name": "adam", "b1": B1},
    "step_sizes": [LEARNING_RATE],
}
INFLUENCE = {
    "steps": 3000,
    "problem": "influence_balancing",
    "estimator": {"name": "pes", "particles": 1000, "sigma": 0.1, "truncation": 1},
    "optimiser": "sgd",
    "evaluation_steps": 500,
    "step_sizes": [1e-4],
}


def whole_run(fields: Mapping[str, Any]) -> Program:
    """All iterations of a run of one seed, evaluations included; a unit of work is the run."""
    spec = resolve_run({"program": "meta_optimisation", "seeds": [0], **fields})
    program = build(spec.fields, spec.fields["step_sizes"], {})

    def call() -> object:
        carry = program.init()
        for _ in range(program.total_steps // program.chunk_steps):
            carry = program.advance(carry)
        return carry

    return Program(call, 1.0)


def our_pes(problem: ToyRegression) -> Program:
    """Iterations of PES and Adam on the toy problem, in one scan."""
    estimator, optimiser = PES(PARTICLES, SIGMA, TRUNCATION), optax.adam(LEARNING_RATE, b1=B1)

    def iterate(carry: tuple, key: Array) -> tuple[tuple, None]:
        theta, state, moments = carry
        gradient, state = estimator.step(problem, theta, state, key)
        updates, moments = optimiser.update(gradient, moments, theta)
        return (optax.apply_updates(theta, updates), state, moments), None

    @jax.jit
    def run(key: Array) -> object:
        theta = problem.initial_theta(key)
        start = theta, estimator.init(problem, theta, key), optimiser.init(theta)
        return jax.lax.scan(iterate, start, jax.random.split(key, ITERATIONS))[0][0]

    return Program(lambda: run(jax.random.key(0)), ITERATIONS)


def unroll_particles(problem: ToyRegression, thetas: Array, x: Array, t: Array) -> tuple:
    """The states after an unroll from step t and the sums of its losses, as short as can be."""
    over_particles = jax.vmap(problem.unroll_step, (0, 0, None, None))
    key = jax.random.key(0)  # a deterministic problem

    def step(carry: tuple, offset: Array) -> tuple[tuple, None]:
        x, total = carry
        x, losses = over_particles(thetas, x, t + offset, key)
        return (x, total + losses), None

    return jax.lax.scan(step, (x, jnp.zeros(PARTICLES)), jnp.arange(TRUNCATION))[0]


def evosax_pes(problem: ToyRegression) -> Program:
    """The same with evosax's PES."""
    theta = problem.initial_theta(jax.random.key(0))
    strategy = PersistentES(
        PARTICLES,
        theta,
        optax.adam(LEARNING_RATE, b1=B1),
        optax.constant_schedule(SIGMA),
        metrics_fn=lambda *arguments: {},
    )
    params = strategy.default_params.replace(T=problem.horizon, K=TRUNCATION)

    def iterate(carry: tuple, key: Array) -> tuple[tuple, None]:
        state, x, t = carry
        population, state = strategy.ask(key, state, params)
        x, fitness = unroll_particles(problem, population, x, t)
        state, _ = strategy.tell(key, population, fitness, state, params)
        over = t + TRUNCATION >= problem.horizon
        return (state, jnp.where(over, 1.0, x), jnp.where(over, 0, t + TRUNCATION)), None

    @jax.jit
    def run(key: Array) -> object:
        start = strategy.init(key, theta, params), jnp.ones((PARTICLES, 2)), jnp.int32(0)
        state, _, _ = jax.lax.scan(iterate, start, jax.random.split(key, ITERATIONS))[0]
        return state.mean

    return Program(lambda: run(jax.random.key(0)), ITERATIONS)


def unrolls_alone(problem: ToyRegression) -> Program:
    """One part of the bound that both share: the same unrolls of all particles, nothing else."""
    thetas = -4.0 + SIGMA * jax.random.normal(jax.random.key(0), (PARTICLES, 2))

    def iterate(carry: tuple, start: Array) -> tuple[tuple, None]:
        x, total = carry
        t = start % problem.horizon
        x, fitness = unroll_particles(problem, thetas, jnp.where(t == 0, 1.0, x), t)
        return (x, total + fitness), None

    @jax.jit
    def run(start: tuple) -> object:
        return jax.lax.scan(iterate, start, TRUNCATION * jnp.arange(ITERATIONS))[0]

    start = jnp.ones((PARTICLES, 2)), jnp.zeros(PARTICLES)
    return Program(lambda: run(start), ITERATIONS)


def draws_alone() -> Program:
    """The other part: the same number of normal perturbations, drawn and added up."""

    def draw(total: Array, key: Array) -> tuple[Array, None]:
        return total + SIGMA * jax.random.normal(key, total.shape), None

    @jax.jit
    def run(key: Array) -> object:
        start = jnp.zeros((PARTICLES // 2, 2))
        return jax.lax.scan(draw, start, jax.random.split(key, ITERATIONS))[0]

    return Program(lambda: run(jax.random.key(0)), ITERATIONS)


def report() -> None:
    """Prints the time of two whole runs, and of one iteration beside evosax's and its parts'."""
    runs = median_cpu_seconds({"toy": whole_run(TOY), "influence": whole_run(INFLUENCE)})
    print("\nMeta-optimisation with PES, one seed, evaluations included: CPU-seconds")
    print(f"toy regression, 20,000 iterations, 100 particles, K = 10    {runs['toy']:>6.2f}")
    print(f"influence balancing, 3,000 iterations, 1,000 particles      {runs['influence']:>6.2f}")
    problem = ToyRegression()
    seconds = median_cpu_seconds(
        {
            "ours": our_pes(problem),
            "evosax": evosax_pes(problem),
            "unrolls alone": unrolls_alone(problem),
            "draws alone": draws_alone(),
        }
    )
    print("\nPES on toy regression, 100 particles, K = 10: CPU-µs per iteration")
    for name, value in seconds.items():
        print(f"{name:<16}{1e6 * value:>8.1f}")
    ratio = seconds["evosax"] / seconds["ours"]
    bound = seconds["unrolls alone"] + seconds["draws alone"]
    print(f"iterations per second, times those of evosax: {ratio:.2f}")
    shares = f"{bound / seconds['ours']:.0%} of ours, {bound / seconds['evosax']:.0%} of evosax's"
    print(f"unrolls and draws alone, of an iteration: {shares}")
