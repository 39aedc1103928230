"""The runner's answers to divergence, damage, full disks and signals, on a program of counters."""

import errno
import io
import os
import signal
import time
import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.basics.errors import SuiteError
from untruncated.results.metric import Metric
from untruncated.results.result_files import Result, read_result, spec_hash, write_result
from untruncated.running import checkpoints, runner
from untruncated.running.runner import Interrupted

SPEC = {"program": "counters", "steps": 12}
NAME = spec_hash(SPEC)


class Counters:
    """Three members count in steps of 1, 2 and 3 from 0; one past its limit diverges to NaN."""

    unit, members = "steps", 3

    def __init__(self, limit: float = np.inf, chunk: int = 2, on_chunk=lambda step: None) -> None:
        self.total_steps, self.chunk_steps = SPEC["steps"], chunk
        self.limit, self.on_chunk = limit, on_chunk
        self.axes = {"member": [1, 2, 3], "step": list(range(1, self.total_steps + 1))}
        self.choices = {"stride": np.float32(0.1)}
        self.chunks = self.traces = 0
        self._chunk = jax.jit(self._count, donate_argnums=0)  # the old carry may be overwritten

    def init(self):
        shape = (3, self.total_steps)
        return {"sum": jnp.zeros(3), "curve": jnp.full(shape, jnp.nan), "step": jnp.int32(0)}

    def _count(self, carry):
        self.traces += 1

        def body(_, carry):
            total = carry["sum"] + jnp.arange(1.0, 4.0)
            total = jnp.where(total > self.limit, jnp.nan, total)
            curve = carry["curve"].at[:, carry["step"]].set(total)
            return {"sum": total, "curve": curve, "step": carry["step"] + 1}

        return jax.lax.fori_loop(0, self.chunk_steps, body, carry)

    def advance(self, carry):
        self.chunks += 1
        carry = self._chunk(carry)
        self.on_chunk(int(carry["step"]))
        return carry

    def diverged(self, carry):
        step = int(carry["step"])
        lost = np.flatnonzero(np.isnan(np.asarray(carry["sum"])))
        return [{"member": int(i) + 1, "step": step, "reason": "past the limit"} for i in lost]

    def metrics(self, carry):
        return {"count": Metric(("member", "step"), np.asarray(carry["curve"]))}


@pytest.fixture
def output(tmp_path):
    return tmp_path / "results" / "runs" / f"{NAME}.json"


@pytest.fixture
def checkpoint(tmp_path):
    return tmp_path / "results" / "checkpoints" / f"{NAME}.npz"


run = partial(runner.run, spec=SPEC, checkpoint_seconds=0.0, progress=False)
COUNTS = np.outer([1, 2, 3], range(1, 13))


def counts(result: Result) -> np.ndarray:
    return result.metrics["count"].values


def test_an_unbroken_run(output, checkpoint):
    program, lines = Counters(), []
    result = run(program, output=output, log=lines.append)
    for found in (result, read_result(output, SPEC)):
        np.testing.assert_array_equal(counts(found), COUNTS)
        assert found.diverged == [] and found.axes == program.axes
        assert found.timing["steps"] == 12 and found.timing["members"] == 3
        assert found.timing["resumed"] == 0
        assert found.provenance["versions"]["jax"] == jax.__version__
    assert read_result(output).choices == {"stride": 0.1}
    assert (program.chunks, program.traces) == (6, 1)
    assert os.listdir(checkpoint.parent) == [f"{NAME}.lock"]
    assert os.listdir(output.parent) == [output.name] and lines == []


def test_a_result_elsewhere_keeps_its_checkpoints_beside_it(tmp_path):
    elsewhere = tmp_path / "mine" / "result.json"
    run(Counters(), output=elsewhere)
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(
        ["mine", "result.json", "checkpoints", f"{NAME}.lock"]
    )
    assert (elsewhere.parent / "checkpoints").is_dir()


@pytest.mark.parametrize("chunk", [1, 3, 4, 12])
def test_chunk_length_does_not_change_the_numbers(output, chunk):
    np.testing.assert_array_equal(counts(run(Counters(chunk=chunk), output=output)), COUNTS)


