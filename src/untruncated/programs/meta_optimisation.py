"""Outer parameters learned with estimated gradients: step sizes × seeds, all inside one scan."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.estimators.unrolled.pairs import lost_pairs
from untruncated.estimators.unrolled.protocol import UnrollEstimator, full_unroll_loss
from untruncated.estimators.unrolled.staggered import Staggered
from untruncated.problems.protocol import Problem
from untruncated.programs.building import build_parts, costs
from untruncated.programs.compiling import IN_PLACE
from untruncated.programs.curves import Timeline, last_tenth, work_of
from untruncated.programs.divergence import NEVER, first_time, lost_metric
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.results.metric import Metric

# Inner steps of one particle that take as long as a step of online prediction, about.
PARTICLE_STEPS = 50
# Parameters are recorded along the way if they are few, and at fewer points if many members are.
TRAJECTORY_PARAMETERS = 32
TRAJECTORY_NUMBERS = 5000


class Member(NamedTuple):
    """One learner: what it knows, and the first iteration whose θ or loss was not finite, or -1."""

    theta: Any
    optimiser: Any
    estimator: Any
    diverged_at: Int[Array, ""]


class Carry(NamedTuple):
    """All learners, and what has been measured so far; members are step sizes × seeds."""

    iteration: Int[Array, ""]
    keys: PRNGKeyArray
    step_sizes: Float[Array, " step_sizes"]
    members: Member
    initial_loss: Float[Array, " seeds"]
    losses: Float[Array, "step_sizes seeds bins"]
    thetas: Float[Array, "step_sizes seeds bins parameters"] | None

    @property
    def diverged_at(self) -> Int[Array, "step_sizes seeds"]:
        """Of every member."""
        return self.members.diverged_at


@dataclass(frozen=True, eq=False, kw_only=True)
class MetaOptimisation(StepSizesAndSeeds):
    """A `programs.protocol.Program`: one estimate and one update of θ in every iteration.

    At the end of every bin of the curve the unperturbed θ is evaluated on whole inner problems.
    Recording changes no number of the learning.
    """

    reason = "the outer parameters or their loss are not finite"

    problem: Problem
    estimator: UnrollEstimator
    optimiser: optax.GradientTransformationExtraArgs
    particles: int
    evaluation_steps: int | None
    evaluations: int
    unit: str = "iterations"

    @cached_property
    def timeline(self) -> Timeline:
        steps = self.particles * self.estimator.inner_steps(self.problem)
        work = max(-(-steps // PARTICLE_STEPS), work_of(self.operations))
        return Timeline(self.total_steps, self.members, work=work)

    @cached_property
    def parameters(self) -> int:
        """How many numbers θ has."""
        theta = jax.eval_shape(self.problem.initial_theta, jax.random.key(0))
        return sum(leaf.size for leaf in jax.tree.leaves(theta))

    @property
    def trajectory_stride(self) -> int | None:
        """Bins from one recorded θ to the next; None if none is recorded."""
        bins, size = self.timeline.bins, self.parameters * self.members
        fitting = [
            n for n in range(1, bins + 1) if not bins % n and bins // n * size <= TRAJECTORY_NUMBERS
        ]
        return min(fitting, default=None) if self.parameters <= TRAJECTORY_PARAMETERS else None

    @property
    def axes(self) -> dict[str, list]:
        axes = super().axes
        if stride := self.trajectory_stride:
            axes["trajectory_step"] = self.timeline.bin_ends[stride - 1 :: stride]
            axes["parameter"] = list(range(self.parameters))
        return axes

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> Carry:
        keys = jax.vmap(jax.random.key)(seeds)

        def member(key: PRNGKeyArray) -> Member:
            theta = self.problem.initial_theta(_stream(key, "theta"))
            estimator = self.estimator.init(self.problem, theta, _stream(key, "start"))
            return Member(
                theta, self.optimiser.init(theta), estimator, jnp.asarray(NEVER, jnp.int32)
            )

        members, losses = jax.vmap(member)(keys), self.no_curve()
        recorded = self.trajectory_stride is not None
        return Carry(
            iteration=jnp.zeros((), jnp.int32),
            keys=keys,
            step_sizes=step_sizes,
            members=self.at_every_step_size(members),
            initial_loss=jax.vmap(partial(_evaluate, self, 0))(keys, members.theta),
            losses=losses,
            thetas=jnp.zeros((*losses.shape, self.parameters)) if recorded else None,
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        curve = self.known(carry, np.asarray(carry.losses))
        metrics = {
            "initial_loss": Metric(("seed",), np.asarray(carry.initial_loss)),
            "loss": Metric(MEMBER_AXES, curve[..., -1]),
            "loss_last_tenth": Metric(MEMBER_AXES, last_tenth(curve).mean(axis=-1)),
            "loss_curve": Metric((*MEMBER_AXES, "curve_step"), curve),
            "inner_steps_per_iteration": Metric(
                (), np.asarray(self.estimator.inner_steps(self.problem))
            ),
            "particles": Metric((), np.asarray(self.particles)),
            "operations_per_iteration": Metric((), np.asarray(self.operations, float)),
        }
        diverged = np.asarray(carry.diverged_at) != NEVER
        pairs = lost_pairs(carry.members.estimator, members=2)
        metrics |= lost_metric(MEMBER_AXES, pairs, diverged)
        if stride := self.trajectory_stride:
            thetas = self.known(carry, np.asarray(carry.thetas))[..., stride - 1 :: stride, :]
            metrics["theta"] = Metric((*MEMBER_AXES, "trajectory_step", "parameter"), thetas)
        return metrics


def _stream(key: PRNGKeyArray, use: str) -> PRNGKeyArray:
    """A seed's own stream of random numbers for one use."""
    return jax.random.fold_in(key, ("theta", "start", "iteration", "evaluation").index(use))


