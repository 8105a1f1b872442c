#!/bin/sh
# sh bench/compile_time/run.sh BUILD OUT: see measure.py. Going over a budget is reported, and fails nothing here.
set -eu
python3 "$(dirname "$0")/measure.py" "$1" "$2/compile_time.json"
