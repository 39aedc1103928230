#!/bin/sh
# Starts a job script in the background of this machine and prints the id it can be asked by.
# Replace by your scheduler's command, e.g. in config.yaml:
#   cluster-generic-submit-cmd: qsub -terse -l mem={resources.mem_mb}M -l rt={resources.runtime}
set -m # the background job gets a process group of its own, by which it can be ended
folder=.snakemake/generic
mkdir -p "$folder"
id="$(basename "$1").$$"
(
    sh "$1" >"$folder/$id.out" 2>&1 </dev/null
    echo $? >"$folder/$id.tmp" && mv "$folder/$id.tmp" "$folder/$id.code"
) >/dev/null 2>&1 &
echo $! >"$folder/$id.pid"
echo "$id"
