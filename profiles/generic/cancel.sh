#!/bin/sh
# Ends jobs started by submit.sh; a run saves its checkpoint on SIGTERM.
for id in "$@"; do
    kill -TERM -- "-$(cat ".snakemake/generic/$id.pid")" 2>/dev/null
done
