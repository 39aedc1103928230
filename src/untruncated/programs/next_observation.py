"""Online prediction of the next observation of the three-state process: step sizes × seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.agents.adam import bias_corrections
from untruncated.agents.next_observation_predictor import NextObservationPredictor
from untruncated.environments.three_state_mdp import MEMORY_STATE, STATES
from untruncated.programs.building import build_cell, build_environment, step_operations
from untruncated.programs.compiling import ONLINE_LEARNING
from untruncated.programs.curves import CURVE_POINTS, Timeline, last_tenth, work_of
from untruncated.programs.divergence import first_divergence
from untruncated.programs.eigenvalues import complex_eigenvalues
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.programs.streams import keys_for
from untruncated.results.metric import Metric

STEPS_PER_BIN = 100
QUANTITIES = ("cross_entropy", "correct_in_memory_state", "memory_state", "complex_eigenvalues")


class Carry(NamedTuple):
    """Streams with the observation that each stands at, learners, and sums in the curve's bins."""

    step: Int[Array, ""]
    step_sizes: Float[Array, " step_sizes"]
    streams: Any
    observations: Float[Array, "seeds states"]
    learners: Any
    sums: dict[str, Float[Array, "step_sizes seeds bins"]]
    diverged_at: Int[Array, "step_sizes seeds"]


@dataclass(frozen=True, eq=False, kw_only=True)
class NextObservation(StepSizesAndSeeds):
    """A `programs.protocol.Program`: every step size meets the same stream of each seed."""

    reason = "the cross-entropy is not finite"

    environment: Any
    predictor: NextObservationPredictor

    @property
    def timeline(self) -> Timeline:
        """Bins and chunks; a bin is long enough to meet the state that remembers."""
        most_bins = min(CURVE_POINTS, max(10, self.total_steps // STEPS_PER_BIN))
        work = work_of(self.operations)
        return Timeline(self.total_steps, self.members, most_bins, splits_bins=True, work=work)

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> Carry:
        streams, first = jax.vmap(self.environment.reset)(keys_for(0, seeds))
        learners = jax.vmap(self.predictor.init)(keys_for(1, seeds))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            streams=streams,
            observations=first.observation,
            learners=self.at_every_step_size(learners),
            sums=dict.fromkeys(QUANTITIES, self.no_curve()),
            diverged_at=self.none_diverged(),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        sums = {
            name: self.known(carry, np.asarray(value, np.float64))
            for name, value in carry.sums.items()
        }
        steps = self.timeline.bin_steps
        loss, eigenvalues = sums["cross_entropy"] / steps, sums["complex_eigenvalues"] / steps
        correct, visits = sums["correct_in_memory_state"], sums["memory_state"]
        whole_run = {
            "cross_entropy": loss.mean(-1),
            "accuracy_last_tenth": _share(last_tenth(correct).sum(-1), last_tenth(visits).sum(-1)),
            "complex_eigenvalues_last_tenth": last_tenth(eigenvalues).mean(-1),
        }
        curves = {
            "accuracy_curve": _share(correct, visits),
            "complex_eigenvalues_curve": eigenvalues,
        }
        return {
            name: Metric((*MEMBER_AXES, "curve_step")[: values.ndim], values.astype(np.float32))
            for name, values in (whole_run | curves).items()
        }


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN where there is nothing to share."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=ONLINE_LEARNING)
def _advance(program: NextObservation, carry: Carry) -> Carry:
    steps, predictor = program.chunk_steps, program.predictor
    over_seeds = jax.vmap(predictor.step, in_axes=(0, 0, 0, None, None))
    over_both = jax.vmap(over_seeds, in_axes=(0, None, None, 0, None))
    count = jax.vmap(jax.vmap(complex_eigenvalues))

    def step(state: tuple, time: Int[Array, ""]) -> tuple[tuple, dict[str, Array]]:
        streams, observations, learners = state
        streams, shown = jax.vmap(program.environment.step)(streams)
        following = shown.observation
        learners, log_probabilities = over_both(
            learners, observations, following, carry.step_sizes, bias_corrections(time + 1)
        )
        remembering = observations[:, MEMORY_STATE] > 0
        correct = jnp.argmax(log_probabilities, axis=-1) == jnp.argmax(following, axis=-1)
        measured = {
            "cross_entropy": -jnp.sum(following * log_probabilities, axis=-1),
            "correct_in_memory_state": (correct & remembering).astype(float),
            "memory_state": jnp.broadcast_to(remembering, correct.shape).astype(float),
            "complex_eigenvalues": count(learners.params.cell.u).astype(float),
        }
        return (streams, following, learners), measured

    times = carry.step + jnp.arange(steps)
    start = carry.streams, carry.observations, carry.learners
    (streams, observations, learners), measured = jax.lax.scan(step, start, times)
    return Carry(
        step=carry.step + steps,
        step_sizes=carry.step_sizes,
        streams=streams,
        observations=observations,
        learners=learners,
        sums={
            name: program.timeline.record(carry.sums[name], measured[name], carry.step)
            for name in QUANTITIES
        },
        diverged_at=first_divergence(carry.diverged_at, measured["cross_entropy"], times),
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given step sizes."""
    environment = build_environment(fields)
    cell, gradient = build_cell(fields, environment)
    predictor = NextObservationPredictor(cell, gradient, STATES, fields["optimiser"])
    return NextObservation(
        environment=environment,
        predictor=predictor,
        step_sizes=step_sizes,
        seeds=fields["seeds"],
        total_steps=fields["steps"],
        choices=choices,
        operations=step_operations(fields, environment),
    )