def test_chunks_must_divide_the_run(output):
    with pytest.raises(SuiteError, match="chunks of 5 steps do not divide its 12 steps"):
        run(Counters(chunk=5), output=output)


def test_a_diverged_member_is_recorded_and_the_others_go_on(output):
    result = run(Counters(limit=24.0), output=output)
    expected = np.where(COUNTS > 24, np.nan, COUNTS)
    np.testing.assert_array_equal(counts(read_result(output, SPEC)), expected)
    assert result.diverged == [{"member": 3, "step": 12, "reason": "past the limit"}]


def test_a_run_ends_when_every_member_has_diverged(output):
    program = Counters(limit=5.0)
    result = run(program, output=output)
    assert (program.chunks, result.timing["steps"]) == (3, 6)
    assert [record["member"] for record in result.diverged] == [1, 2, 3]
    assert np.isnan(counts(result)[:, 5:]).all()
    assert "NaN" not in output.read_text()


def test_metrics_that_are_not_finite_are_never_dropped_silently(output, monkeypatch):
    monkeypatch.setattr(Counters, "diverged", lambda self, carry: [])
    result = run(Counters(limit=24.0), output=output)
    assert result.diverged == [{"step": 12, "reason": "metric 'count' is not finite"}]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_chunk_saves_and_the_next_call_goes_on(output, checkpoint, number, code):
    def on_chunk(step: int) -> None:
        if step == 6:
            os.kill(os.getpid(), number)

    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    program = Counters(on_chunk=on_chunk)
    with pytest.raises(Interrupted) as caught:
        run(program, output=output, checkpoint_seconds=1e6)
    assert caught.value.exit_code == code
    assert str(caught.value) == f"{NAME} stopped at step 6 of 12; run the same command to go on"
    assert handlers == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    assert checkpoint.exists() and not output.exists()
    program.on_chunk = lambda step: None
    result = run(program, output=output)
    np.testing.assert_array_equal(counts(result), COUNTS)
    assert result.timing["resumed"] == 1
    assert (program.chunks, program.traces) == (6, 1)  # resumed arrays: no second compilation
    assert not checkpoint.exists()


def test_a_signal_in_the_last_chunk_still_writes_the_result(output):
    def on_chunk(step: int) -> None:
        if step == 12:
            os.kill(os.getpid(), signal.SIGTERM)

    np.testing.assert_array_equal(counts(run(Counters(on_chunk=on_chunk), output=output)), COUNTS)


def test_timing_tells_compilation_from_running(output):
    pauses = iter([0.3, 0.05, 0.05, 0.05, 0.05, 0.05])
    result = run(Counters(on_chunk=lambda step: time.sleep(next(pauses))), output=output)
    timing = result.timing
    assert 0.2 < timing["compile_seconds"] < 2.0
    assert 0.3 <= timing["run_seconds"] < 1.5
    assert 0 <= timing["run_cpu_seconds"] < timing["run_seconds"]
    rate = timing["steps_per_second_per_member"]
    assert rate == pytest.approx(12 / timing["run_seconds"])


def interrupted_at(step: int, output: Path, **options) -> None:
    """Leaves the checkpoint of a run that stopped at this step."""

    def on_chunk(reached: int) -> None:
        if reached == step:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted):
        run(Counters(on_chunk=on_chunk, **options), output=output)


def rewritten(content: bytes) -> bytes:
    """A well-formed checkpoint with another number in it."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    arrays["leaf_0"][0] ^= 1
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def with_an_open_header(content: bytes) -> bytes:
    """A well-formed archive whose first array has a header that ends too early."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for number, name in enumerate(old.namelist()):
            member = old.read(name)
            new.writestr(name, member if number else member.replace(b"}", b" ", 1))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        rewritten,
        with_an_open_header,
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: b"not a checkpoint",
        lambda content: content.replace(b"\0\0\x80?", b"\0\0\0?", 1),
    ],
    ids=["rewritten", "header", "empty", "half", "all but one byte", "foreign", "number changed"],
)
def test_a_damaged_checkpoint_is_ignored_with_one_warning(output, checkpoint, damage):
    interrupted_at(6, output)
    content = checkpoint.read_bytes()
    assert damage(content) != content
    checkpoint.write_bytes(damage(content))
    program, lines = Counters(), []
    result = run(program, output=output, log=lines.append)
    np.testing.assert_array_equal(counts(result), COUNTS)
    assert (program.chunks, result.timing["resumed"]) == (6, 0)
    (line,) = lines
    assert line.startswith(f"warning: ignoring the checkpoint {checkpoint}, starting from step 0: ")


