#!/bin/sh
# sh bench/compile_time/run.sh BUILD OUT: see measure.py. An exceeded budget is reported, but is no failure here.
set -eu
python3 "$(dirname "$0")/measure.py" "$1" "$2/compile_time.json"
