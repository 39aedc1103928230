"""The examples run outside the repository, learn, and stay as short as they claim."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from untruncated.agents.adam import bias_corrections
from untruncated.agents.td_predictor import TDPredictor
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.estimators.online.traces import RTRL

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = EXAMPLES / "online_rtu.py"


@pytest.fixture
def td_lambda_rtu():
    spec = importlib.util.spec_from_file_location("td_lambda", EXAMPLES / "td_lambda_rtu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("learning", [False, True])
def test_td_lambda_rtu_predicts_what_the_suite_does(td_lambda_rtu, float64, learning):
    """To rounding while parameters stay; traces of λ and of ν age differently where they do not."""
    example, steps = td_lambda_rtu, 600
    environment = TraceConditioning()
    _, stream = environment.unroll(environment.start(jax.random.key(3)), steps)
    observed = stream.observation.astype(float), stream.reward.astype(float)
    cell = LinearRTU(12, 5)
    predictor = TDPredictor(cell, RTRL(cell), example.DISCOUNT, example.TRACE_DECAY)
    start = predictor.init(jax.random.key(4))
    step_size = jnp.asarray(example.STEP_SIZE if learning else 0.0)

    def step(state, xs):
        return predictor.step(state, xs[0], xs[1], step_size, xs[2])

    corrections = bias_corrections(jnp.maximum(jnp.arange(steps), 1))
    end, expected = jax.lax.scan(step, start, (*observed, corrections))
    last, found = example.learn(
        as_in_example(example, start.params), optax.adam(step_size), *observed
    )
    assert float(jnp.abs(expected).max()) > 0.3
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=2e-3 if learning else 1e-12)
    eligibility = as_in_example(example, end.eligibility)
    for ours, theirs in zip(eligibility, last.eligibility, strict=True):
        scale = float(jnp.abs(ours).max())
        assert float(jnp.abs(ours - theirs).max()) < (0.1 if learning else 1e-9) * scale


def as_in_example(example, params):
    return example.Params(*params.cell, *params.head.weights, params.head.bias)


def test_td_lambda_rtu_learns_and_draws(td_lambda_rtu, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(td_lambda_rtu, "STEPS", 60_000)
    monkeypatch.setattr(td_lambda_rtu, "UNITS", 16)
    td_lambda_rtu.main()
    errors = [float(line.rpartition(" ")[2]) for line in capsys.readouterr().out.splitlines()]
    assert len(errors) == 6 and errors[-1] < 0.8 * errors[0]
    assert (tmp_path / "td_lambda_rtu.png").read_bytes().startswith(b"\x89PNG")


def test_online_rtu_learns_from_a_folder_outside_the_repository(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    errors = [float(error) for error in re.findall(r"error (\S+)$", done.stdout, re.MULTILINE)]
    assert len(errors) == 10
    assert errors[-1] < 0.1 * errors[0]


def test_online_rtu_is_short_and_needs_only_the_layer_of_ours():
    lines = EXAMPLE.read_text().splitlines()
    assert len(lines) <= 40
    assert [line for line in lines if "untruncated" in line] == [
        "from untruncated.layers import LinearRTU"
    ]


def test_pes_on_your_loss_learns_a_decay_from_outside_the_repository(tmp_path):
    path = EXAMPLES / "pes_on_your_loss.py"
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    sizes = re.findall(r"step sizes (\S+) to (\S+)$", done.stdout, re.MULTILINE)
    first, last = (float(size) for size in sizes[-1])
    # of all such schedules the best falls from 0.22 to 0.0015
    assert len(sizes) == 6 and 0.05 < first < 0.5 and last < 0.5 * first
    assert len(path.read_text().splitlines()) <= 40
