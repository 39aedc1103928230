"""CPU time of compiled programs, measured in interleaved rounds so that all meet the same load."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp

ROUNDS = 5


class Program(NamedTuple):
    """A compiled function without arguments, and how many units of work one call does."""

    call: Callable[[], object]
    work: float


def median_cpu_seconds(programs: Mapping[str, Program], rounds: int = ROUNDS) -> dict[str, float]:
    """Median CPU-seconds per unit of work of each program, over interleaved rounds."""
    samples: dict[str, list[float]] = {name: [] for name in programs}
    for program in programs.values():
        jax.block_until_ready(program.call())
    for _ in range(rounds):
        for name, program in programs.items():
            start = time.process_time()
            jax.block_until_ready(program.call())
            samples[name].append((time.process_time() - start) / program.work)
    return {name: statistics.median(values) for name, values in samples.items()}


def elementwise_bound() -> Program:
    """Multiply-adds on arrays that fit the first-level cache, one pass after the other."""
    size, passes = 2048, 20_000
    x = jnp.linspace(0.5, 1.5, size)

    @jax.jit
    def call(x):
        return jax.lax.fori_loop(0, passes, lambda _, y: y * 0.999 + x, x)

    return Program(lambda: call(x), 2.0 * size * passes)


def matmul_bound() -> Program:
    """A square matrix product of size 512."""
    size, passes = 512, 5
    x = jnp.eye(size) * 0.5

    @jax.jit
    def call(x):
        return jax.lax.fori_loop(0, passes, lambda _, y: y @ x, x)

    return Program(lambda: call(x), 2.0 * size**3 * passes)
