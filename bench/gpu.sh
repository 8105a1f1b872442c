#!/bin/sh
# sh bench/gpu.sh [--dry-run] [PART...]
# Tests and measures the CUDA executor on the GPU of this machine, within ten minutes, without downloads. Parts, in this
# order; without PART all of them:
#   build       the programs, by the preset `gpu` in build/gpu
#   tests       the tests of models on the GPU
#   sanitizer   compute-sanitizer over two of their programs: memcheck, racecheck, initcheck
#   costs       launches, barriers of the grid, graphs, copies
#   kernels     kernels by shape, and the peaks of the GPU
#   steps       training steps of W1 to W6
#   peers       the same by PyTorch and JAX
#   table       build/gpu/results/gpu.json and gpu.md of everything that was measured so far
# `bench` is costs, kernels and steps. Every part can be started again by itself. The parts of a call share its time; a part
# also has what those before it left, and is stopped when that is over. What it has measured until then counts. The table is
# made after every call. The exit status is 1 if a test or a sanitizer failed, a case threw, a step did not train, or a
# part failed, was not begun, or has passed or measured nothing; also if build, tests or steps were stopped. Lines before
# the table say which. It is 2 for a wrong argument, 3 without a GPU. A tool or a peer that is not installed is left out.
# --dry-run: without a GPU, on a device in software, every case once with small shapes; the peers on the processor.
# Environment: PYTHON (python3; the one that has PyTorch and JAX), CXX, CROCHET_GTEST_SOURCE (a folder with GoogleTest's
# sources, for machines without the library), CROCHET_GPU_BUILD (build/gpu), CROCHET_GPU_SECONDS (600, of a call).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${CROCHET_GPU_BUILD:-build/gpu}
case $build in /*) ;; *) build=$PWD/$build ;; esac
results=$build/results
python=${PYTHON:-python3}
cores=$(nproc 2>/dev/null || echo 2)
dry=${CROCHET_GPU_DRY:-}
total=${CROCHET_GPU_SECONDS:-600}
export CROCHET_CACHE_DIR="$build/cubins" # compiled plans: a part that is started again has them

say() { printf 'gpu: %s\n' "$*"; }
# leave_out REASON: ends a part that cannot run here; the table has the reason.
leave_out() {
  say "$part is left out: $*"
  printf '%s' "$*" >"$results/reason"
  exit 4
}

# fail REASON: ends a part that should run here; the table has the reason.
fail() {
  printf '%s' "$*" >"$results/reason"
  exit 5
}

# escaped TEXT: for a string of JSON.
escaped() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g'; }

# weight_of PART: its share of the time, which the parts of a call divide among themselves. In seconds of 600 for all.
weight_of() {
  case $1 in
    build) echo 170 ;; tests) echo 120 ;; sanitizer) echo 50 ;; costs) echo 25 ;; kernels) echo 50 ;; steps) echo 60 ;;
    peers) echo 115 ;; *) echo 0 ;;
  esac
}

# has_header HEADER: whether the compiler finds it.
has_header() { echo "#include <$1>" | ${CXX:-c++} -E -x c++ -I/usr/include/eigen3 - >/dev/null 2>&1; }

# find_libraries: adds the folders of NVRTC and of the driver to LD_LIBRARY_PATH: of the Python packages, behind those
# that are there, and of the toolkit if the system does not find one. crochet takes the first NVRTC that is new enough.
find_libraries() {
  known=$(ldconfig -p 2>/dev/null)
  folders=$($python -c '
import glob, os, sys
places = [p + "/nvidia/*/lib" for p in sys.path]
if "libnvrtc.so" not in sys.argv[1]: places += ["/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64"]
print(":".join(dict.fromkeys(os.path.dirname(f) for p in places for f in sorted(glob.glob(p + "/libnvrtc.so*")))))
' "$known" 2>/dev/null)
  [ -z "$folders" ] || LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders
  case $known in *libcuda.so.1*) ;; *)
    [ ! -e /usr/local/nvidia/lib64/libcuda.so.1 ] || LD_LIBRARY_PATH=/usr/local/nvidia/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    ;;
  esac
  [ -z "${LD_LIBRARY_PATH:-}" ] || export LD_LIBRARY_PATH
}

