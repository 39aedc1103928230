"""Online prediction on a continuing stream: step sizes × seeds, one jitted scan per chunk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.agents.adam import AdamCorrections, bias_corrections
from untruncated.agents.delayed_return_predictor import DelayedReturnPredictor
from untruncated.agents.td_predictor import TDPredictor
from untruncated.environments.returns import discounted_returns
from untruncated.programs.building import build_environment
from untruncated.programs.compiling import ONLINE_LEARNING
from untruncated.programs.curves import Timeline, curve_metrics
from untruncated.programs.divergence import first_divergence
from untruncated.programs.lanes import build_filled
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.programs.streams import keys_for, start_streams, stream_with_returns
from untruncated.results.metric import Metric

CACHE_BYTES = 256 * 1024
Predictor = TDPredictor | DelayedReturnPredictor


class Carry(NamedTuple):
    """Streams, learners and what has been measured so far.

    `recent` holds the last `delay` observations and cumulants of each seed, where the learner
    learns from a delayed stream. `squared_error` is summed within each bin of the curve.
    `diverged_at` is the first step whose squared error was not finite, -1 if there is none.
    """

    step: Int[Array, ""]
    step_sizes: Float[Array, " step_sizes"]
    streams: Any
    recent: Any
    learners: Any
    squared_error: Float[Array, "step_sizes seeds bins"]
    diverged_at: Int[Array, "step_sizes seeds"]


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlinePrediction(StepSizesAndSeeds):
    """A `programs.protocol.Program`: every step size meets the same stream of each seed.

    `start` makes a learner's first state from a key.
    """

    reason = "the squared return error is not finite"

    environment: Any
    predictor: Predictor
    start: Callable[[PRNGKeyArray], Any]

    @property
    def timeline(self) -> Timeline:
        return Timeline(self.total_steps, self.members, splits_bins=True)

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> Carry:
        learners = jax.vmap(self.start)(keys_for(1, seeds))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            streams=start_streams(self.environment, seeds),
            recent=self._no_past(),
            learners=self.at_every_step_size(learners),
            squared_error=self.no_curve(),
            diverged_at=self.none_diverged(),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        curve = np.asarray(carry.squared_error) / self.timeline.bin_steps
        return curve_metrics("msre", self.known(carry, curve), MEMBER_AXES)

    def _no_past(self) -> tuple:
        if isinstance(self.predictor, TDPredictor):
            return ()
        shape = (len(self.seeds), self.predictor.delay)
        return jnp.zeros((*shape, self.environment.observation_size)), jnp.zeros(shape)


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=ONLINE_LEARNING)
def _advance(program: OnlinePrediction, carry: Carry) -> Carry:
    """One chunk: the streams first, then all learners in one scan over their time steps."""
    steps, predictor = program.chunk_steps, program.predictor
    streams, observations, cumulants, returns = jax.vmap(
        lambda state: stream_with_returns(program.environment, predictor.discount, state, steps)
    )(carry.streams)
    times = carry.step + jnp.arange(steps)
    recent, inputs = _learner_inputs(predictor, carry.recent, observations, cumulants, times)

    over_seeds = jax.vmap(predictor.step, in_axes=(0, *inputs.axes, None, None))

    def learn(member: tuple) -> tuple[Any, Float[Array, "steps seeds"]]:
        learners, step_size = member

        def step(learners: Any, xs: tuple) -> tuple[Any, Float[Array, " seeds"]]:
            arrays, corrections = xs
            return over_seeds(learners, *arrays, step_size, corrections)

        return jax.lax.scan(step, learners, (inputs.arrays, inputs.corrections))

    learners, values = jax.lax.map(
        learn, (carry.learners, carry.step_sizes), batch_size=_batch_size(carry)
    )
    values = jnp.swapaxes(values, 0, 1)
    squared_error = (values - returns.T[:, None, :]) ** 2
    return Carry(
        step=carry.step + steps,
        step_sizes=carry.step_sizes,
        streams=streams,
        recent=recent,
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


class _Inputs(NamedTuple):
    """The arrays a predictor's step takes besides its state, time first; their axis of seeds."""

    arrays: tuple
    axes: tuple
    corrections: AdamCorrections


def _learner_inputs(
    predictor: Predictor, recent: Any, observations: Array, cumulants: Array, times: Array
) -> tuple[Any, _Inputs]:
    time_first = partial(jnp.swapaxes, axis1=0, axis2=1)
    if isinstance(predictor, TDPredictor):
        # The first update is made at step 1; at step 0 the gradient is zero.
        corrections = bias_corrections(jnp.maximum(times, 1))
        arrays = (time_first(observations), time_first(cumulants))
        return (), _Inputs(arrays, (0, 0), corrections)
    delay, steps = predictor.delay, times.shape[0]
    past = jnp.concatenate([recent[0], observations], axis=1)
    past_cumulants = jnp.concatenate([recent[1], cumulants], axis=1)
    recent = past[:, steps:], past_cumulants[:, steps:]
    # The return after each past step, of which the part after `delay` steps is taken away again.
    all_returns = jax.vmap(lambda c: discounted_returns(c, predictor.discount, steps + delay - 1))(
        past_cumulants
    )
    all_returns = jnp.pad(all_returns, ((0, 0), (0, 1)))
    seen = all_returns[:, :steps] - predictor.discount**delay * all_returns[:, delay:]
    waited = times >= delay
    corrections = bias_corrections(jnp.maximum(times - delay + 1, 1))
    arrays = (*map(time_first, (observations, past[:, :steps], seen)), waited)
    return recent, _Inputs(arrays, (0, 0, 0, None), corrections)


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given step sizes."""
    environment = build_environment(fields)
    predictor, start = build_filled(fields, environment)
    return OnlinePrediction(
        environment=environment,
        predictor=predictor,
        start=start,
        step_sizes=step_sizes,
        seeds=fields["seeds"],
        total_steps=fields["steps"],
        choices=choices,
    )
