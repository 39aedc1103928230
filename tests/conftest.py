"""What must hold before any test imports jax: programs are compiled as runs compile them."""

import os
from collections.abc import Iterator

import pytest

from untruncated.running.jax_settings import compile_loops_whole

compile_loops_whole()
# Importing jax sets 1, which programs that tests start would inherit: with it the compiler warns
# on stderr each time that it reads a kept program.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
# Tests call make as a user does in a shell, also when make is what runs the tests.
for variable in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "CORES", "SCALE", "PYTHON"):
    os.environ.pop(variable, None)


@pytest.fixture(autouse=True)
def environment_variables_do_not_outlive_a_test() -> Iterator[None]:
    """Commands set some for the process they are; here a process runs many tests."""
    before = dict(os.environ)
    yield
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)
