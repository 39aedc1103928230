"""Online prediction on a continuing stream: step sizes × seeds, one jitted scan per chunk."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.agents.protocol import Inputs, OnlineLearner
from untruncated.programs.building import build_environment, build_predictor, step_operations
from untruncated.programs.compiling import ONLINE_LEARNING
from untruncated.programs.curves import Timeline, curve_metrics, work_of
from untruncated.programs.divergence import first_divergence
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.programs.streams import keys_for, start_streams, stream_with_returns
from untruncated.results.metric import Metric

CACHE_BYTES = 256 * 1024


class Carry(NamedTuple):
    """Streams, learners and what has been measured so far.

    `past` is what each seed's learners need of what they have seen. `squared_error` is summed
    within each bin of the curve. `diverged_at` is the first step whose squared error was not
    finite, -1 if there is none.
    """

    step: Int[Array, ""]
    step_sizes: Float[Array, " step_sizes"]
    streams: Any
    past: Any
    learners: Any
    squared_error: Float[Array, "step_sizes seeds bins"]
    diverged_at: Int[Array, "step_sizes seeds"]


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlinePrediction(StepSizesAndSeeds):
    """A `programs.protocol.Program`: every step size meets the same stream of each seed."""

    reason = "the squared return error is not finite"

    environment: Any
    predictor: OnlineLearner

    @property
    def timeline(self) -> Timeline:
        work = work_of(self.operations)
        return Timeline(self.total_steps, self.members, splits_bins=True, work=work)

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> Carry:
        learners = jax.vmap(self.predictor.init)(keys_for(1, seeds))
        past = jax.vmap(lambda seed: self.predictor.first_past())(seeds)
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            streams=start_streams(self.environment, seeds),
            past=past,
            learners=self.at_every_step_size(learners),
            squared_error=self.no_curve(),
            diverged_at=self.none_diverged(),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        curve = np.asarray(carry.squared_error) / self.timeline.bin_steps
        return curve_metrics("msre", self.known(carry, curve), MEMBER_AXES)


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=ONLINE_LEARNING)
def _advance(program: OnlinePrediction, carry: Carry) -> Carry:
    """One chunk: the streams first, then all learners in one scan over their time steps."""
    steps, predictor = program.chunk_steps, program.predictor
    streams, observations, cumulants, returns = jax.vmap(
        lambda state: stream_with_returns(program.environment, predictor.discount, state, steps)
    )(carry.streams)
    times = carry.step + jnp.arange(steps)
    past, inputs = jax.vmap(
        predictor.inputs, in_axes=(0, 0, 0, None), out_axes=(0, Inputs(own=1, shared=None))
    )(carry.past, observations, cumulants, times)

    def learn(member: tuple) -> tuple[Any, Float[Array, "steps seeds"]]:
        learners, step_size = member

        def step(learners: Any, inputs: Inputs) -> tuple[Any, Float[Array, " seeds"]]:
            return jax.vmap(
                lambda learner, own: predictor.step(learner, *own, step_size, *inputs.shared)
            )(learners, inputs.own)

        return jax.lax.scan(step, learners, inputs)

    learners, values = jax.lax.map(
        learn, (carry.learners, carry.step_sizes), batch_size=_batch_size(carry)
    )
    values = jnp.swapaxes(values, 0, 1)
    squared_error = (values - returns.T[:, None, :]) ** 2
    return Carry(
        step=carry.step + steps,
        step_sizes=carry.step_sizes,
        streams=streams,
        past=past,
        learners=learners,
        squared_error=program.timeline.record(carry.squared_error, squared_error, carry.step),
        diverged_at=first_divergence(carry.diverged_at, squared_error, times),
    )


def _batch_size(carry: Carry) -> int:
    """Step sizes to advance side by side: as many as the cache holds, in equal batches.

    Batching hides the cost of launching many small kernels, on a CPU until the learners' state no
    longer fits the processor's cache.
    """
    count = carry.step_sizes.shape[0]
    if jax.default_backend() != "cpu":
        return count
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(carry.learners)) / count
    fitting = [n for n in range(1, count + 1) if count % n == 0 and n * size <= CACHE_BYTES]
    return max(fitting, default=1)


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given step sizes."""
    environment = build_environment(fields)
    return OnlinePrediction(
        environment=environment,
        predictor=build_predictor(fields, environment),
        step_sizes=step_sizes,
        seeds=fields["seeds"],
        total_steps=fields["steps"],
        choices=choices,
        operations=step_operations(fields, environment),
    )
