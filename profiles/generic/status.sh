#!/bin/sh
# Says of a job started by submit.py whether it is running, has succeeded, or has failed.
code=".snakemake/generic/$1.code"
if [ -f "$code" ]; then
    [ "$(cat "$code")" = 0 ] && echo success || echo failed
elif kill -0 "$(cat ".snakemake/generic/$1.pid")" 2>/dev/null; then
    echo running
elif [ -f "$code" ]; then # it ended between the two questions
    [ "$(cat "$code")" = 0 ] && echo success || echo failed
else
    echo failed
fi