def test_a_checkpoint_of_another_chunk_length_is_ignored(output):
    interrupted_at(6, output, chunk=3)
    program, lines = Counters(chunk=2), []
    np.testing.assert_array_equal(counts(run(program, output=output, log=lines.append)), COUNTS)
    assert program.chunks == 6
    assert lines[0].endswith(
        "it is of another run, chunk length, setting of jax or version of the program"
    )


def test_a_checkpoint_made_with_another_choice_is_ignored(output):
    interrupted_at(6, output)
    program, lines = Counters(), []
    program.choices = {"step_size": 0.5}
    run(program, output=output, log=lines.append)
    assert program.chunks == 6
    assert "ignoring the checkpoint" in lines[0]


def test_a_checkpoint_made_under_other_rounding_is_ignored(output):
    with jax.default_matmul_precision("bfloat16"):
        interrupted_at(6, output)
    lines = []
    result = run(Counters(), output=output, log=lines.append)
    assert "ignoring the checkpoint" in lines[0] and result.timing["resumed"] == 0
    assert result.provenance["rounding"] == {}


def test_no_damage_to_a_checkpoint_gets_through(output, checkpoint):
    interrupted_at(6, output)
    content, generator = checkpoint.read_bytes(), np.random.default_rng(0)
    start = checkpoints.State(0, Counters().init(), checkpoints.Clock())
    identity = checkpoints.identity_of(runner._asked(Counters(), NAME), 2, start.carry)
    expected = checkpoints.pack(checkpoints.unpack(content, identity, start), identity)
    for place in generator.choice(len(content), 600, replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(generator.integers(8))
        try:
            state = checkpoints.unpack(bytes(damaged), identity, start)
        except Exception:  # numpy's and zipfile's, of many kinds
            continue
        assert checkpoints.pack(state, identity) == expected  # it hit a date or the like
    for length in range(0, len(content), 97):
        with pytest.raises((ValueError, EOFError, KeyError, OSError, zipfile.BadZipFile)):
            checkpoints.unpack(content[:length], identity, start)


class Nested(NamedTuple):
    keys: tuple
    numbers: dict


def test_every_kind_of_array_survives_a_checkpoint():
    with jax.enable_x64(True):
        double = jnp.array([0.1, -jnp.inf, jnp.nan])
        assert double.dtype == np.float64
    numbers = {
        "double": double,
        "half": jnp.array([0.1, 3.0], jnp.bfloat16),
        "single": jnp.array(-0.0),
        "bits": jnp.array([[True, False]]),
        "bytes": jnp.array([-3], jnp.int8),
        "complex": jnp.array([1 + 2j]),
        "none": jnp.zeros((0, 4)),
    }
    keys = (jax.random.key(1), jax.random.split(jax.random.key(2, impl="rbg"), 3))
    start = checkpoints.State(0, Nested(keys, numbers), checkpoints.Clock(1.5, 0.1, 2.0, 3))
    identity = checkpoints.identity_of(NAME, 1, start.carry)
    state = checkpoints.unpack(checkpoints.pack(start._replace(step=7), identity), identity, start)
    assert (state.step, state.clock) == (7, start.clock)
    assert jax.tree.structure(state.carry) == jax.tree.structure(start.carry)
    for before, after in zip(*map(jax.tree.leaves, (start.carry, state.carry)), strict=True):
        assert isinstance(after, jax.Array)
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        raw = [np.asarray(checkpoints._raw(leaf)).tobytes() for leaf in (before, after)]
        assert raw[0] == raw[1]
    expected = jax.random.normal(keys[1][2], (3,))
    np.testing.assert_array_equal(jax.random.normal(state.carry.keys[1][2], (3,)), expected)


def full_disk_for(suffix: str):
    """A stand-in for `os.replace` that fails for files of this suffix."""
    replace = os.replace

    def fail(source, target):
        if Path(target).suffix == suffix:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    return fail


def test_a_result_that_cannot_be_written_costs_nothing(output, checkpoint, monkeypatch):
    monkeypatch.setattr(os, "replace", full_disk_for(".json"))
    with pytest.raises(SuiteError, match=f"could not write {output}: No space left on device"):
        run(Counters(), output=output)
    monkeypatch.undo()
    assert checkpoint.exists() and not output.exists()
    program = Counters()
    np.testing.assert_array_equal(counts(run(program, output=output)), COUNTS)
    assert program.chunks == 0  # it only wrote the result
    assert not checkpoint.exists()


def test_checkpoints_that_cannot_be_written_warn_once(output, monkeypatch):
    monkeypatch.setattr(os, "replace", full_disk_for(".npz"))
    lines = []
    result = run(Counters(), output=output, log=lines.append)
    np.testing.assert_array_equal(counts(result), COUNTS)
    (line,) = lines
    assert line.startswith("warning: going on without checkpoints: could not write")
    assert "No space left on device" in line


def test_stopped_without_a_checkpoint_says_so(output, monkeypatch):
    monkeypatch.setattr(os, "replace", full_disk_for(".npz"))
    program = Counters(on_chunk=lambda step: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(Interrupted, match="at step 2 of 12; no checkpoint could be written"):
        run(program, output=output, log=lambda line: None)


def test_a_folder_that_cannot_be_written_stops_at_once(tmp_path):
    (tmp_path / "results").write_text("a file, not a folder")
    program = Counters()
    with pytest.raises(SuiteError, match=r"could not lock .*checkpoints.*may be written"):
        run(program, output=tmp_path / "results" / "runs" / "x.json")
    assert program.chunks == 0


def test_an_old_result_is_computed_anew_one_that_came_while_waiting_is_not(output, monkeypatch):
    run(Counters(), output=output)
    again = Counters()
    run(again, output=output)
    assert again.chunks == 6

    lock = runner.exclusive_lock

    @contextmanager
    def lock_after_another_finished(*arguments):
        with lock(*arguments):
            write_result(output, arrived)
            yield

    arrived = read_result(output)
    monkeypatch.setattr(runner, "exclusive_lock", lock_after_another_finished)
    waited = Counters()
    np.testing.assert_array_equal(counts(run(waited, output=output)), COUNTS)
    assert waited.chunks == 0

    arrived = Result(**{**vars(arrived), "spec": {"other": 1}})  # not ours: compute
    run(waited, output=output)
    assert waited.chunks == 6 and read_result(output, SPEC).spec == SPEC


def test_leftovers_of_killed_writers_are_removed(output, checkpoint):
    for path in (output, checkpoint):
        path.parent.mkdir(parents=True)
        path.with_name(f".{path.name}.1.tmp").write_text("half")
    run(Counters(), output=output)
    assert os.listdir(output.parent) == [output.name]
    assert os.listdir(checkpoint.parent) == [f"{NAME}.lock"]


def test_the_progress_bar_shows_on_stderr_and_stays_short_in_a_log(output, capfd):
    run(Counters(), output=output, progress=True)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert NAME in captured.err and "12.0/12.0" in captured.err and "steps/s" in captured.err
    assert len(captured.err.split("\r")) <= 4
    run(Counters(), output=output)
    assert capfd.readouterr().err == ""


def test_a_process_with_other_things_to_do_is_not_ended_by_a_second_signal(output):
    def on_chunk(step: int) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.4)  # longer than an echo

    with pytest.raises(Interrupted, match="at step 2 of 12"):
        run(Counters(on_chunk=on_chunk), output=output)
