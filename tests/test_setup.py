"""The lock, environment.yml and pyproject.toml say the same."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from ci_scripts import ci_script
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()


def locked() -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in ci_script("environment_yml").requirements(LOCK):
        requirement = Requirement(line)
        found.setdefault(requirement.name.lower().replace("_", "-"), []).append(requirement)
    return found


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *extras["cluster"], *extras["test"], *extras["build"]]
    return [Requirement(text) for text in texts]


def test_environment_yml_has_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    assert pip[-1] == "-e ."
    assert pip[:-1] == ci_script("environment_yml").requirements(LOCK)
    assert "python >=3.11,<3.14" in environment["dependencies"]


@pytest.mark.parametrize("requirement", declared(), ids=lambda r: r.name)
def test_every_declared_package_is_locked_at_an_allowed_version(requirement):
    for lock in locked()[requirement.name.lower().replace("_", "-")]:
        (pin,) = lock.specifier
        assert pin.operator == "=="
        assert requirement.specifier.contains(pin.version)


def test_every_locked_package_has_hashes_and_no_address():
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) > 100
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK


def test_the_versions_measured_to_work_together():
    pins = {name: str(next(iter(r[0].specifier)).version) for name, r in locked().items()}
    expected = {"jax": "0.9.2", "brax": "0.14.2", "mujoco": "3.17.0", "mujoco-mjx": "3.17.0"}
    assert {name: pins[name] for name in expected} == expected


@pytest.fixture
def installation(tmp_path):
    """A folder with the Makefile, and pythons that write down what they are asked to do."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    fake = f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$2" != venv ] || mkdir -p $4/bin\n'
    for path in (tmp_path / "python", tmp_path / ".venv" / "bin" / "python"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fake)
        path.chmod(0o755)

    def make():
        (tmp_path / "calls").write_text("")
        done = subprocess.run(
            ["make", "PYTHON=./python", ".venv/ready"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done, (tmp_path / "calls").read_text()

    return tmp_path, make


def test_a_newer_lock_is_installed_over_what_is_there(installation):
    folder, make = installation
    (folder / ".venv" / "ready").touch()
    (folder / ".venv" / "installed_by_hand").touch()
    os.utime(folder / ".venv" / "ready", (0, 0))
    done, calls = make()
    assert done.returncode == 0, done.stderr
    assert "--require-hashes -r requirements.lock" in calls
    assert "venv" not in calls
    assert (folder / ".venv" / "installed_by_hand").exists()
    assert "activate" in done.stdout


def test_an_environment_without_pip_is_made_anew(installation):
    folder, make = installation
    (folder / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    _, calls = make()
    assert "-m venv --clear .venv" in calls
