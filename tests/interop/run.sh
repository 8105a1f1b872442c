#!/bin/sh
# sh tests/interop/run.sh [JUDGES]
# Runs the interoperation tests with the original's readers (installed by cmake/provision.sh, or those of
# CROCHET_INTEROP_PYTHON), independent of ctest. JUDGES: a folder with checking programs that are not part of this
# project, and samples of the original's files; they check this library's output for the samples.
# The last line is `N passed, N failed`.
set -u

judges=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/../.." || exit 1
programs=build/test/tests/interop
work=build/interop-files
passed=0 failed=0

if [ ! "${CROCHET_INTEROP_PYTHON:-}" ]; then
  sh cmake/provision.sh interop
  CROCHET_INTEROP_PYTHON=build/interop/bin/python3
fi
python=$CROCHET_INTEROP_PYTHON
if ! "$python" -c 'import tensorflow, tensorboard, safetensors' 2>/dev/null; then
  echo "interop: $python has no TensorFlow, TensorBoard and safetensors"
  echo "0 passed, 1 failed"
  exit 1
fi
cmake --preset test >/dev/null && cmake --build --preset test --target crochet_interop resume || {
  echo "0 passed, 1 failed"
  exit 1
}
rm -rf "$work" && mkdir -p "$work"
[ ! "$judges" ] || export CROCHET_INTEROP_SAMPLES="$judges/samples"

# script NAME PROGRAM: runs the tests of NAME.py with this program of tests/interop, or with a path. NAME.py prints how
# many passed and failed.
script() {
  case $2 in */*) program=$2 ;; *) program=$programs/interop_$2 ;; esac
  "$python" "tests/interop/$1.py" "$program" >"$work/$1.log" 2>&1
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/$1.log" | tail -n 1)
  [ "$line" ] || line='0 passed, 1 failed'
  good=${line%% passed*}
  bad=${line#*, }
  bad=${bad%% failed*}
  [ "$bad" -eq 0 ] || cat "$work/$1.log"
  echo "interop: $1: $line"
  passed=$((passed + good)) failed=$((failed + bad))
}

# judge NAME COMMAND...: one additional test.
judge() {
  name=$1
  shift
  if "$@" >"$work/judge.log" 2>&1; then
    passed=$((passed + 1))
    last=$(tail -n 1 "$work/judge.log")
    echo "interop: $name: ${last:-passed}"
  else
    failed=$((failed + 1))
    cat "$work/judge.log"
    echo "interop: $name FAILED"
  fi
}

script checkpoints checkpoints
script events events
script dump dump
script safetensors_files checkpoints
script read_dumps build/test/tools/crochet_dump/crochet-dump
script timeline timeline
script profile profile
script onnx_files onnx
export CROCHET_JUDGES="$judges" # grpc_debug.py runs its own judges
script grpc_debug grpc_debug
script debugd build/test/tools/crochet_debugd/crochet-debugd

if [ "$judges" ]; then
  samples=$judges/samples
  mkdir -p "$work/checkpoint"
  for step in 0 2 4 5; do
    judge "checkpoint $step of the original" "$programs/interop_checkpoints" copy \
      bundle "$samples/checkpoint/model.ckpt-$step" bundle "$work/checkpoint/model.ckpt-$step"
    for file in "$work/checkpoint/model.ckpt-$step".*; do
      judge "$(basename "$file") is the original's" cmp "$file" "$samples/checkpoint/$(basename "$file")"
    done
  done
  set -- # the prefixes
  for step in 0 2 4 5; do set -- "$@" "$work/checkpoint/model.ckpt-$step"; done
  judge "state file" "$programs/interop_checkpoints" write-state "$work/checkpoint" "$@"
  judge "checkpoint judge" "$python" "$judges/checkpoint_check.py" "$work/checkpoint/model.ckpt-5" \
    --expect-json "$samples/checkpoint_expect.json" --expect-latest model.ckpt-5
  for steps in 300 600; do # a session, and one that resumes it
    judge "a session of $steps steps" build/test/examples/resume/resume --dir "$work/session" --steps "$steps"
    judge "checkpoint judge, $steps steps" "$python" "$judges/checkpoint_check.py" "$work/session/model.ckpt-$steps" \
      --expect-latest "model.ckpt-$steps"
  done
  judge "state file of the original" "$programs/interop_checkpoints" read-state "$samples/checkpoint"
  judge "safetensors of the original" "$programs/interop_checkpoints" copy safetensors "$samples/x" safetensors "$work/x"
  judge "safetensors judge" "$python" "$judges/safetensors_check.py" "$work/x.safetensors" \
    --expect-npz "$samples/safetensors_expect.npz"
  judge "timelines of the original's run" "$programs/interop_timeline" metadata "$samples/run_metadata.pb" "$work/timeline"
  mkdir -p "$work/profile"
  judge "a profile" "$programs/interop_profile" "$work/profile"
  for step in 2 4 6; do
    judge "timeline judge, step $step" "$python" "$judges/timeline_check.py" "$work/profile/timeline-$step.json" \
      --step-stats "$work/profile/timeline-$step.pb"
  done
  judge "event file judge, profile" "$python" "$judges/events_check.py" "$work/profile"
  for switches in 10 11; do # the last one has the sample's options
    judge "timeline judge, $switches" "$python" "$judges/timeline_check.py" "$work/timeline-$switches.json" \
      --step-stats "$samples/run_metadata.pb"
  done
  mkdir -p "$work/events"
  judge "event files" "$programs/interop_events" write "$work/events/logs" "$work/events"
  for run in run kinds; do
    judge "event file judge, $run" "$python" "$judges/events_check.py" "$work/events/logs/$run" --require-start \
      --expect-json "$work/events/$run.json"
  done
  mkdir -p "$work/dump"
  judge "dumps" "$programs/interop_dump" step "$work/dump/step" "$work/dump/step.json"
  judge "dump judge, tensors" "$python" "$judges/tfdbg_dump_check.py" "$work/dump/step/identity" --require-graph \
    --expect-json "$work/dump/step.json"
  judge "dump judge, operations" "$python" "$judges/tfdbg_dump_check.py" "$work/dump/step/operations" --require-graph
  judge "a dump of the run with a NaN" "$programs/interop_dump" nan "$work/dump/nan"
  mkdir -p "$work/dump/cpu"
  judge "dumps of a network" "$programs/interop_dump" cpu "$work/dump/cpu"
  judge "dump judge, network" "$python" "$judges/tfdbg_dump_check.py" "$work/dump/cpu/all" --require-graph
  judge "dump judge, NaN" "$python" "$judges/tfdbg_dump_check.py" "$work/dump/nan" --require-graph
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