def _evaluate(
    program: MetaOptimisation, iteration: int | Array, key: PRNGKeyArray, theta: Any
) -> Float[Array, ""]:
    """The mean loss of θ over whole inner problems, which are others at every evaluation."""
    key = jax.random.fold_in(_stream(key, "evaluation"), iteration)
    keys = jax.random.split(key, program.evaluations)
    return jax.lax.map(
        lambda key: full_unroll_loss(program.problem, theta, key, program.evaluation_steps),
        keys,
        batch_size=program.evaluations if program.evaluations > 1 else None,
    ).mean()


def _iterate(
    program: MetaOptimisation, iteration: Array, key: PRNGKeyArray, step_size: Array, member: Member
) -> Member:
    """One estimate of the gradient, one update."""
    key = jax.random.fold_in(_stream(key, "iteration"), iteration)
    gradient, estimator = program.estimator.step(
        program.problem, member.theta, member.estimator, key
    )
    updates, optimiser = program.optimiser.update(
        gradient, member.optimiser, member.theta, step_size=step_size
    )
    theta = optax.apply_updates(member.theta, updates)
    finite = jnp.isfinite(ravel_pytree(theta)[0]).all()
    return Member(theta, optimiser, estimator, first_time(member.diverged_at, ~finite, iteration))


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=IN_PLACE)
def _advance(program: MetaOptimisation, carry: Carry) -> Carry:
    """One chunk: bin after bin, the iterations of a bin and then an evaluation."""
    bin_steps = program.timeline.bin_steps
    starts = carry.iteration + jnp.arange(0, program.chunk_steps, bin_steps, dtype=jnp.int32)

    def one(
        step_size: Array, key: PRNGKeyArray, member: Member
    ) -> tuple[Member, tuple[Array, Array]]:
        def iterate(member: Member, iteration: Array) -> tuple[Member, None]:
            return _iterate(program, iteration, key, step_size, member), None

        def one_bin(member: Member, start: Array) -> tuple[Member, tuple[Array, Array]]:
            member, _ = jax.lax.scan(
                iterate, member, start + jnp.arange(bin_steps, dtype=jnp.int32)
            )
            end = start + bin_steps
            loss = _evaluate(program, end, key, member.theta)
            diverged_at = first_time(member.diverged_at, ~jnp.isfinite(loss), end - 1)
            theta = ravel_pytree(member.theta)[0]
            return member._replace(diverged_at=diverged_at), (loss, theta)

        return jax.lax.scan(one_bin, member, starts)

    over_seeds = jax.vmap(one, (None, 0, 0))
    members, (losses, thetas) = jax.lax.map(
        lambda xs: over_seeds(xs[0], carry.keys, xs[1]), (carry.step_sizes, carry.members)
    )
    first_bin = carry.iteration // bin_steps
    insert = partial(jax.lax.dynamic_update_slice_in_dim, start_index=first_bin, axis=2)
    return carry._replace(
        iteration=carry.iteration + program.chunk_steps,
        members=members,
        losses=insert(carry.losses, losses),
        thetas=None if carry.thetas is None else insert(carry.thetas, thetas),
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given step sizes."""
    problem, estimator, optimiser = build_parts(fields, ("problem", "estimator", "optimiser"))
    particles = fields["groups"] * fields["estimator"].get("particles", 1)
    if fields["groups"] > 1:
        estimator = Staggered(estimator, fields["groups"])
    return MetaOptimisation(
        problem=problem,
        estimator=estimator,
        optimiser=optimiser,
        operations=costs(fields["estimator"], problem, estimator, particles)["operations"],
        particles=particles,
        evaluation_steps=fields["evaluation_steps"],
        evaluations=fields["evaluations"],
        step_sizes=step_sizes,
        seeds=fields["seeds"],
        total_steps=fields["steps"],
        choices=choices,
    )
