"""A real learner, killed and stopped through the command line, ends as if it had not been."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from untruncated.experiments.spec import resolve_run

pytestmark = pytest.mark.slow

# Ten chunks, each a fraction of a second.
SPEC = resolve_run(
    {
        "program": "online_prediction",
        "steps": 200_000,
        "environment": {"name": "trace_conditioning"},
        "cell": {"name": "linear_rtu", "width": 4},
        "credit": {"name": "rtrl"},
        "learner": {"name": "td"},
        "step_sizes": [1e-3],
        "seeds": [0, 1, 2],
    }
)


def start(folder: Path) -> subprocess.Popen:
    arguments = ["run", SPEC.json, "--results", str(folder), "--checkpoint-seconds", "0"]
    return subprocess.Popen(
        [sys.executable, "-m", "untruncated.cli", *arguments],
        env={**os.environ, "NPROC": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_checkpoint(folder: Path, process: subprocess.Popen) -> None:
    checkpoint = folder / "checkpoints" / f"{SPEC.hash}.npz"
    while not checkpoint.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.01)


def finish(folder: Path) -> dict:
    process = start(folder)
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 0, output
    return json.loads((folder / "runs" / f"{SPEC.hash}.json").read_text())


def test_a_learner_that_was_killed_and_stopped_has_the_same_numbers(tmp_path):
    unbroken = finish(tmp_path / "unbroken")
    broken = tmp_path / "broken"
    process = start(broken)
    wait_for_checkpoint(broken, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    process = start(broken)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=300)[0]
    # asked while Python was still starting, it ends at once; later, with a checkpoint
    assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM, 0), output
    assert "Traceback" not in output
    if process.returncode != 0:
        finish(broken)
    result = json.loads((broken / "runs" / f"{SPEC.hash}.json").read_text())
    for section in ("axes", "metrics", "choices", "diverged"):
        assert json.dumps(result[section]) == json.dumps(unbroken[section])
    assert unbroken["timing"]["resumed"] == 0
    assert result["timing"]["resumed"] >= 1
