#!/bin/sh
# sh tests/style.sh [REVISION]
# clang-format over every source file, and clang-tidy over the programs that changed since REVISION (the commit before
# this one): at most 12 of them, for clang-tidy takes 20 seconds a program. It reads the commands of build/clang-asan.
# What clang-tidy reports is printed and does not fail: its analyzer is wrong about some of GoogleTest's macros. Ends with
# a line `N passed, N failed`: one for each file whose format was checked.
set -u
cd "$(dirname "$0")/.." || exit 1
since=${1:-HEAD~1}
build=build/clang-asan

# The cases of compile_fail hold regular expressions that no line break may divide.
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
