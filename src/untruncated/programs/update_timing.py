"""Time per update of several learners, measured side by side in one process."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.agents.adam import bias_corrections
from untruncated.agents.td_predictor import TDPredictor
from untruncated.catalogue.metric import Metric
from untruncated.programs.building import build_environment, build_predictor
from untruncated.programs.streams import start_streams

STEP_SIZE = 1e-3


class Carry(NamedTuple):
    """Rounds done, and the seconds per update that each agent took in each."""

    step: Int[Array, ""]
    seconds: Float[Array, "agents rounds"]


@dataclass(frozen=True, eq=False)
class UpdateTiming:
    """A `programs.protocol.Program`: one step is a round, in which every agent has its turn.

    All agents are compiled and run once before the first round. In a round each makes `updates`
    updates on one stream, in one scan; rounds begin with another agent each, so that whatever
    slows the machine down for a while slows all of them. On a CPU the time is the process's own,
    not the clock's, which other processes would disturb.
    """

    environment: Any
    predictors: list[TDPredictor]
    updates: int
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "rounds"
    chunk_steps: int = 1

    @property
    def members(self) -> int:
        return len(self.predictors)

    @property
    def axes(self) -> dict[str, list]:
        return {
            "agent": list(range(len(self.predictors))),
            "repeat": list(range(self.total_steps)),
        }

    @cached_property
    def _turns(self) -> list[Callable[[], object]]:
        """One compiled call for each agent, made once before any is measured."""
        stream = jax.tree.map(
            lambda leaf: leaf[0], start_streams(self.environment, jnp.asarray(self.seeds[:1]))
        )
        _, time_steps = self.environment.unroll(stream, self.updates, 0)
        xs = (
            time_steps.observation.astype(float),
            time_steps.reward.astype(float),
            bias_corrections(1 + jnp.arange(self.updates)),
        )
        turns = [_turn(predictor, xs, self.seeds[0]) for predictor in self.predictors]
        for turn in turns:
            turn()
        return turns

    def init(self) -> Carry:
        return Carry(jnp.zeros((), jnp.int32), jnp.zeros((len(self.predictors), self.total_steps)))

    def advance(self, carry: Carry) -> Carry:
        turns, round_number = self._turns, int(carry.step)
        seconds = np.array(carry.seconds)
        for place in range(len(turns)):
            agent = (place + round_number) % len(turns)
            seconds[agent, round_number] = _seconds(turns[agent]) / self.updates
        return Carry(carry.step + 1, jnp.asarray(seconds))

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        return {"seconds_per_update": Metric(("agent", "repeat"), np.asarray(carry.seconds))}

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        return []


def _turn(predictor: TDPredictor, xs: tuple, seed: int) -> Callable[[], object]:
    state = predictor.init(jax.random.key(seed))

    @jax.jit
    def run(state: Any, xs: tuple) -> tuple:
        return jax.lax.scan(
            lambda state, x: predictor.step(state, x[0], x[1], jnp.asarray(STEP_SIZE), x[2]),
            state,
            xs,
        )

    return lambda: jax.block_until_ready(run(state, xs))


def _seconds(turn: Callable[[], object]) -> float:
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    start = clock()
    turn()
    return clock() - start


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    environment = build_environment(fields)
    predictors = [build_predictor({**fields, **agent}, environment) for agent in fields["agents"]]
    return UpdateTiming(
        environment, predictors, fields["steps"], fields["repeats"], fields["seeds"]
    )
