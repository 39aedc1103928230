"""The examples run outside the repository, learn, and stay as short as they claim."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "online_rtu.py"


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
