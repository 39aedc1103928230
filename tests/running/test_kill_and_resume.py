"""A run killed at any moment, even inside a write, goes on and ends with the same bytes.

This file is also the program that gets killed. Run as a script it imports jax once, then forks a
process per run asked for on stdin, so that thirty runs do not pay thirty times for the imports.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.basics.errors import SuiteError
from untruncated.results.metric import Metric
from untruncated.results.result_files import canonical_json, read_result, spec_hash
from untruncated.running.runner import run

SPEC = {"program": "noisy_map", "seeds": [0, 1, 2, 3]}
NAME = spec_hash(SPEC)
STEPS, CHUNK, EVERY = 480, 24, 8


class Carry(NamedTuple):
    key: jax.Array  # a typed key for all seeds, ()
    x: jax.Array  # (seeds,)
    curve: jax.Array  # (seeds, STEPS / EVERY)
    lost_at: jax.Array  # (seeds,) the step of divergence, 0 before
    step: jax.Array  # ()


def noisy_step(carry: Carry) -> Carry:
    """A chaotic map with noise; the third seed leaves its interval half way, for infinity."""
    key = jax.random.split(carry.key, 1)[0]
    noise = jax.random.key_data(key)[0] / 2.0**32  # a second draw would double the compile time
    x = 3.9 * carry.x * (1 - carry.x) + 1e-3 * noise
    x = jnp.clip(x, 0.01, 0.99)
    leaves = (jnp.arange(len(x)) == 2) & (carry.step >= STEPS // 2)
    x = jnp.where(leaves, carry.x * 1e9, x)
    step = carry.step + 1
    lost_at = jnp.where((carry.lost_at == 0) & ~jnp.isfinite(x), step, carry.lost_at)
    return Carry(key, x, carry.curve.at[:, carry.step // EVERY].set(x), lost_at, step)


class NoisyMap:
    """Four seeds of the map; `pause` seconds of sleep make a chunk long enough to be hit."""

    total_steps, chunk_steps, members, unit = STEPS, CHUNK, 4, "steps"

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self.axes = {"seed": SPEC["seeds"], "step": list(range(EVERY, STEPS + 1, EVERY))}
        self.choices = {"rate": np.float32(3.9)}

    def init(self) -> Carry:
        # numpy, and a key from its numbers: nothing to compile, as a run must start in no time
        key = jax.random.wrap_key_data(np.array([0, 7], np.uint32))
        x, curve = np.linspace(0.2, 0.5, 4), np.zeros((4, STEPS // EVERY))
        return Carry(key, x, curve, np.zeros(4, int), np.array(0))

    @staticmethod
    @jax.jit
    def _chunk(carry: Carry) -> Carry:
        return jax.lax.fori_loop(0, CHUNK, lambda _, carry: noisy_step(carry), carry)

    def advance(self, carry: Carry) -> Carry:
        time.sleep(self.pause)
        return self._chunk(carry)

    def diverged(self, carry: Carry) -> list[dict]:
        return [
            {"seed": seed, "step": int(step), "reason": "x is not finite"}
            for seed, step in zip(SPEC["seeds"], np.asarray(carry.lost_at), strict=True)
            if step
        ]

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        curve, last = np.asarray(carry.curve), np.asarray(carry.x)
        return {"x": Metric(("seed", "step"), curve), "last": Metric(("seed",), last)}


# The script: a process that forks runs.


def output_in(folder: Path) -> Path:
    return folder / "results" / "runs" / f"{NAME}.json"


def slow(call, pause: float):
    """A system call that takes a while before and after, so that kills land around it."""

    def slowed(*arguments):
        time.sleep(pause)
        call(*arguments)
        time.sleep(pause)

    return slowed


def write_slowly(pause: float, path: Path, data: bytes) -> None:
    """`Path.write_bytes` in two halves with a pause between."""
    with path.open("wb") as file:
        for half in (data[: len(data) // 2], data[len(data) // 2 :]):
            file.write(half)
            file.flush()
            time.sleep(pause)


def die(place: str, suffix: str) -> None:
    """Makes this process kill itself at one place of the first write to a file of this suffix."""
    replace, write_bytes = os.replace, Path.write_bytes

    def kill_self() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def dying_write(path: Path, data: bytes) -> None:
        if place == "half written" and f"{suffix}." in path.name:
            write_bytes(path, data[: len(data) // 2])
            kill_self()
        write_bytes(path, data)

    def dying_replace(source: Path, target: Path) -> None:
        hit = target.suffix == suffix
        if hit and place == "before the rename":
            kill_self()
        replace(source, target)
        if hit and place == "after the rename":
            kill_self()

    Path.write_bytes, os.replace = dying_write, dying_replace


def compute(folder: str, pause: float = 0.0, place: str = "", suffix: str = "") -> int:
    """One run in `folder`; its exit code. The chunk's pause is followed by as slow a write."""
    if pause:
        os.fsync, os.replace = slow(os.fsync, pause / 8), slow(os.replace, pause / 8)
        Path.write_bytes = lambda path, data: write_slowly(pause / 4, path, data)
    if place:
        die(place, suffix)
    output = output_in(Path(folder))
    try:
        run(NoisyMap(pause), SPEC, output, checkpoint_seconds=0.0, progress=False)
    except SuiteError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def fork_run(request: dict) -> int:
    """Starts a run in a child, its stderr in a file of its own; the child's process id."""
    child = os.fork()
    if child:
        return child
    log = os.open(request.pop("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    code = compute(**request)  # an error's traceback goes to the log, with exit code 1
    sys.stderr.flush()
    os._exit(code)  # without the parent's clean-up


def serve() -> None:
    """Answers each line on stdin: a request with a process id, a process id with its exit code."""
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, dict):
            print(fork_run(request), flush=True)
        else:
            _, status = os.waitpid(request, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


# The tests.


class Runs:
    """The forking process, seen from the tests."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-W", "ignore", __file__]  # jax warns of fork
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = subprocess.Popen(command, text=True, **pipes)
        self.log = folder / "stderr.log"
        assert self.server.stdout.readline() == "ready\n"

    def _ask(self, request: dict | int) -> int:
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def start(self, folder: Path, **options) -> int:
        return self._ask({"folder": str(folder), "log": str(self.log), **options})

    def wait(self, child: int) -> int:
        return self._ask(child)

    def finish(self, folder: Path, **options) -> int:
        return self.wait(self.start(folder, **options))

    def lines(self) -> list[str]:
        """What the runs have said since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def close(self) -> None:
        self.server.communicate()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("server"))
    yield runs
    runs.close()


def numbers(folder: Path) -> str:
    """The text of all that must be equal; the file itself must be in order."""
    output = output_in(folder)
    read_result(output, SPEC)
    document = json.loads(output.read_text())
    return canonical_json(
        {name: document[name] for name in ("spec", "axes", "metrics", "choices", "diverged")}
    )


def litter(folder: Path) -> list[str]:
    """Temporary files that killed writers left."""
    return sorted(path.name for path in folder.glob("results/*/.*.tmp*"))


PAUSE = 0.01  # seconds a chunk sleeps; a checkpoint takes about 1.5 times as long


def wait_for(path: Path) -> None:
    """Returns when a file is there."""
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


def checkpoint_in(folder: Path) -> Path:
    return folder / "results" / "checkpoints" / f"{NAME}.npz"


@pytest.fixture(scope="module")
def unbroken(runs, tmp_path_factory):
    """The numbers of a run that nobody disturbs, and its seconds after the first checkpoint."""
    folder, slowed = tmp_path_factory.mktemp("unbroken"), tmp_path_factory.mktemp("slowed")
    assert runs.finish(folder) == 0, runs.lines()
    child = runs.start(slowed, pause=PAUSE)
    wait_for(checkpoint_in(slowed))
    began = time.monotonic()
    assert runs.wait(child) == 0
    assert numbers(slowed) == numbers(folder)
    assert runs.lines() == []
    return numbers(folder), time.monotonic() - began


def test_the_unbroken_run_has_curves_and_one_diverged_seed(unbroken):
    document = json.loads(unbroken[0])
    (record,) = document["diverged"]
    assert record["seed"] == 2 and STEPS / 2 < record["step"] < STEPS / 2 + 8
    values = np.array(document["metrics"]["x"]["values"], dtype=float)
    assert np.isnan(values).sum(axis=1).tolist() == [0, 0, STEPS // EVERY // 2, 0]
    others = values[[0, 1, 3]]
    assert ((others > 0) & (others < 1)).all()
    assert len(np.unique(others)) > 0.9 * others.size


def test_sigkill_at_twenty_random_moments(runs, unbroken, tmp_path):
    expected, duration = unbroken
    generator, inside_writes, resumed = random.Random(20), 0, 0
    for trial in range(20):
        folder = tmp_path / str(trial)
        child = runs.start(folder, pause=PAUSE)
        if trial % 4:  # the others may be hit while they compile
            wait_for(checkpoint_in(folder))
        time.sleep(generator.random() * duration)
        os.kill(child, signal.SIGKILL)
        assert runs.wait(child) in (-signal.SIGKILL, 0)
        inside_writes += bool(litter(folder))
        resumed += checkpoint_in(folder).exists()
        assert runs.finish(folder) == 0
        assert numbers(folder) == expected, f"trial {trial}"
        assert litter(folder) == []
        assert os.listdir(checkpoint_in(folder).parent) == [f"{NAME}.lock"]
    assert runs.lines() == []  # no checkpoint was unreadable
    assert inside_writes >= 3 and resumed >= 5, (inside_writes, resumed)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("place", ["half written", "before the rename", "after the rename"])
def test_sigkill_inside_a_write(runs, unbroken, tmp_path, place, suffix):
    assert runs.finish(tmp_path, place=place, suffix=suffix) == -signal.SIGKILL
    assert bool(litter(tmp_path)) == (place != "after the rename")
    assert runs.finish(tmp_path) == 0
    assert numbers(tmp_path) == unbroken[0]
    assert litter(tmp_path) == []


def wait_for_change(path: Path) -> None:
    """Returns when a file, there or not, has been replaced."""
    before = path.stat().st_ino if path.exists() else None
    deadline = time.monotonic() + 20
    while not path.exists() or path.stat().st_ino == before:
        assert time.monotonic() < deadline, f"{path} never changed"
        time.sleep(0.002)


def test_killed_again_and_again(runs, unbroken, tmp_path):
    generator = random.Random(3)
    for _ in range(3):
        child = runs.start(tmp_path, pause=PAUSE)
        for _ in range(generator.randint(1, 3)):
            wait_for_change(checkpoint_in(tmp_path))
        time.sleep(generator.random() * PAUSE)
        os.kill(child, signal.SIGKILL)
        assert runs.wait(child) == -signal.SIGKILL
    assert runs.finish(tmp_path) == 0
    assert numbers(tmp_path) == unbroken[0]
    assert read_result(output_in(tmp_path), SPEC).timing["resumed"] == 3


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_sigterm_and_sigint_save_say_so_and_go_on(runs, unbroken, tmp_path, number, code):
    child = runs.start(tmp_path, pause=PAUSE)
    checkpoint = checkpoint_in(tmp_path)
    wait_for(checkpoint)
    os.kill(child, number)
    assert runs.wait(child) == code
    (line,) = runs.lines()
    words = line.split()
    assert words[:4] == [NAME, "stopped", "at", "step"] and int(words[4]) % CHUNK == 0
    assert line.endswith(f"of {STEPS}; run the same command to go on")
    assert checkpoint.exists() and not output_in(tmp_path).exists()
    assert runs.finish(tmp_path) == 0
    assert numbers(tmp_path) == unbroken[0]
    result = read_result(output_in(tmp_path), SPEC)
    assert result.timing["resumed"] == 1 and result.timing["steps"] == STEPS


def test_two_processes_at_once_compute_once(runs, unbroken, tmp_path):
    output = output_in(tmp_path)
    first = runs.start(tmp_path, pause=PAUSE)
    wait_for(checkpoint_in(tmp_path))
    second = runs.start(tmp_path, pause=30.0)  # would never end if it computed
    wait_for(output)
    written = output.stat()
    assert (runs.wait(first), runs.wait(second)) == (0, 0)
    after = output.stat()
    assert (after.st_ino, after.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert numbers(tmp_path) == unbroken[0]
    assert runs.lines() == [f"waiting for another process that is computing {NAME}"]


def test_an_orphan_killed_while_another_waits_is_succeeded(runs, unbroken, tmp_path):
    first = runs.start(tmp_path, pause=PAUSE)
    wait_for(checkpoint_in(tmp_path))
    second = runs.start(tmp_path)
    wait_for(runs.log)
    os.kill(first, signal.SIGKILL)
    assert (runs.wait(first), runs.wait(second)) == (-signal.SIGKILL, 0)
    assert numbers(tmp_path) == unbroken[0]
    assert read_result(output_in(tmp_path), SPEC).timing["resumed"] == 1
    runs.lines()


if __name__ == "__main__":
    serve()
