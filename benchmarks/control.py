"""Speed and memory of control: environment steps per second with all of PPO, on one core.

Beside the suite's program stands the first that one would write: two traces of every real weight,
kept for every step of the rollout and shuffled as a whole in each epoch.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from benchmarks.timing import Program, matmul_bound, median_cpu_seconds
from untruncated.agents.actor_critic import ENCODED
from untruncated.agents.memories import TraceMemory
from untruncated.agents.ppo import Learner, Minibatch, loss, targets, update
from untruncated.agents.rollouts import collect
from untruncated.cells import NonlinearRTU
from untruncated.experiments.spec import resolve_run
from untruncated.programs.compiling import IN_PLACE
from untruncated.programs.policy_optimisation import PolicyOptimisation, _advance, build

ROLLOUT, WIDTH, ROUNDS = 2048, 192, 5
TASKS = {
    "RepeatFirstEasy": {"also_sees": "action_and_reward"},
    "ant-P": {"normalise": "observations_and_rewards"},
}
SEEDS = (1, 5)


def control(task: str, storage: str = "recompute", seeds: int = 1) -> PolicyOptimisation:
    """The suite's program with a linear RTU."""
    fields = resolve_run(
        {
            "program": "policy_optimisation",
            "steps": 100 * ROLLOUT,
            "environment": task,
            "cell": {"name": "linear_rtu", "width": WIDTH},
            "credit": "rtrl",
            "learner": {"name": "ppo", "rollout": ROLLOUT, "trace_storage": storage},
            **TASKS[task],
            "step_sizes": [3e-4],
            "seeds": list(range(seeds)),
        }
    ).fields
    return build(fields, [3e-4], {})


def suite_program(task: str, storage: str, seeds: int) -> Program:
    """One chunk of the program that a run executes: a rollout and its update."""
    program = control(task, storage, seeds)
    state = {"carry": program.init()}

    def call() -> object:
        state["carry"] = program.advance(state["carry"])._replace(step=jnp.zeros((), jnp.int32))
        return state["carry"]

    return Program(call, ROLLOUT * seeds)


class PlainPast(NamedTuple):
    """The states and traces that entered the steps of a minibatch, gathered already."""

    before: Any
    traces: Any

    def gradient(self, cell: Any, index: Array, cotangents: Any) -> Any:
        """The sum of the samples' own gradients; `index` counts within the minibatch."""
        each = jax.vmap(cell.trace_gradient)(self.traces, cotangents)
        return jax.tree.map(lambda leaf: leaf.sum(0), each)


def straightforward_program(task: str) -> Program:
    """The same agent and loss, with whole traces that are stored and shuffled.

    With the identity inside the recurrence the nonlinear RTU is a linear one that does not know
    that its traces can be halved.
    """
    program = control(task, "stored")
    whole = TraceMemory(NonlinearRTU(ENCODED, WIDTH, activation="identity"), "stored")
    program = replace(program, agent=replace(program.agent, memory=whole))
    ppo, agent = program.ppo, program.agent
    member = jax.tree.map(lambda leaf: leaf[0, 0], program.init().members)

    def epoch(rollout: Any, aims: Any, learner: Learner, key: Array) -> tuple[Learner, None]:
        order = jax.random.permutation(key, ROLLOUT)
        past = rollout.remembered.entering
        plain = rollout._replace(remembered=(), shown=())
        shuffled = jax.tree.map(
            lambda leaf: leaf[order].reshape(ppo.minibatches, -1, *leaf.shape[1:]),
            (plain, aims, past.state, past.traces),
        )

        def minibatch(learner: Learner, part: tuple) -> tuple[Learner, None]:
            plain, aims, before, traces = part
            index = jnp.arange(ROLLOUT // ppo.minibatches)[:, None]
            batch = Minibatch(index, plain, aims)
            past = PlainPast(before, traces)
            gradient = jax.grad(lambda p: loss(ppo, agent, past, batch, p)[0])(learner.params)
            change, opt_state = ppo.optimiser.update(
                gradient, learner.opt_state, learner.params, step_size=3e-4
            )
            params = agent.constrain(optax.apply_updates(learner.params, change))
            return Learner(params, opt_state), None

        return jax.lax.scan(minibatch, learner, shuffled)

    @partial(jax.jit, compiler_options=IN_PLACE)
    def step(member: Any) -> Any:
        learner, stage, key = member
        key, draw = jax.random.split(key)
        after, rollout, _ = collect(agent, program.task, learner.params, stage, ROLLOUT)
        aims = targets(ppo, agent, learner.params, rollout)
        keys = jax.random.split(draw, ppo.epochs)
        learner, _ = jax.lax.scan(partial(epoch, rollout, aims), learner, keys)
        return type(member)(learner, after, key)

    state = {"member": member}

    def call() -> object:
        state["member"] = step(state["member"])
        return state["member"]

    return Program(call, ROLLOUT)


def parts(task: str, storage: str) -> dict[str, Program]:
    """The environment alone, the rollout with agent and traces, and the update, of one seed."""
    program = control(task, storage)
    ppo, agent, environment = program.ppo, program.agent, program.task
    member = jax.tree.map(lambda leaf: leaf[0, 0], program.init().members)
    params, stage = member.learner.params, member.stage
    acts = jax.jit(lambda: collect(agent, environment, params, stage, ROLLOUT))
    _, rollout, _ = acts()

    @jax.jit
    def environment_alone() -> Any:
        return jax.lax.scan(environment.step, stage.environment, rollout.action)[0]

    learns = jax.jit(
        lambda rollout: update(ppo, agent, member.learner, rollout, stage.carry, member.key, 3e-4)
    )
    return {
        "environment": Program(environment_alone, ROLLOUT),
        "rollout": Program(acts, ROLLOUT),
        "update": Program(lambda: learns(rollout), ROLLOUT),
    }


def temporary_megabytes(task: str, storage: str) -> float:
    """What XLA sets aside for one seed's rollout and update."""
    program = control(task, storage)
    carry = program.init()
    compiled = _advance.lower(program, carry).compile()
    return compiled.memory_analysis().temp_size_in_bytes / 1e6


def report(rounds: int = ROUNDS) -> None:
    """Prints steps per second, their ratio to the straightforward program's, and the memory."""
    for task in TASKS:
        programs = {"straightforward, 1 seed": straightforward_program(task)}
        programs |= {
            f"{storage}, {seeds} seed{'s' * (seeds > 1)}": suite_program(task, storage, seeds)
            for storage in ("recompute", "stored")
            for seeds in SEEDS
        }
        seconds = median_cpu_seconds(programs, rounds)
        plain = seconds["straightforward, 1 seed"]
        print(
            f"\ncontrol, {task}, linear RTU of 192 units: environment steps per second, all of PPO"
        )
        for name, value in seconds.items():
            print(f"  {name:<24} {1 / value:>7.0f}   {plain / value:>5.2f} × the straightforward")
        for storage in ("recompute", "stored"):
            print(f"  memory of one seed, {storage}: {temporary_megabytes(task, storage):.1f} MB")
        split = median_cpu_seconds(parts(task, "recompute"), rounds)
        times = ", ".join(f"{name} {1e6 * value:.0f}" for name, value in split.items())
        print(f"  µs per step, recompute: {times}")
    bound = 1 / median_cpu_seconds({"bound": matmul_bound()}, rounds)["bound"]
    print(f"  matrix products: {bound / 1e9:.0f} GFLOP/s")