# make_gtest SOURCE: GoogleTest from its sources.
make_gtest() {
  say "GoogleTest is built from $1"
  cmake -S "$1" -B "$build/gtest-build" -DCMAKE_BUILD_TYPE=Release -DBUILD_GMOCK=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DCMAKE_INSTALL_PREFIX="$build/gtest" &&
    cmake --build "$build/gtest-build" -j"$cores" && cmake --install "$build/gtest-build"
}

# configure: with what is installed. One line says what is missing.
configure() {
  missing='' absent=''
  for program in cmake "${CXX:-c++}" "$python"; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
  done
  [ -z "$missing" ] || fail "these programs are missing:$missing"
  set -- --preset gpu -B "$build"
  command -v ninja >/dev/null 2>&1 || set -- "$@" -G "Unix Makefiles"
  if ! has_header Eigen/Core; then
    absent="$absent Eigen (not used here);"
    set -- "$@" "-DEigen3_DIR=$PWD/bench/gpu/without_eigen"
  fi
  if [ -d "$build/gtest" ]; then
    set -- "$@" "-DCMAKE_PREFIX_PATH=$build/gtest"
  elif ! has_header gtest/gtest.h; then
    source=${CROCHET_GTEST_SOURCE:-/usr/src/googletest}
    if [ -d "$source" ] && make_gtest "$source" >"$results/gtest.log" 2>&1; then
      set -- "$@" "-DCMAKE_PREFIX_PATH=$build/gtest"
    else
      absent="$absent GoogleTest (no tests);"
      set -- "$@" -DCROCHET_TESTS=OFF
    fi
  fi
  io=yes
  for header in google/protobuf/message.h leveldb/db.h isa-l/crc.h png.h nlohmann/json.hpp zlib.h; do
    has_header "$header" || io=
  done
  if [ "$io" ] && [ "$cores" -ge 8 ] && command -v protoc >/dev/null 2>&1; then
    set -- "$@" -DCROCHET_WITH_IO=ON -DCROCHET_WITH_DATA=ON
  else
    absent="$absent libraries of crochet::io, or eight cores to build it (no tests of checkpoints and profiles);"
  fi
  [ -z "$absent" ] || say "missing:${absent%;}"
  cmake "$@" >"$results/configure.log" 2>&1 || {
    tail -n 20 "$results/configure.log"
    fail "cmake does not configure, see $results/configure.log"
  }
}

