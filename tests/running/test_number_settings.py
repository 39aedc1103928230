"""A run's numbers are those of its spec, whatever the environment says to jax."""

import json
import os
import subprocess
import sys

import jax
import pytest

from untruncated.cli import main
from untruncated.experiments.spec import resolve_run
from untruncated.running.number_settings import FIXED, ROUNDING, given_flags, unusual

# Draws of several kinds, whole numbers beside floats, and matrix products.
SPEC = resolve_run(
    {
        "program": "next_observation",
        "steps": 100,
        "environment": {"name": "three_state_mdp"},
        "cell": {"name": "vanilla_rnn", "width": 3},
        "credit": {"name": "truncated_bptt", "truncation": 2},
        "step_sizes": [1e-3],
        "seeds": [0, 1],
    }
)
HOSTILE = {
    "JAX_DEFAULT_PRNG_IMPL": "rbg",
    "JAX_ENABLE_CUSTOM_PRNG": "1",
    "JAX_HIGH_DYNAMIC_RANGE_GUMBEL": "1",
    "JAX_LEGACY_PRNG_KEY": "error",
    "JAX_RANDOM_SEED_OFFSET": "7",
    "JAX_THREEFRY_PARTITIONABLE": "0",
    "JAX_ENABLE_X64": "1",
    "JAX_EXPLICIT_X64_DTYPES": "error",
    "JAX_NUMPY_DTYPE_PROMOTION": "strict",
    "JAX_NUMPY_RANK_PROMOTION": "raise",
    "JAX_CUSTOM_VJP3": "1",
    "JAX_SOFTMAX_CUSTOM_JVP": "1",
    "JAX_NO_EXECUTION": "1",
    "JAX_NO_TRACING": "1",
    "JAX_TRANSFER_GUARD": "disallow",
}
# These round as ever on a CPU, but need not elsewhere.
NOTED = {
    "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16",
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=false",
}


def test_jax_has_these_settings_by_itself():
    values = {name: jax.config.values[name] for name in (FIXED | ROUNDING)}
    assert values.pop("jax_transfer_guard") in (None, "allow")
    assert values == {name: value for name, value in (FIXED | ROUNDING).items() if name in values}
    assert {name.upper() for name in FIXED} == set(HOSTILE)


def test_the_environment_changes_no_number_and_what_may_round_is_told(tmp_path, capsys):
    arguments = ["run", SPEC.json, "--no-progress", "--results"]
    done = subprocess.run(
        [sys.executable, "-m", "untruncated.cli", *arguments, str(tmp_path / "hostile")],
        env={**os.environ, "NPROC": "1", **HOSTILE, **NOTED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert main([*arguments, str(tmp_path / "plain")]) == 0
    path = f"runs/{SPEC.hash}.json"
    hostile, plain = (
        json.loads((tmp_path / kind / path).read_text()) for kind in ("hostile", "plain")
    )
    assert json.dumps(hostile["metrics"]) == json.dumps(plain["metrics"])
    assert hostile["checksum"] == plain["checksum"]
    noted = "jax_default_matmul_precision=bfloat16, --xla_cpu_enable_fast_math=false"
    assert unusual(hostile["provenance"]) == noted
    assert unusual(plain["provenance"]) is None
    capsys.readouterr()
    for kind, notes in (("hostile", 1), ("plain", 0)):
        assert main(["verify", "--results", str(tmp_path / kind)]) == 0
        captured = capsys.readouterr()
        assert captured.err == "" and captured.out.count("note: ") == notes
        assert (f"{path}: computed with {noted}" in captured.out) == bool(notes)


def test_older_results_and_usual_flags_are_not_told(monkeypatch, tmp_path):
    loops = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold="
    usual = f"{loops}4194304 --xla_dump_to=/tmp/x --xla_cpu_experimental_ynn_fusion_type="
    for flags in (None, "", usual, f"{loops}1099511627776"):
        assert unusual({"xla_flags": flags}) is None
    assert unusual({"xla_flags": f"{loops}7", "rounding": {}}) == f"{loops}7"
    assert unusual({"xla_flags": 3, "rounding": [4]}) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), (" ", " "), (" --xla_a=1", " --xla_a=1"), ("no/file", "no/file")],
)
def test_flags_are_noted_as_they_are_given(given, expected, monkeypatch):
    monkeypatch.setattr(os, "environ", {} if given is None else {"XLA_FLAGS": given})
    assert given_flags() == expected


def test_flags_in_a_file_are_noted_themselves(monkeypatch, tmp_path):
    file = tmp_path / "flags"
    file.write_text("--xla_cpu_enable_fast_math=true\n  --xla_b=2\n")
    monkeypatch.setenv("XLA_FLAGS", f"{file}")
    assert given_flags() == "--xla_cpu_enable_fast_math=true --xla_b=2"
