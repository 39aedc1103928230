"""What a run needs is estimated before it is computed, and refused if there is less."""

import json

import jax
import jax.numpy as jnp
import pytest

from untruncated.basics.errors import SuiteError
from untruncated.cli import main
from untruncated.experiments.spec import resolve_run
from untruncated.running import memory

LARGE = {
    "program": "online_prediction",
    "steps": 100,
    "environment": {"name": "trace_conditioning"},
    "cell": {"name": "vanilla_rnn", "width": 90_000},
    "credit": {"name": "truncated_bptt", "truncation": 3},
    "learner": {"name": "td"},
    "step_sizes": [1e-3, 1e-2],
    "seeds": [0],
}
SMALL = {
    "program": "optimal_prediction",
    "steps": 200,
    "environment": {"name": "trace_conditioning"},
    "seeds": [5],
}


class Squares:
    """A carry of 1,000 numbers, of which a chunk makes an array of a million in a loop."""

    def init(self):
        return {"key": jax.random.key(0), "x": jnp.ones(1000)}

    def advance(self, carry):
        def body(_, x):
            return (x[:, None] * x).sum(axis=1)

        return carry | {"x": jax.lax.fori_loop(0, 3, body, carry["x"])}


class Compiled(Squares):
    """The same, with options for the compiler."""

    def init(self):
        start = jax.jit(super().init, compiler_options={"xla_backend_optimization_level": 1})
        return start()


class Untraceable(Squares):
    """The same, with a number that has to be known."""

    def advance(self, carry):
        return carry | {"x": carry["x"] * int(carry["x"][0])}


@pytest.mark.parametrize("program", [Squares, Compiled])
def test_the_carry_and_the_largest_array_inside_loops_are_counted(program):
    carry = 4 * 1000 + 8
    assert memory.needed_bytes(program()) == memory.COPIES * carry + 4 * 1000**2
    with pytest.raises(ValueError, match="compiler_options"):  # as jax has it at other times
        jax.eval_shape(Compiled().init)


def test_of_what_cannot_be_traced_the_carry_is_counted():
    assert memory.needed_bytes(Untraceable()) == memory.COPIES * (4 * 1000 + 8)


@pytest.mark.parametrize(("there", "fits"), [(4_012_024, True), (4_012_023, False), (None, True)])
def test_what_needs_more_than_there_is_is_refused(there, fits, monkeypatch):
    monkeypatch.setattr(memory, "memory_bytes", lambda: there)
    if fits:
        memory.check_memory(Squares())
    else:
        with pytest.raises(SuiteError, match=r"needs about 0.0 GB of memory, and there are 0.0 GB"):
            memory.check_memory(Squares())


def test_a_machine_has_some_memory():
    assert memory.memory_bytes() > 10**8


def test_a_run_that_does_not_fit_is_refused_with_the_number(tmp_path, capsys):
    assert main(["run", json.dumps(LARGE), "--results", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    # the matrix and the optimiser's two averages of it, for two step sizes, and its traces
    least = memory.COPIES * 2 * 3 * 4 * 90_000**2 / 1e9
    number = float(captured.err.split("about ")[1].split(" GB")[0].replace(",", ""))
    assert least < number < 3 * least
    assert captured.err.endswith("go on all the same with --force\n")
    assert captured.out == "" and not list(tmp_path.rglob("*.*"))


def test_force_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(memory, "memory_bytes", lambda: 1000)
    arguments = ["run", json.dumps(SMALL), "--results", str(tmp_path), "--no-progress"]
    assert main(arguments) == 1
    assert main([*arguments, "--force"]) == 0
    assert (tmp_path / "runs" / f"{resolve_run(SMALL).hash}.json").exists()
    capsys.readouterr()
