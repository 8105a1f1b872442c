#!/bin/sh
# sh tests/style.sh [REVISION]
# Runs clang-format over every source file, and clang-tidy over all headers in one translation unit and over at most 4
# programs that changed since REVISION (default: the commit before this one). clang-tidy takes 80 seconds for the headers
# and 25 per program, and needs build/test. The last line is `N passed, N failed`: the files whose format was
# checked, and the runs of clang-tidy.
set -u
cd "$(dirname "$0")/.." || exit 1
since=${1:-HEAD~1}
build=build/test

# The cases of compile_fail contain regular expressions, in which a line break would be wrong.
mkdir -p build
git ls-files '*.hpp' '*.ipp' '*.cpp' '*.cu' '*.cuh' | grep -v '^tests/compile_fail/' >build/style.files
xargs clang-format --dry-run -Werror <build/style.files 2>build/style.log
cat build/style.log
failed=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' build/style.log | sort -u | wc -l)
passed=$(($(wc -l <build/style.files) - failed))

mpi=$(for folder in $(mpicxx --showme:incdirs 2>/dev/null); do echo "-isystem $folder"; done) # Open MPI's

# Fails if there is a finding.
tidy() {
  if [ "$1" = $build/all_headers.cpp ]; then
    # Absolute paths: HeaderFilterRegex needs the folder before include/.
    # shellcheck disable=SC2086 # `mpi` is a list
    clang-tidy --quiet --config-file=.clang-tidy --warnings-as-errors='*' "$1" -- -std=c++20 -DCROCHET_HEADER_ONLY \
      -I"$PWD/include" -I"$PWD/kernels" -isystem $build/crochet-proto -isystem $build/crochet-debug-service \
      -isystem $build/crochet-device-headers -isystem /usr/include/eigen3 $mpi -pthread
  elif grep -q "/$1\"" $build/compile_commands.json; then
    clang-tidy --quiet --warnings-as-errors='*' -p $build "$1"
  else # a test that is compiled in a batch has no command of its own
    # shellcheck disable=SC2086
    clang-tidy --quiet --warnings-as-errors='*' "$1" -- -std=c++20 -I"$PWD/include" -I"$PWD/kernels" -I"$PWD/tests" \
      -isystem $build/crochet-proto -isystem $build/crochet-debug-service -isystem /usr/include/eigen3 $mpi -pthread
  fi 2>/dev/null
}

if [ -f "$build/compile_commands.json" ] && git rev-parse -q --verify "$since" >/dev/null; then
  git ls-files 'include/*.hpp' 'kernels/*.hpp' | sed 's,^[^/]*/\(.*\),#include <\1>,' >$build/all_headers.cpp
  changed=$(git diff --name-only --diff-filter=d "$since" -- 'tests/*.cpp' 'examples/*.cpp' 'tools/*.cpp' |
    while read -r file; do
      case $file in tests/*_test.cpp) echo "$file" ;; *) if grep -q "/$file\"" $build/compile_commands.json; then echo "$file"; fi ;; esac
    done | head -n 4)
  for file in $build/all_headers.cpp $changed; do
    if tidy "$file" >build/tidy.log; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    cat build/tidy.log
  done
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
