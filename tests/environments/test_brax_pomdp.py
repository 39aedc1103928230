"""What is seen of a robot, and that the catalogue knows it."""

from types import SimpleNamespace

import numpy as np
import pytest

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.brax import BRAX
from untruncated.environments.brax_environment import State, simulator
from untruncated.environments.brax_pomdp import UNSEEN, BraxPOMDP

SPLITS = {"ant": (13, 14), "halfcheetah": (8, 9), "hopper": (5, 6), "walker2d": (8, 9)}


def shown(robot, part, fidelity="exact"):
    """Which entries of Brax's observation are seen."""
    state = State(None, np.arange(sum(SPLITS[robot])), 0)
    return BraxPOMDP(name=robot, part=part, fidelity=fidelity).observation(state).tolist()


@pytest.mark.parametrize("robot", UNSEEN)
def test_positions_and_velocities_partition_the_observation(robot):
    positions, velocities = SPLITS[robot]
    assert shown(robot, "P") == list(range(positions))
    assert shown(robot, "V") == list(range(positions, positions + velocities))
    assert shown(robot, "PV") == list(range(positions + velocities))
    assert shown(robot, "PV", "reference") == shown(robot, "PV")
    system = simulator(robot).environment.sys
    assert velocities == system.qd_size()
    assert positions == system.q_size() - UNSEEN[robot]


@pytest.mark.parametrize("robot", UNSEEN)
def test_the_reference_differs_in_halfcheetahs_forward_velocity_alone(robot):
    moved = [8] if robot == "halfcheetah" else []
    assert shown(robot, "P", "reference") == shown(robot, "P") + moved
    assert moved + shown(robot, "V", "reference") == shown(robot, "V")


def test_the_reference_split_of_halfcheetah():
    assert len(shown("halfcheetah", "P", "reference")) == 9
    assert shown("halfcheetah", "V", "reference") == list(range(9, 17))
    names = BraxPOMDP("reference", name="halfcheetah").feature_names
    assert names[-1] == "rootx velocity"


@pytest.mark.parametrize("name", BRAX)
def test_the_catalogue_knows_each_environments_sizes(name):
    entry = lookup("control_environment", name, "environment")
    for fidelity in ("exact", "reference"):
        fields = entry.resolve({"fidelity": fidelity}, "environment")
        environment = entry.load()(**fields)
        assert (environment.fidelity, environment.longest) == (fidelity, 1000)
        if not name.startswith("reacher"):
            assert f"{environment.name}-{environment.part}" == name
        assert entry.observation_size(fields) == environment.observation_size
        assert entry.observation_size(fields) == len(environment.feature_names)
        assert entry.actions(fields) is environment.actions is None
        assert entry.action_size == environment.action_size
    short = entry.load()(**entry.resolve({"episode_length": 50}, "environment"))
    assert short.episode_length == 50
    with pytest.raises(CatalogueError, match=r"episode_length.*at least 1"):
        entry.resolve({"episode_length": 0}, "environment")


@pytest.mark.parametrize("name", ["Ant-P", "ant_P", "hoper-V", "HalfCheetah-V", "Reacher"])
def test_an_unknown_name_suggests_the_nearest(name):
    with pytest.raises(CatalogueError, match=r"did you mean '(ant-P|hopper-V|half.*-V|reacher)'"):
        lookup("control_environment", name, "environment")


def test_a_state_as_text():
    physics = SimpleNamespace(q=np.arange(6) / 8, qd=np.arange(6) / -4 - 0.25)
    environment = BraxPOMDP(name="hopper", part="V")
    assert environment.render(State(physics, np.arange(11) / 2, 3)).splitlines() == [
        "sees     +2.500 +3.000 +3.500 +4.000 +4.500 +5.000",
        "truth q  +0.000 +0.125 +0.250 +0.375 +0.500 +0.625",
        "truth qd -0.250 -0.500 -0.750 -1.000 -1.250 -1.500",
    ]
    seen, coordinates, velocities = environment.legend()
    assert seen.split()[1:] == velocities.split()[2:]
    assert coordinates.endswith("rootx, rootz, rooty, thigh_joint, leg_joint, foot_joint")
    assert BraxPOMDP(name="hopper").feature_names[:2] == ["height", "rooty"]
