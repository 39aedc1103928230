from pathlib import Path

import pytest

from untruncated.basics.errors import SuiteError
from untruncated.basics.places import check_environment, check_for_jobs


@pytest.mark.parametrize(
    "folder", ["/a b/bin", "/it's/bin", "/[x]/bin", "/$x/bin", '/a"/bin', "/ä/bin"]
)
def test_environments_that_work(folder):
    check_environment(Path(folder) / "python")


@pytest.mark.parametrize("folder", ["/a:b/bin", "/a b/$x/bin", '/a "b/bin', "/a\\ b/bin"])
def test_environments_whose_commands_cannot_start(folder):
    with pytest.raises(SuiteError, match=r"the environment in .* cannot be used: its path"):
        check_environment(Path(folder) / "python")


@pytest.mark.parametrize("folder", ["/a b", "/it's", "/[x]", "/ü/x=1,2"])
def test_folders_in_which_job_scripts_run(folder):
    check_for_jobs(Path("/usr/bin/python3.11"), Path(folder))


@pytest.mark.parametrize(
    ("python", "folder", "named"),
    [
        ("/a b/python", "/x", "/a b/python"),
        ("/[1]/python", "/x", "/[1]/python"),
        ("/o'/python", "/x", "/o'/python"),
        ("/python", "/$USER", "/$USER"),
        ("/python", '/x"y', '/x"y'),
        ("/python", "/`x`", "/`x`"),
    ],
)
def test_what_job_scripts_do_not_quote_is_named_in_one_line(python, folder, named):
    with pytest.raises(SuiteError, match=r"^Snakemake's job scripts cannot") as caught:
        check_for_jobs(Path(python), Path(folder))
    assert repr(named) in str(caught.value)
    assert "\n" not in str(caught.value)
