"""profiles/generic: Ctrl-C ends its jobs, and a path that would break them is refused at once."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import make_project, small_figure

FIGURE = small_figure(
    {"rtu": {"cell": {"name": "linear_rtu", "width": 1}, "credit": "rtrl"}},
    {"steps": 2_000_000_000, "step_sizes": [3e-3], "final_blocks": 1},  # of many minutes
)
COMMAND = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/generic", "figure9"]

pytestmark = pytest.mark.slow


def wait_for(what: Callable[[], object], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.2)


def alive(group: int) -> bool:
    """Whether a process of the group is left; zombies that wait for their parent are not."""
    states = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its_group) == group and state != "Z":
            states.append(state)
    return bool(states)


def without_terminal(folder: Path) -> Callable[[], int]:
    with (folder / "output").open("wb") as output:
        job = subprocess.Popen(
            COMMAND, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip

    def stop() -> int:
        job.send_signal(signal.SIGINT)
        return job.wait(120)

    return stop


def in_a_terminal(folder: Path) -> Callable[[], int]:
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(COMMAND[0], COMMAND)

    def stop() -> int:
        os.write(terminal, b"\x03")  # Ctrl-C, for all processes of the terminal's foreground
        os.set_blocking(terminal, False)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                os.read(terminal, 1 << 16)
            except BlockingIOError:
                time.sleep(0.1)
            except OSError:  # closed at the other end
                break
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return stop


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("start", [without_terminal, in_a_terminal])
def test_ctrl_c_ends_the_jobs_which_save_a_checkpoint(start, tmp_path):
    folder = make_project(tmp_path / "project", FIGURE)
    stop = start(folder)
    groups: list[int] = []
    try:
        wait_for(lambda: list(folder.glob("results/checkpoints/*.npz")))  # it computes
        groups += [int(path.read_text()) for path in folder.glob(".snakemake/generic/*.pid")]
        assert len(groups) == 1 and alive(groups[0])
        (checkpoint,) = folder.glob("results/checkpoints/*.npz")
        before = checkpoint.stat().st_mtime_ns
        assert stop() != 0
        wait_for(lambda: not alive(groups[0]), 60)
        assert checkpoint.stat().st_mtime_ns > before
        assert not list(folder.glob("results/runs/*.json"))
    finally:
        for group in groups:
            if alive(group):
                os.killpg(group, signal.SIGKILL)


def test_a_path_that_breaks_job_scripts_is_refused_before_anything_starts(tmp_path):
    folder = make_project(tmp_path / "costs $HOME", FIGURE)
    done = subprocess.run(
        COMMAND, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and f"'{folder}'" in lines[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert not (folder / ".snakemake/generic").exists()
    assert not (folder / "results").exists()
