"""What Brax and MuJoCo always say is held back where it arises; whatever else they say is told."""

import os
import subprocess
import sys
import warnings

import mujoco
import pytest

from untruncated.environments import quiet_brax
from untruncated.environments.quiet_brax import quiet, without_import_remarks


def test_lines_that_are_not_expected_are_printed(capsys):
    with without_import_remarks():
        print("Failed to import warp: No module named 'warp'")
        print("Failed to import warp: its library is broken")
        print("Failed to import mujoco_warp: No module named 'warp'")
    assert capsys.readouterr().out == "Failed to import warp: its library is broken\n"


def test_warnings_that_are_not_expected_are_told(capsys):
    with pytest.warns(UserWarning) as told, quiet():
        warnings.warn(f"{quiet_brax._AGE}. Please", UserWarning, stacklevel=1)
        warnings.warn("Brax System is on fire", UserWarning, stacklevel=1)
    assert [str(warning.message) for warning in told] == ["Brax System is on fire"]


def test_mujocos_warnings_but_one_are_told(capsys):
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        with quiet():
            handler = mujoco.get_mju_user_warning()
            handler("compiler attribute 'settotalmass' is deprecated and will be removed")
            handler("Nan, Inf or huge value in QACC")
        assert heard == ["Nan, Inf or huge value in QACC"]
        assert mujoco.get_mju_user_warning() == heard.append
    finally:
        mujoco.set_mju_user_warning(None)
    with quiet():
        mujoco.get_mju_user_warning()("Nan in QPOS")
    assert capsys.readouterr().err == "WARNING: Nan in QPOS\n"


@pytest.mark.parametrize(
    "code",
    [
        "from benchmarks.brax import brax_program; brax_program('halfcheetah', 1)",
        "from untruncated.rendering.brax_page import page",
        "from untruncated.environments.reacher_pomdp import ReacherPOMDP; ReacherPOMDP().system",
    ],
)
def test_benchmarks_pages_and_environments_are_silent(code):
    # Programs kept by an earlier test have remarks of their own, which runs silence.
    environment = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("", "")
