import os
import subprocess
import sys
from pathlib import Path

import pytest

from untruncated.running.jax_settings import (
    compile_every_loop_whole,
    compile_loops_whole,
    prepare_jax,
)
from untruncated.running.number_settings import EVERY_LOOP, LOOP_BYTES, XLA_FLAGS

OURS = [f"--{name}={value}" for name, value in XLA_FLAGS.items()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, OURS),
        ("--xla_cpu_enable_fast_math=true", [*OURS, "--xla_cpu_enable_fast_math=true"]),
        (" --xla_cpu_enable_fast_math=true", [*OURS, "--xla_cpu_enable_fast_math=true"]),
        ("--xla_cpu_experimental_ynn_fusion_type=x", None),
        ("/etc/xla_flags", ["/etc/xla_flags"]),
    ],
)
def test_flags_are_added_to_those_given_and_give_way_to_them(monkeypatch, given, expected):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if given:
        monkeypatch.setenv("XLA_FLAGS", given)
    compile_loops_whole()
    assert os.environ["XLA_FLAGS"].split() == (expected or [OURS[0], given])
    before = os.environ["XLA_FLAGS"]
    compile_loops_whole()
    assert os.environ["XLA_FLAGS"] == before


@pytest.mark.parametrize("given", [None, "--xla_cpu_enable_fast_math=true"])
def test_every_loop_is_compiled_whole_where_sizes_are_compared(monkeypatch, given):
    monkeypatch.setattr(os, "environ", {"XLA_FLAGS": given} if given else {})
    compile_every_loop_whole()
    prepare_jax()
    flags = os.environ["XLA_FLAGS"].split()
    assert OURS[0].replace(str(LOOP_BYTES), str(EVERY_LOOP)) in flags
    assert OURS[0] not in flags and OURS[1] in flags and (given is None or given in flags)
    before = os.environ["XLA_FLAGS"]
    compile_every_loop_whole()
    assert os.environ["XLA_FLAGS"] == before


@pytest.mark.parametrize(
    "given",
    ["--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=7", "/etc/xla_flags"],
)
def test_a_bound_that_the_user_gives_is_kept_where_sizes_are_compared(monkeypatch, given):
    monkeypatch.setattr(os, "environ", {"XLA_FLAGS": given})
    compile_every_loop_whole()
    assert [flag for flag in os.environ["XLA_FLAGS"].split() if flag not in OURS] == [given]
    assert OURS[0] not in os.environ["XLA_FLAGS"].split()


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("4", "4")])
def test_a_run_takes_one_core_unless_told_otherwise(monkeypatch, given, expected):
    monkeypatch.setattr(os, "environ", {} if given is None else {"NPROC": given})
    prepare_jax()
    assert os.environ["NPROC"] == expected


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("JAX_PLATFORMS=rocm", "'rocm' is not in the list of known backends"),
        ("JAX_PLATFORMS=cpu,abacus", "'abacus' is not in the list of known backends"),
        ("JAX_ENABLE_X64=perhaps", "invalid truth value 'perhaps'"),
        ("XLA_FLAGS=--xla_cpu_enable_fast_maths=1", "Unknown flag in XLA_FLAGS"),
        ("XLA_FLAGS=--xla_cpu_max_isa=1 --xla_cpu_use_xnnpack=sometimes", "value sometimes"),
        ("XLA_FLAGS=no/file", "Could not open file"),
    ],
)
def test_whatever_stops_jax_is_told_in_one_line(setting, reason):
    start = "benchmarks" if "rocm" in setting else "untruncated.cli show RepeatFirstEasy"
    name, _, value = setting.partition("=")
    unset = {key: of for key, of in os.environ.items() if not key.startswith(("JAX_", "XLA_"))}
    done = subprocess.run(
        [sys.executable, "-m", *start.split()],
        cwd=Path(__file__).parents[2],
        env={**unset, "NPROC": "1", "XLA_FLAGS": "", name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: jax cannot start: ")
    assert reason in done.stderr
    assert done.stderr.endswith(f"See what the environment sets: {name}={value}\n")
    assert done.stderr.count("\n") == 1


PROGRAM = """
import sys
from pathlib import Path
from untruncated.running.jax_settings import compile_every_loop_whole, prepare_jax
if "every" in sys.argv:
    compile_every_loop_whole()
prepare_jax()
assert "jax" not in sys.modules
import jax
import jax.numpy as jnp

def loop(x):
    # dozens of kernels, a matrix product among them, and a loop inside the loop
    def step(_, y):
        y = jnp.tanh(x @ y).cumsum(axis=0)[::-1]
        return jax.lax.fori_loop(0, 3, lambda _, z: jnp.sin(z) + y.sum(), y)
    return jax.lax.fori_loop(0, 50, step, x)

small = jax.jit(loop).lower(jnp.ones((16, 16))).compile().as_text()
large = jax.jit(loop).lower(jnp.ones((2048, 2048))).compile().as_text()
print(small.count('xla_cpu_small_call="true"'), large.count('xla_cpu_small_call="true"'))
"""


@pytest.mark.parametrize("argument", ["", "every"])
def test_small_loops_are_one_function_and_large_ones_only_if_they_are_to_be(argument):
    environment = {**os.environ, "XLA_FLAGS": ""}
    command = [sys.executable, "-c", PROGRAM, argument]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert small >= 1 and (large >= 1) == (argument == "every")
    assert 2048 * 2048 * 4 > LOOP_BYTES > 16 * 16 * 4
