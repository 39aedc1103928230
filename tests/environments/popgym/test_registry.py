"""Environments by name, and what the catalogue says about them."""

import popgym.envs
import pytest

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.popgym import POPGYM
from untruncated.environments.popgym.registry import make, names


def test_every_environment_of_the_package_has_its_name_here():
    theirs = {
        name
        for name in dir(popgym.envs)
        if name.endswith(("Easy", "Medium", "Hard"))
        and isinstance(getattr(popgym.envs, name), type)
    }
    assert set(names()) == theirs == set(POPGYM)
    assert len(names()) == 48


@pytest.mark.parametrize("name", names())
def test_the_catalogue_knows_each_environments_sizes(name):
    entry = lookup("control_environment", name, "environment")
    for fidelity in entry.fields["fidelity"].choices:
        fields = entry.resolve({"fidelity": fidelity}, "environment")
        game = entry.load()(**fields)
        assert game == make(name, fidelity)
        assert entry.observation_size(fields) == game.observation_size
        assert entry.actions(fields) == game.actions


def test_actions_are_as_many_as_the_packages():
    for name in names():
        if name.startswith("Labyrinth"):
            continue
        space = getattr(popgym.envs, name)().action_space
        n = getattr(space, "n", None)
        expected = int(n) if n is not None else None
        if hasattr(space, "nvec"):
            expected = int(space.nvec.prod())
        assert make(name).actions == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CountRecalEasy", "did you mean 'CountRecallEasy'"),
        ("countrecalleasy", "did you mean 'CountRecallEasy'"),
        ("RepeatFirst", "did you mean 'RepeatFirstHard'"),
        ("popgym-MineSweeperHard-v0", "did you mean 'MineSweeperHard'"),
        ("?", "Known: AutoencodeEasy, "),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name, message):
    with pytest.raises(ValueError, match="unknown environment") as error:
        make(name)
    assert message in str(error.value)


def test_a_variant_that_does_not_exist():
    with pytest.raises(ValueError, match="fidelity of RepeatFirstEasy must be exact, not 'ref"):
        make("RepeatFirstEasy", fidelity="reference")
    with pytest.raises(ValueError, match="must be exact or reference, not 'exakt'"):
        make("CountRecallEasy", fidelity="exakt")
    with pytest.raises(CatalogueError, match=r"fidelity.*did you mean 'exact'"):
        lookup("control_environment", "CountRecallEasy", "e").resolve({"fidelity": "exakt"}, "e")
