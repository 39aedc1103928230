"""Brax's own reset and step of each robot, compiled once, fast rather than to be fast."""

import functools

import jax
import jax.numpy as jnp
import pytest
from brax import envs

from untruncated.environments import brax_environment
from untruncated.environments.brax_environment import Simulator, simulator

OPTIONS = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


def program(function, *arguments):
    """A program that `jax.disable_jit` leaves as it is."""
    with jax.disable_jit(False):
        compiled = function.lower(*arguments).compile(OPTIONS)

    def call(*arguments):
        with jax.disable_jit(False):
            return compiled(*arguments)

    return call


@functools.cache
def programs(robot: str) -> Simulator:
    made = simulator(robot)
    key = jax.random.key(0)
    with jax.disable_jit(False):
        start = jax.eval_shape(made.reset, key)
    number = jax.ShapeDtypeStruct((), jnp.float32)
    before = envs.State(start.pipeline_state, start.obs, number, number)
    action = jax.ShapeDtypeStruct((made.environment.action_size,), jnp.float32)
    reset, step = program(made.reset, key), program(made.step, before, action)
    return Simulator(made.environment, reset, step)


@pytest.fixture
def brax_programs(monkeypatch):
    """Everything runs step by step but Brax's own functions, which are programs; gives these."""
    monkeypatch.setattr(brax_environment, "simulator", programs)
    with jax.disable_jit():
        yield programs
