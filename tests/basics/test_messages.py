"""Messages are told while somebody listens, and nothing fails when nobody does."""

import json
import re
import shlex
import subprocess
import sys
import time

import pytest

from untruncated import cli
from untruncated.basics.messages import Expendable, progress, tell

SPEC = {
    "program": "optimal_prediction",
    "steps": 300,
    "environment": {"name": "trace_conditioning"},
    "seeds": [4],
}


class Gone:
    """A stream that takes a few letters and then no more."""

    def __init__(self, room: int) -> None:
        self.room, self.taken = room, ""

    def write(self, text):
        if len(text) > self.room:
            raise BrokenPipeError("nobody reads")
        self.room, self.taken = self.room - len(text), self.taken + text

    def flush(self):
        pass

    def isatty(self):
        return False


def test_a_stream_falls_silent_at_its_first_error(monkeypatch):
    gone = Gone(room=6)
    monkeypatch.setattr(sys, "stderr", gone)
    stream = Expendable(gone)
    assert [stream.write(text) for text in ("one ", "longer than that", "x")] == [4, 16, 1]
    assert gone.taken == "one "
    stream.close()  # as absl's logger does when Python ends
    Expendable(None).close()
    tell("a whole line")
    monkeypatch.setattr(sys, "stderr", None)
    tell("to nobody")


def test_progress_is_one_line_that_changes_on_a_terminal(monkeypatch):
    terminal = Gone(room=10_000)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("compiling") as say:
        time.sleep(0.7)
        say("step 3")
        time.sleep(0.6)
    first, *_, late, last = re.findall(r"\r(.*?)\033\[K", terminal.taken)
    assert (first, last) == ("compiling, 0 s", "") and re.fullmatch(r"step 3, [1-9] s", late)
    terminal.room = 5
    with progress("to somebody who leaves") as say:
        time.sleep(0.6)
        say("on and on")


@pytest.mark.parametrize("after", ["2>&1 >/dev/null | true", "2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_a_run_is_computed_and_written_whoever_reads_its_progress(after, tmp_path):
    command = [sys.executable, "-m", "untruncated.cli", "run", json.dumps(SPEC)]
    command += ["--results", str(tmp_path), "--log", str(tmp_path / "log")]
    shell = ["bash", "-o", "pipefail", "-c", f"{shlex.join(command)} {after}"]
    # as progress is shown where somebody looks: many lines
    assert subprocess.run(shell, check=False, stdout=subprocess.DEVNULL).returncode == 0
    (result,) = tmp_path.glob("runs/*.json")
    json.loads(result.read_text())
    for lock in tmp_path.rglob("*.lock"):
        assert lock.read_bytes() == b""  # no message went into a file
    assert [line.split(" ", 1)[1] for line in (tmp_path / "log").read_text().splitlines()] == [
        "run started",
        "run ended",
    ]


def raiser(error):
    def command(options):
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (KeyboardInterrupt(), ["table stopped"]),
        (ZeroDivisionError("by nought"), ["table broke off:", "Traceback", "by nought"]),
        (SystemExit(0), ["table failed: a module ended the process (sys.exit(0))"]),
    ],
)
def test_the_log_has_every_ending(error, noted, tmp_path, monkeypatch):
    monkeypatch.setitem(cli.COMMANDS, "table", raiser(error))
    arguments = ["table", "x", "--log", str(tmp_path / "folder" / "log")]
    codes = {KeyboardInterrupt: 130, SystemExit: 1}
    if type(error) in codes:
        assert cli.main(arguments) == codes[type(error)]
    else:
        with pytest.raises(type(error)):
            cli.main(arguments)
    text = (tmp_path / "folder" / "log").read_text()
    assert "table started" in text
    assert all(words in text for words in noted)


def test_sigterm_ends_a_command_with_a_note(tmp_path):
    code = (
        "import os, signal, sys\n"
        "from untruncated import cli\n"
        "cli.COMMANDS['table'] = lambda options: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "table", "x", "--log", str(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "error: stopped\n")
    assert "table stopped" in (tmp_path / "log").read_text()