# make_targets TARGET...: builds them; those that fail are left out.
make_targets() {
  [ -e "$build/CMakeCache.txt" ] || configure
  case $(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt") in Ninja) keep='-k 0' ;; *) keep=-k ;; esac
  # shellcheck disable=SC2086 # two words
  cmake --build "$build" -j"$cores" --target "$@" -- $keep
}

# program NAME: its path, after it has been built.
program() {
  [ -z "$dry" ] || set -- "$1_in_software"
  make_targets "$1" >"$results/build.$part.log" 2>&1 || fail "$1 does not compile, see $results/build.$part.log"
  path=$build/bench/gpu/$1
}

# require_gpu: ends the part if there is no GPU or no NVRTC.
require_gpu() {
  [ -z "$dry" ] || leave_out "there is no GPU in a dry run"
  program gpu_costs
  reason=$("$path" --seconds 0 --filter 'no case' 2>&1 >/dev/null) || {
    say "$reason"
    printf '%s' "$reason" >"$results/reason"
    exit 3
  }
}

# compile_plans PROGRAM FILTER...: runs every case once, so that its plans are compiled, on all cores.
compile_plans() {
  program=$1
  shift
  for filter in "$@"; do "$program" --seconds 0 --filter "$filter" >/dev/null 2>&1 & done
  wait
}

# measure NAME FILTER...: runs a program whose plans have been compiled.
measure() {
  if [ -z "$dry" ]; then
    require_gpu
    seconds=0.2
  else
    seconds=0
  fi
  program "$1"
  shift
  [ $# -eq 0 ] || [ "$dry" ] || compile_plans "$path" "$@"
  "$path" --seconds "$seconds" >"$results/$part.jsonl"
}

# peer NAME SECONDS
peer() {
  device=gpu seconds=0.2
  [ -z "$dry" ] || device=cpu seconds=0
  check="import $1"
  if [ -z "$dry" ]; then
    case $1 in
      torch) check="import torch; assert torch.cuda.is_available(), 'PyTorch finds no GPU'" ;;
      jax) check="import os; os.environ['JAX_PLATFORMS'] = 'cuda'; import jax
try: jax.devices()
except BaseException: raise SystemExit('JAX finds no GPU')" ;;
    esac
  fi
  if ! reason=$($python -c "$check" 2>&1); then
    reason=$(echo "$reason" | tail -n 1)
    say "peers: $1 is left out: $reason"
    printf '{"part": "peers", "case": "all", "mode": "%s", "error": "%s"}\n' "$1" "$(escaped "left out: $reason")" \
      >"$results/peers.$1.jsonl"
    return
  fi
  timeout -k 5 "$2" "$python" "bench/gpu/$1_peer.py" --device "$device" --seconds "$seconds" \
    >"$results/peers.$1.jsonl" 2>"$results/peers.$1.log"
  case $? in
    0) ;;
    124 | 137) say "peers: $1 was stopped after $2 s" ;;
    *) say "peers: $1 failed: $(tail -n 1 "$results/peers.$1.log")" ;;
  esac
}

# sanitize: every tool over every program; the tools run at the same time.
sanitize() {
  require_gpu
  tool=$(PATH="$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer" command -v compute-sanitizer)
  [ "$tool" ] || leave_out "there is no compute-sanitizer here"
  rm -f "$results"/sanitizer.*.log
  set -- cuda_device_runs_test_on_gpu executor_kernels_test_on_gpu
  make_targets "$@" >"$results/build.$part.log" 2>&1
  for name in "$@"; do
    file=$(find "$build/tests" -name "$name" -type f | head -n 1)
    [ "$file" ] || fail "$name does not compile, see $results/build.$part.log"
    "$file" >/dev/null 2>&1 # its plans are compiled
    for check in memcheck racecheck initcheck; do
      "$tool" --tool "$check" "$file" >"$results/sanitizer.$check.$name.log" 2>&1 &
    done
    wait
  done
}

