"""SIGINT and SIGTERM are answered while the main thread is in compiled code and stays there."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from untruncated.results.result_files import spec_hash

SPEC = {"program": "stuck", "steps": 4}
NAME = spec_hash(SPEC)
# C's sleep, called again and again as compiled code would go on: Python's handlers change nothing.
SCRIPT = """
import ctypes
import json
import sys
from pathlib import Path
import jax.numpy as jnp
import numpy as np
from untruncated.results.metric import Metric
from untruncated.running.runner import run

folder, stuck_at = Path(sys.argv[1]), int(sys.argv[2])

class Stuck:
    total_steps, chunk_steps, members, unit = 4, 1, 1, "steps"
    axes, choices = {}, {}

    def init(self):
        return {"step": jnp.int32(0)}

    def advance(self, carry):
        if int(carry["step"]) == stuck_at:
            (folder / "stuck").touch()
            while True:
                ctypes.CDLL(None).sleep(600)  # starts again, as compiled code does
        return {"step": carry["step"] + 1}

    def diverged(self, carry):
        return []

    def metrics(self, carry):
        return {"step": Metric((), np.asarray(carry["step"]))}

def note(line):
    (folder / "log").write_text(line)

spec, name = json.loads(sys.argv[3]), sys.argv[4]
output = folder / "runs" / f"{name}.json"
run(Stuck(), spec, output, checkpoint_seconds=0.0, progress=False, last_words=note)
"""


def stuck(folder: Path, step: int) -> subprocess.Popen:
    arguments = [str(folder), str(step), json.dumps(SPEC), NAME]
    command = [sys.executable, "-c", SCRIPT, *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (folder / "stuck").exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_a_run_before_its_first_chunk_is_done(number, tmp_path):
    process = stuck(tmp_path, 0)
    process.send_signal(number)
    error = process.communicate(timeout=10)[1]
    line = f"{NAME} stopped before its first chunk was done; run the same command to go on"
    assert (process.returncode, error) == (128 + number, f"error: {line}\n")
    assert (tmp_path / "log").read_text() == line


def test_a_second_signal_ends_it_later_and_the_checkpoint_stays(tmp_path):
    process = stuck(tmp_path, 2)
    for _ in range(2):  # the second one is an echo of the first
        process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=1)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=10)[1]
    line = f"{NAME} ended at once, as it was asked to twice"
    assert (process.returncode, error) == (128 + signal.SIGINT, f"error: {line}\n")
    assert (tmp_path / "checkpoints" / f"{NAME}.npz").exists()
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())
