#!/bin/sh
# Ends jobs started by submit.sh; a run saves its checkpoint on SIGTERM.
for id in "$@"; do
    parent=$(cat ".snakemake/generic/$id.pid")
    for child in $(ps -o pid= --ppid "$parent"); do
        kill -TERM -- "-$child" 2>/dev/null || kill -TERM "$child" 2>/dev/null
    done
done
