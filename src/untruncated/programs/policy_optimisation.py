"""Control: an agent with memory learns by PPO; learning rates × seeds, one update per chunk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.agents.actor_critic import ActorCritic
from untruncated.agents.ppo import PPO, Learner, UpdateStatistics, start, update
from untruncated.agents.rollouts import Rollout, Stage, collect, first_stage
from untruncated.environments.protocol import Environment
from untruncated.programs.compiling import IN_PLACE
from untruncated.programs.control import build_agent, build_ppo, build_task, episode_statistics
from untruncated.programs.curves import Timeline
from untruncated.programs.divergence import first_time
from untruncated.programs.step_sizes_and_seeds import MEMBER_AXES, StepSizesAndSeeds
from untruncated.programs.streams import keys_for
from untruncated.results.metric import Metric

STATISTICS = UpdateStatistics._fields
# Of a curve: there are eight for each member, and a result file has to stay small.
MOST_BINS = 60


class Member(NamedTuple):
    """One agent: what it learns, where it stands in its task, and its random key."""

    learner: Learner
    stage: Stage
    key: PRNGKeyArray


class Carry(NamedTuple):
    """Agents, and sums in the bins of curves.

    `returns` sums the returns of the episodes that ended in a bin, `episodes` counts them, and
    `statistics` sums those of the updates. `untrained` are both sums over the first rollout.
    """

    step: Int[Array, ""]
    step_sizes: Float[Array, " step_sizes"]
    members: Member
    returns: Float[Array, "step_sizes seeds bins"]
    episodes: Float[Array, "step_sizes seeds bins"]
    statistics: dict[str, Float[Array, "step_sizes seeds bins"]]
    untrained: Float[Array, "step_sizes seeds 2"]
    diverged_at: Int[Array, "step_sizes seeds"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PolicyOptimisation(StepSizesAndSeeds):
    """A `programs.protocol.Program`: agents of a seed start alike at every learning rate.

    A chunk is a rollout and the update after it. Returns are undiscounted sums of the task's own
    rewards, of whole episodes.
    """

    reason = "the gradient is not finite"

    task: Environment
    agent: ActorCritic
    ppo: PPO
    operations: float = 0.0  # a chunk is a rollout, whatever that costs

    @property
    def timeline(self) -> Timeline:
        return Timeline(self.total_steps, most_bins=_bins(self.total_steps // self.ppo.rollout))

    @property
    def chunk_steps(self) -> int:
        return self.ppo.rollout

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> Carry:
        def member(agent_key: PRNGKeyArray, task_key: PRNGKeyArray, key: PRNGKeyArray) -> Member:
            learner = start(self.ppo, self.agent, agent_key)
            return Member(learner, first_stage(self.agent, self.task, task_key), key)

        members = jax.vmap(member)(*(keys_for(data, seeds) for data in range(3)))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            members=self.at_every_step_size(members),
            returns=self.no_curve(),
            episodes=self.no_curve(),
            statistics={name: self.no_curve() for name in STATISTICS},
            untrained=jnp.zeros((*self.shape, 2)),
            diverged_at=self.none_diverged(),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        returns, episodes = (np.asarray(c, np.float64) for c in (carry.returns, carry.episodes))
        untrained = np.asarray(carry.untrained, np.float64)
        late = max(1, returns.shape[-1] // 10)
        curve = self.known(carry, _carried_on(_mean(returns, episodes)))
        lost = np.asarray(carry.diverged_at) >= 0
        whole = {
            "return": _mean(returns.sum(-1), episodes.sum(-1)),
            "return_last_tenth": _mean(returns[..., -late:].sum(-1), episodes[..., -late:].sum(-1)),
            "best_return": _largest(curve),
            "untrained_return": _mean(untrained[..., 0], untrained[..., 1]),
        }
        known = {
            name: np.where(lost & (name != "untrained_return"), np.nan, value)
            for name, value in whole.items()
        }
        updates = self.timeline.bin_steps // self.ppo.rollout
        curves = {"return_curve": curve, "episodes_curve": self.known(carry, episodes)} | {
            f"{name}_curve": self.known(carry, np.asarray(carry.statistics[name]) / updates)
            for name in STATISTICS
        }
        return {
            name: Metric((*MEMBER_AXES, "curve_step")[: value.ndim], value.astype(np.float32))
            for name, value in (known | curves).items()
        }


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=IN_PLACE)
def _advance(program: PolicyOptimisation, carry: Carry) -> Carry:
    """One rollout and one update of every member."""
    ppo, agent, timeline = program.ppo, program.agent, program.timeline
    left = 1 - carry.step / program.total_steps

    def act(member: Member) -> tuple[Stage, Rollout, Any]:
        return collect(
            agent,
            program.task,
            member.learner.params,
            member.stage,
            ppo.rollout,
            lambda state: episode_statistics(state).last_return,
        )

    def learn(each: tuple) -> tuple[Learner, UpdateStatistics, PRNGKeyArray]:
        member, rollout, step_size = each
        key, draw = jax.random.split(member.key)
        size = step_size * left if ppo.decay_step_size else step_size
        return *update(ppo, agent, member.learner, rollout, member.stage.carry, draw, size), key

    stages, rollouts, last_returns = jax.vmap(jax.vmap(act))(carry.members)
    sizes = jnp.broadcast_to(carry.step_sizes[:, None], program.shape)
    learners, statistics, keys = _one_by_one(learn, (carry.members, rollouts, sizes))
    members = Member(learners, stages, keys)
    ended = rollouts.shown.terminated | rollouts.shown.truncated
    returns, episodes = jnp.where(ended, last_returns, 0).sum(-1), ended.sum(-1).astype(float)
    bin_number, first = carry.step // timeline.bin_steps, carry.step == 0

    def added(curve: Array, values: Array) -> Array:
        return curve.at[..., bin_number].add(values)

    finite = jnp.isfinite(statistics.gradient_norm)
    return Carry(
        step=carry.step + ppo.rollout,
        step_sizes=carry.step_sizes,
        members=members,
        returns=added(carry.returns, returns),
        episodes=added(carry.episodes, episodes),
        statistics={
            name: added(carry.statistics[name], getattr(statistics, name)) for name in STATISTICS
        },
        untrained=jnp.where(first, jnp.stack([returns, episodes], axis=-1), carry.untrained),
        diverged_at=first_time(
            carry.diverged_at, ~finite, jnp.full(program.shape, carry.step, jnp.int32)
        ),
    )


def _one_by_one(function: Callable[[Any], Any], members: Any) -> Any:
    """The function of every member; on a CPU of one after the other, which its caches like."""
    if jax.default_backend() != "cpu":
        return jax.vmap(jax.vmap(function))(members)
    return jax.lax.map(lambda row: jax.lax.map(function, row), members)


def _bins(updates: int) -> int:
    """Points of the curve, each of as many updates: the most that leave out no more than needed."""
    numbers = range(min(updates, MOST_BINS // 3), min(updates, MOST_BINS) + 1)
    kept = {n: updates // n * n for n in numbers}
    return max(n for n in numbers if kept[n] >= min(0.98 * updates, max(kept.values())))


def whole_steps(steps: int, rollout: int) -> int:
    """The steps of the updates that fill the curve's bins."""
    updates = steps // rollout
    bins = _bins(updates)
    return updates // bins * bins * rollout


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """NaN where there is nothing to average."""
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def _carried_on(curve: np.ndarray) -> np.ndarray:
    """The curve with the value before in bins in which no episode ended; NaN before the first."""
    known = np.where(np.isnan(curve), 0, np.arange(curve.shape[-1]))
    return np.take_along_axis(curve, np.maximum.accumulate(known, axis=-1), axis=-1)


def _largest(curve: np.ndarray) -> np.ndarray:
    """The largest value of each curve, NaN where it has none."""
    largest = np.max(np.where(np.isnan(curve), -np.inf, curve), axis=-1)
    return np.where(np.isfinite(largest), largest, np.nan)


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given learning rates."""
    task, ppo = build_task(fields), build_ppo(fields)
    return PolicyOptimisation(
        task=task,
        agent=build_agent(fields, task),
        ppo=ppo,
        step_sizes=step_sizes,
        seeds=fields["seeds"],
        total_steps=whole_steps(fields["steps"], ppo.rollout),
        choices=choices,
    )
