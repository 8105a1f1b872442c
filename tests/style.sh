#!/bin/sh
# sh tests/style.sh [REVISION]
# Runs clang-format over every source file, and clang-tidy over at most 12 programs that changed since REVISION
# (default: the commit before this one). clang-tidy takes 20 seconds per program and needs build/clang-asan. Its
# findings are printed and are no failure: its analyzer is wrong about some of GoogleTest's macros. The last line is
# `N passed, N failed`, which counts the files whose format was checked.
set -u
cd "$(dirname "$0")/.." || exit 1
since=${1:-HEAD~1}
build=build/clang-asan

# The cases of compile_fail contain regular expressions, in which a line break would be wrong.
mkdir -p build
git ls-files '*.hpp' '*.ipp' '*.cpp' '*.cu' '*.cuh' | grep -v '^tests/compile_fail/' >build/style.files
xargs clang-format --dry-run -Werror <build/style.files 2>build/style.log
cat build/style.log
failed=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' build/style.log | sort -u | wc -l)
passed=$(($(wc -l <build/style.files) - failed))

if [ -f "$build/compile_commands.json" ] && git rev-parse -q --verify "$since" >/dev/null; then
  for file in $(git diff --name-only --diff-filter=d "$since" -- 'tests/*.cpp' 'examples/*.cpp' 'tools/*.cpp' | head -n 12); do
    grep -q "/$file\"" "$build/compile_commands.json" || continue
    clang-tidy --quiet -p "$build" "$file" 2>/dev/null || echo "style: clang-tidy could not read $file"
  done
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
