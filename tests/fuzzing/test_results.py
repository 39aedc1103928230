"""Spoiled result files are read or refused in one line, by all that reads them."""

import json
import random
from pathlib import Path

import pytest

from untruncated.basics.errors import ResultError, SuiteError
from untruncated.catalogue import PROGRAMS
from untruncated.commands.status import run_states
from untruncated.commands.verifying import check_file
from untruncated.experiments.finding import Runs, find_run
from untruncated.results import result_files as results
from untruncated.results.result_files import check_replaceable, read_result, spec_hash

ROOT = Path(__file__).parents[2]
RUNS = [p for p in sorted((ROOT / "results" / "runs").glob("*.json")) if p.stat().st_size < 9000]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def known():
    return Runs(ROOT / "experiments")


def signed(document: object, name: str) -> tuple[object, str]:
    """With a hash, a checksum and a name that fit, as a careful forger leaves it."""
    try:
        checked = {name: document[name] for name in results._CHECKED}
        sums = {"checksum": results._sha256(checked), "hash": spec_hash(document["spec"])}
    except (LookupError, TypeError, SuiteError):
        return document, name
    return {**document, **sums}, f"{sums['hash']}.json"


@pytest.mark.parametrize("block", range(5))
def test_a_spoiled_result_is_read_or_refused(block, known, tmp_path, spoil, one_line, of_seed):
    for seed in range(1000 * block, 1000 * block + 1000):
        with of_seed(seed):
            rng = random.Random(seed)
            path = rng.choice(RUNS)
            whole, name, kind = path.read_text(), path.name, rng.random()
            if kind < 0.4:
                content = spoil(whole, seed)
            else:
                document = spoil(json.loads(whole), seed)
                if kind > 0.6:
                    document, name = signed(document, name)
                content = json.dumps(document).encode("utf-8", "surrogatepass")
            spoiled = tmp_path / name
            spoiled.write_bytes(content)
            check(spoiled, known, one_line)
            spoiled.unlink()


def check(path, known, one_line):
    try:
        read_result(path)
    except ResultError as error:
        one_line(error)
    try:
        check_replaceable(path)
    except ResultError as error:
        one_line(error)
    found = check_file(path, known)
    if isinstance(found, str):
        one_line(found)
    try:
        run, _ = find_run(str(path), known)
    except SuiteError as error:
        one_line(error)
    else:
        tuned = PROGRAMS[run.fields["program"]].tuned and "step_sizes" in run.fields
        states, notes = run_states([run], path.parent, known, run if tuned else None, [run])
        assert len(states) == 1
        for note in notes:
            one_line(note)


def test_what_is_sound_is_not_refused(known, tmp_path):
    for path in RUNS[::10]:
        copy = tmp_path / path.name
        copy.write_text(json.dumps(signed(json.loads(path.read_text()), path.name)[0]))
        assert not isinstance(check_file(copy, known), str)
