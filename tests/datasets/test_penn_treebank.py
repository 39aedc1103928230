"""Where the Penn Treebank is looked for and how it is verified, with two sentences in its place."""

import hashlib
import io
import sys
import tarfile
import threading
import types
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from untruncated import caches
from untruncated.datasets import folders, penn_treebank
from untruncated.datasets.folders import DataError

WORDS = " the <unk> sat \n on N mats \n\n"
TEXT = "the_<unk>_sat\non_N_mats\n"
CHARACTERS = "".join(f"{c} " for c in TEXT)


@pytest.fixture(autouse=True)
def _nothing_found(monkeypatch, tmp_path):
    """No file, no package, and the checksums of the stand-in."""
    monkeypatch.setenv("UNTRUNCATED_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "treebank", None)
    checksum = hashlib.sha256(CHARACTERS.encode()).hexdigest()
    monkeypatch.setattr(penn_treebank, "CHECKSUMS", dict.fromkeys(penn_treebank.SPLITS, checksum))
    penn_treebank.load.cache_clear()
    yield
    penn_treebank.load.cache_clear()


@pytest.mark.parametrize(
    ("name", "content"), [("ptb.valid.txt", WORDS), ("ptb.char.valid.txt", CHARACTERS)]
)
def test_files_of_words_and_of_characters_give_one_text(tmp_path, name, content):
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / name).write_text(content)
    assert penn_treebank.load("valid") == TEXT


def test_the_package_treebank_is_used_where_there_is_no_file(monkeypatch):
    package = types.SimpleNamespace(penn={"train": WORDS, "valid": "", "test": ""})
    monkeypatch.setitem(sys.modules, "treebank", package)
    assert penn_treebank.load() == TEXT
    with pytest.raises(DataError, match="package treebank: not the valid split"):
        penn_treebank.load("valid")


def test_folders_are_searched_in_order(monkeypatch, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    monkeypatch.setenv("UNTRUNCATED_DATA", f"{first}:{second}")
    assert folders.data_folders() == [first, second, folders.cache_folder()]
    assert folders.cache_folder().is_relative_to(tmp_path / "cache")
    for folder in (second, folders.cache_folder()):
        folder.mkdir(parents=True)
        (folder / "x").touch()
    assert folders.find(["y", "x"]) == second / "x"
    assert folders.find(["z"]) is None


def test_an_absent_treebank_says_what_to_do(tmp_path):
    with pytest.raises(DataError) as raised:
        penn_treebank.load("test")
    for advice in ("ptb.test.txt", str(tmp_path / "named"), "UNTRUNCATED_DATA", "pip install"):
        assert advice in str(raised.value)


def test_another_text_is_refused(tmp_path):
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "ptb.train.txt").write_text(WORDS.replace("sat", "cat"))
    with pytest.raises(DataError, match=r"ptb\.train\.txt: not the train split"):
        penn_treebank.load()
    with pytest.raises(DataError, match="no split 'dev'"):
        penn_treebank.load("dev")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    """The address of a folder, and the folder."""
    folder = tmp_path / "served"
    folder.mkdir()
    http = HTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", folder
    http.shutdown()
    thread.join()
    http.server_close()


def _archive(path, content):
    with tarfile.open(path, "w:gz") as files:
        for split in penn_treebank.SPLITS:
            member = tarfile.TarInfo(f"./simple-examples/data/ptb.{split}.txt")
            member.size = len(content)
            files.addfile(member, io.BytesIO(content.encode()))


def test_a_downloaded_archive_is_unpacked_into_the_cache(server):
    address, folder = server
    _archive(folder / "simple-examples.tgz", WORDS)
    paths = penn_treebank.download(f"{address}/simple-examples.tgz")
    assert [path.name for path in paths] == ["ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"]
    assert sorted(folders.cache_folder().iterdir()) == sorted(paths)
    assert penn_treebank.load() == TEXT


def test_what_is_no_treebank_is_not_kept(server):
    address, folder = server
    (folder / "page.tgz").write_text("not found")
    with pytest.raises(DataError, match="no archive with the Penn Treebank"):
        penn_treebank.download(f"{address}/page.tgz")
    _archive(folder / "other.tgz", "another text")
    with pytest.raises(DataError, match="not the train split"):
        penn_treebank.download(f"{address}/other.tgz")
    with pytest.raises(DataError, match="cannot be downloaded"):
        penn_treebank.download(f"{address}/missing.tgz")
    assert not list(folders.cache_folder().iterdir())


def test_without_a_home_the_named_folders_are_all_there_is(monkeypatch, tmp_path):
    monkeypatch.setattr(caches, "user_cache_path", lambda *_, **__: Path("~/.cache/untruncated"))
    assert folders.data_folders() == [tmp_path / "named"]
    with pytest.raises(DataError, match="no home folder is known"):
        penn_treebank.download()
    with monkeypatch.context() as patch:
        patch.delenv("UNTRUNCATED_DATA")
        with pytest.raises(DataError, match="no home folder is known"):
            penn_treebank.load("valid")


def test_a_file_or_folder_that_may_not_be_read_is_named(monkeypatch, tmp_path):
    path = tmp_path / "named" / "ptb.test.txt"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=f"{path}: cannot be read"):
        penn_treebank.load("test")

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(type(path), "is_file", refuse)
    with pytest.raises(DataError, match=f"{path}: cannot be looked for: Permission denied"):
        penn_treebank.load("test")


def test_a_download_that_fails_is_told_in_one_line(monkeypatch, capsys, tmp_path):
    def unreachable(url, **options):
        raise ConnectionError("Network is unreachable")

    monkeypatch.setattr(penn_treebank.pooch, "retrieve", unreachable)
    with pytest.raises(SystemExit) as end:
        penn_treebank.main()
    assert str(end.value).startswith("error: http") and "Network is unreachable" in str(end.value)
