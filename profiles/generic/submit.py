#!/usr/bin/env python3
"""Starts a job script in the background of this machine and prints the id it can be asked by.

Replace by your scheduler's command, e.g. in config.yaml:
  cluster-generic-submit-cmd: qsub -terse -l mem={resources.mem_mb}M -l rt={resources.runtime}
"""

import os
import subprocess
import sys
from pathlib import Path

RUN = 'sh "$1" >"$2.out" 2>&1; echo $? >"$2.tmp" && mv "$2.tmp" "$2.code"'

folder = Path(".snakemake/generic")
folder.mkdir(parents=True, exist_ok=True)
name = f"{Path(sys.argv[1]).name}.{os.getpid()}"
# A session of its own: Ctrl-C does not reach the job, and cancel.sh can end all of it.
job = subprocess.Popen(
    ["sh", "-c", RUN, "sh", sys.argv[1], str(folder / name)],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    start_new_session=True,
)
(folder / f"{name}.pid").write_text(f"{job.pid}\n")
print(name)
