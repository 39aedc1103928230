"""From a run's fields to a task with its wrappers and to an agent that acts in it."""

from collections.abc import Mapping
from typing import Any

from untruncated.agents.actor_critic import ENCODED, ActorCritic
from untruncated.agents.memories import Memory, TraceMemory, WindowMemory
from untruncated.agents.policies import Categorical, DiagonalGaussian
from untruncated.agents.ppo import PPO
from untruncated.catalogue import lookup
from untruncated.catalogue.control import fidelities
from untruncated.environments.protocol import Environment
from untruncated.environments.wrappers import (
    AutoReset,
    ClipActions,
    EpisodeStatistics,
    LastActionAndReward,
    NormaliseObservations,
    ScaleRewards,
)

# What the RTU paper's public code clips the torques to, where Brax has 1.
REFERENCE_BOUND = 2.0


def build_task(fields: Mapping[str, Any]) -> Environment:
    """The task of a resolved spec, which restarts by itself and counts its episodes' returns."""
    given, reference = dict(fields["environment"]), fields["fidelity"] == "reference"
    name = given.pop("name")
    differs = reference and "reference" in fidelities(name)
    entry = lookup("environment", name, "environment")
    task = entry.load()(**given, fidelity="reference" if differs else "exact")
    if fields["also_sees"] != "nothing":
        task = LastActionAndReward(task, reward=fields["also_sees"] == "action_and_reward")
    task = EpisodeStatistics(AutoReset(task))
    if fields["normalise"] != "nothing":
        task = NormaliseObservations(task, fidelity=fields["fidelity"])
    if fields["normalise"] == "observations_and_rewards":
        task = ScaleRewards(task, discount=fields["learner"]["discount"])
    # Outermost, so that the agent sees its last action as it was carried out.
    bound = REFERENCE_BOUND if reference and task.action_bound == 1 else None
    return ClipActions(task, bound) if task.actions is None else task


def episode_statistics(state: Any) -> Any:
    """The state of `EpisodeStatistics` within that of a task."""
    while not hasattr(state, "last_return"):
        state = state.inner
    return state


def build_ppo(fields: Mapping[str, Any]) -> PPO:
    """The learner of a resolved spec."""
    values = {key: value for key, value in fields["learner"].items() if key != "name"}
    reference = fields["fidelity"] == "reference"
    return PPO(**values, time_limits="termination" if reference else "truncation")


def build_agent(fields: Mapping[str, Any], task: Environment) -> ActorCritic:
    """The agent of a resolved spec."""
    real = task.actions is None
    policy = DiagonalGaussian(task.action_size) if real else Categorical(task.actions)
    return ActorCritic(task.observation_size, _memory(fields), policy)


def _memory(fields: Mapping[str, Any]) -> Memory:
    given, credit = dict(fields["cell"]), fields["credit"]
    entry = lookup("cell", given.pop("name"), "cell")
    more = {"fidelity": fields["fidelity"]} if entry.reference is not None else {}
    cell = entry.load()(inputs=ENCODED, **given, **more)
    if credit["name"] == "rtrl":
        return TraceMemory(cell, fields["learner"]["trace_storage"])
    return WindowMemory(cell, credit["truncation"])
