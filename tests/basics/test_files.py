"""Files are written whole or not at all; locks die with their process."""

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from untruncated.basics.errors import SuiteError
from untruncated.basics.files import (
    atomic_path,
    exclusive_lock,
    remove_leftovers,
    write_atomically,
)


def raising(number: int):
    """A stand-in for a system call that fails with this error number."""

    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number))

    return fail


def test_writes_text_and_bytes_and_makes_the_folder(tmp_path):
    target = tmp_path / "new" / "folder" / "a.json"
    write_atomically(target, "µ\n")
    assert target.read_bytes() == b"\xc2\xb5\n"
    write_atomically(str(target), b"\x00\xff")
    assert target.read_bytes() == b"\x00\xff"
    assert os.listdir(target.parent) == ["a.json"]


def test_content_is_synced_before_the_rename_and_the_folder_after(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace

    def recording_fsync(descriptor):
        calls.append(("fsync", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        fsync(descriptor)

    def recording_replace(source, target):
        calls.append(("replace", Path(source).name, Path(target).name))
        replace(source, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "replace", recording_replace)
    write_atomically(tmp_path / "a.json", "new")
    temporary = f".a.json.{os.getpid()}.tmp"
    assert calls == [
        ("fsync", temporary),
        ("replace", temporary, "a.json"),
        ("fsync", tmp_path.name),
    ]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "free some space"), (errno.EROFS, "may be written"), (errno.EIO, "written")],
)
def test_a_failure_names_path_and_reason_and_keeps_the_old_file(
    tmp_path, monkeypatch, call, number, advice
):
    target = tmp_path / "a.json"
    target.write_text("old")
    monkeypatch.setattr(os, call, raising(number))
    with pytest.raises(SuiteError) as caught:
        write_atomically(target, "new")
    monkeypatch.undo()
    message = str(caught.value)
    assert str(target) in message and os.strerror(number) in message and advice in message
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_failing_write_keeps_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    target.write_text("old")
    monkeypatch.setattr(Path, "write_bytes", raising(errno.ENOSPC))
    with pytest.raises(SuiteError, match="No space left on device"):
        write_atomically(target, "new")
    assert target.read_text() == "old"


def test_a_folder_that_cannot_be_made_or_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SuiteError, match=r"could not write .*file/a\.json: .*may be written"):
        write_atomically(tmp_path / "file" / "a.json", "new")
    (tmp_path / "taken").mkdir()
    with pytest.raises(SuiteError, match=r"could not write .*taken: .*directory"):
        write_atomically(tmp_path / "taken", "new")
    assert sorted(os.listdir(tmp_path)) == ["file", "taken"]
    if os.geteuid() != 0:  # root may write anywhere
        (tmp_path / "taken").chmod(0o500)
        with pytest.raises(SuiteError, match="Permission denied"):
            write_atomically(tmp_path / "taken" / "a.json", "new")


def test_a_disk_that_is_really_full(tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(mount, check=True, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"cannot mount a small file system: {error}")
    try:
        write_atomically(tmp_path / "a.json", "old")
        with pytest.raises(SuiteError, match=r"a\.json: No space left on device; free some space"):
            write_atomically(tmp_path / "a.json", b"x" * 200_000)
        assert (tmp_path / "a.json").read_text() == "old"
        assert os.listdir(tmp_path) == ["a.json"]
        write_atomically(tmp_path / "a.json", "new")  # the space was given back
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True, timeout=10)


def test_a_limit_on_file_sizes_is_a_real_failed_write(tmp_path):
    code = (
        "import resource, sys\n"
        "from untruncated.basics.errors import SuiteError\n"
        "from untruncated.basics.files import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_atomically(sys.argv[1], b'x' * 5000)\n"
        "except SuiteError as error:\n    print(error)\n"
    )
    target = tmp_path / "a.json"
    target.write_text("old")
    command = [sys.executable, "-c", code, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert f"could not write {target}: File too large; raise the limit" in done.stdout
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_atomic_path_keeps_the_suffix_and_appears_at_the_end(tmp_path):
    target = tmp_path / "figure.png"
    with atomic_path(target) as path:
        assert (path.suffix, path.parent) == (".png", tmp_path)
        path.write_text("picture")
        assert not target.exists()
    assert target.read_text() == "picture"
    assert os.listdir(tmp_path) == ["figure.png"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_path_lets_other_errors_through_and_cleans_up(tmp_path, error):
    target = tmp_path / "figure.png"
    target.write_text("old")
    with pytest.raises(error), atomic_path(target) as path:
        path.write_text("half a picture")
        raise error
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["figure.png"]


def test_a_body_that_writes_nothing_is_an_error(tmp_path):
    with (
        pytest.raises(SuiteError, match=r"could not write .*figure\.png"),
        atomic_path(tmp_path / "figure.png"),
    ):
        pass


def test_remove_leftovers_takes_only_this_files_temporaries(tmp_path):
    names = [".a.json.1.tmp", ".a.json.22.tmp.json", ".b.json.1.tmp", "a.json", ".a.json.lock"]
    for name in names:
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path / "a.json")
    assert sorted(os.listdir(tmp_path)) == [".a.json.lock", ".b.json.1.tmp", "a.json"]
    remove_leftovers(tmp_path / "missing" / "a.json")


def test_the_lock_waits_says_so_once_and_is_freed_by_death(tmp_path):
    path = tmp_path / "locks" / "0123.lock"
    code = (
        "import sys, time\n"
        "from untruncated.basics.files import exclusive_lock\n"
        "with exclusive_lock(sys.argv[1]):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    lines = []

    def say(line: str) -> None:
        lines.append(line)
        holder.kill()  # only now, so that the lock was really taken

    try:
        assert holder.stdout.readline() == b"held\n"
        with exclusive_lock(path, say=say):
            assert lines == ["waiting for another process that is computing 0123"]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert path.exists()
    with exclusive_lock(path, say=say):  # free again
        assert len(lines) == 1


def test_a_lock_that_is_freed_at_once_is_not_waited_for_aloud(tmp_path):
    path, lines = tmp_path / "0123.lock", []
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    threading.Timer(0.05, os.close, [descriptor]).start()
    with exclusive_lock(path, say=lines.append):
        assert lines == []
    with pytest.raises(OSError):
        os.close(descriptor)  # it was not taken before the other had let go


def test_a_lock_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(SuiteError, match=r"could not lock .*file/0123\.lock: "),
        exclusive_lock(tmp_path / "file" / "0123.lock"),
    ):
        pass