# run PART: the work of a part. It ends this process.
run() {
  part=$1
  find_libraries
  case $part in
    build)
      configure
      set -- gpu_costs gpu_kernels gpu_steps
      [ -z "$dry" ] || set -- gpu_kernels_in_software gpu_steps_in_software
      make_targets "$@" >"$results/build.log" 2>&1
      code=$?
      if [ -z "$dry" ] && ! grep -q '^CROCHET_TESTS:.*=OFF' "$build/CMakeCache.txt"; then
        make_targets crochet_gpu_tests cuda_device_test >>"$results/build.log" 2>&1 || code=1
      fi
      [ "$code" -eq 0 ] || fail "$(grep -cE '^FAILED|\*\*\* .*Error' "$results/build.log") targets do not compile, see $results/build.log"
      ;;
    tests)
      require_gpu
      ! grep -q '^CROCHET_TESTS:.*=OFF' "$build/CMakeCache.txt" || fail "there is no GoogleTest here"
      rm -f "$results/tests.log"
      make_targets crochet_gpu_tests cuda_device_test >"$results/build.tests.log" 2>&1
      code=$?
      {
        ctest --test-dir "$build" -L '^gpu$' -j"$cores" --timeout 60 --output-on-failure
        ctest --test-dir "$build" -R '^cuda.device_test' --timeout 60 --output-on-failure
      } >"$results/tests.log" 2>&1
      grep -E 'tests passed|No tests' "$results/tests.log" | sed 's/^/gpu: /'
      [ "$code" -eq 0 ] || fail "some tests do not compile, see $results/build.tests.log"
      ;;
    sanitizer) sanitize ;;
    costs)
      [ -z "$dry" ] || leave_out "they need a driver"
      measure gpu_costs
      ;;
    kernels) measure gpu_kernels product 'convolution 32' '(x' gelu update chain 'of all' 'mean of' rows transpose '+ 1' ;;
    steps) measure gpu_steps W1 W2 W3 W4 W5 W6 ;;
    peers)
      [ "$dry" ] || require_gpu
      rm -f "$results"/peers.*.jsonl
      peer jax $((2 * CROCHET_GPU_SHARE / 5))
      peer torch $((3 * CROCHET_GPU_SHARE / 5 - 10))
      ;;
  esac
  exit $?
}

# record PART STATE SECONDS: a line for the table.
record() {
  printf '{"part": "parts", "case": "%s", "state": "%s", "seconds": %s}\n' "$1" "$(escaped "$2")" "$3" \
    >"$results/part.$1.jsonl"
}

# limited PART: runs it in a process of its own until its share or the whole time is over.
limited() {
  begin=$(date +%s)
  seconds=$(($(weight_of "$1") * (total - 10) / weights + saved))
  [ "$seconds" -le $((end - begin)) ] || seconds=$((end - begin))
  if [ "$seconds" -le 0 ]; then
    record "$1" "not started, the time is over" 0
    say "$1: not started, the time is over"
    return
  fi
  say "$1, at most $seconds s"
  rm -f "$results/reason"
  CROCHET_GPU_DRY=$dry CROCHET_GPU_SHARE=$seconds timeout -k 5 "$seconds" sh bench/gpu.sh --inside "$1"
  code=$?
  case $code in
    0) state='complete' ;;
    3) state="no GPU: $(cat "$results/reason" 2>/dev/null)" gone=yes ;;
    4) state="left out: $(cat "$results/reason" 2>/dev/null)" ;;
    124 | 137) state="stopped after $seconds s" ;;
    5) state="failed: $(cat "$results/reason" 2>/dev/null)" ;;
    *) state="failed, exit status $code" ;;
  esac
  used=$(($(date +%s) - begin))
  saved=$((seconds > used ? seconds - used : 0))
  record "$1" "$state" "$used"
  case $code in 0 | 3 | 4) ;; *) say "$1: $state" ;; esac
}

mkdir -p "$results"
if [ "${1:-}" = --inside ]; then run "$2"; fi
if [ "${1:-}" = --dry-run ]; then
  dry=yes
  shift
fi
[ $# -gt 0 ] || set -- build tests sanitizer bench peers
parts=
for word in "$@"; do
  case $word in
    bench) parts="$parts costs kernels steps" ;;
    build | tests | sanitizer | costs | kernels | steps | peers | table) parts="$parts $word" ;;
    *)
      echo "usage: sh bench/gpu.sh [--dry-run] [build|tests|sanitizer|costs|kernels|steps|peers|bench|table ...]" >&2
      exit 2
      ;;
  esac
done
end=$(($(date +%s) + total - 5))
gone='' saved=0 weights=0
for part in $parts; do weights=$((weights + $(weight_of "$part"))); done
for part in $parts; do
  [ "$part" = table ] || limited "$part"
done
"$python" bench/gpu/table.py "$results"
code=$?
cat "$results/gpu.md"
say "$results/gpu.json and $results/gpu.md"
[ -z "$gone" ] || exit 3
exit $code
