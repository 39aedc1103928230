"""Time per update of several learners, measured side by side in one process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from untruncated.agents.protocol import Inputs, OnlineLearner
from untruncated.programs.building import build_environment, build_predictor
from untruncated.programs.compiling import ONLINE_LEARNING
from untruncated.programs.rounds import InRounds, Rounds, Turn
from untruncated.programs.streams import start_streams
from untruncated.results.metric import Metric

STEP_SIZE = 1e-3


@dataclass(frozen=True, eq=False)
class UpdateTiming(InRounds):
    """A `programs.protocol.Program`: one step is a round, in which every agent has its turn.

    All agents are compiled and run once before the first round. In a round each makes `updates`
    updates on one stream, in one scan.
    """

    environment: Any
    predictors: list[OnlineLearner]
    updates: int
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)

    @property
    def members(self) -> int:
        return len(self.predictors)

    @cached_property
    def turns(self) -> list[Turn]:
        """One compiled call for each agent, made once before any is measured."""
        stream = jax.tree.map(
            lambda leaf: leaf[0], start_streams(self.environment, jnp.asarray(self.seeds[:1]))
        )
        _, time_steps = self.environment.unroll(stream, self.updates, 0)
        seen = time_steps.observation.astype(float), time_steps.reward.astype(float)
        times = 1 + jnp.arange(self.updates)
        turns = [_turn(predictor, *seen, times, self.seeds[0]) for predictor in self.predictors]
        for turn in turns:
            turn()
        return turns

    def metrics(self, carry: Rounds) -> dict[str, Metric]:
        seconds = np.asarray(carry.seconds) / self.updates
        return {"seconds_per_update": Metric(("agent", "repeat"), seconds)}


def _turn(
    predictor: OnlineLearner, observations: Array, cumulants: Array, times: Array, seed: int
) -> Turn:
    state = predictor.init(jax.random.key(seed))
    _, inputs = predictor.inputs(predictor.first_past(), observations, cumulants, times)

    @partial(jax.jit, compiler_options=ONLINE_LEARNING)
    def run(state: Any, inputs: Inputs) -> tuple:
        def step(state: Any, inputs: Inputs) -> tuple:
            return predictor.step(state, *inputs.own, jnp.asarray(STEP_SIZE), *inputs.shared)

        return jax.lax.scan(step, state, inputs)

    return lambda: jax.block_until_ready(run(state, inputs))


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    environment = build_environment(fields)
    predictors = [
        # of as many units as the spec says
        build_predictor({**fields, **agent}, environment, padded=False)
        for agent in fields["agents"]
    ]
    return UpdateTiming(
        environment, predictors, fields["steps"], fields["repeats"], fields["seeds"]
    )
