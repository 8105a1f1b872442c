#!/bin/sh
# sh tests/packaging/run.sh [installed|header_only|fetch_content|pkg_config|conan]...     all of them when none is named
# Installs crochet in each way that the README describes, then builds and runs a user's program, with the files in this
# folder. Works in build/packaging. The last line is `N passed, N failed`.
set -u

cd "$(dirname "$0")/../.." || exit 1
source=$PWD
work=$source/build/packaging
consumer=$source/tests/packaging/consumer
passed=0 failed=0

# road NAME: runs NAME in a subshell that stops at the first error, and keeps its output in a log.
road() {
  mkdir -p "$work"
  start=$(date +%s)
  (set -e; "$1") >"$work/$1.log" 2>&1 # not as the condition of `if`, in which the shell ignores errors
  # shellcheck disable=SC2181
  if [ $? -eq 0 ]; then
    result=passed passed=$((passed + 1))
  else
    result=FAILED failed=$((failed + 1))
    tail -n 60 "$work/$1.log"
  fi
  echo "packaging: $1 $result in $(($(date +%s) - start)) s"
}

# build_and_run SOURCE BUILD [cmake's options]: optimized unless the options name another build type.
build_and_run() {
  from=$1 to=$2
  shift 2
  rm -rf "$to"
  cmake -S "$from" -B "$to" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
  cmake --build "$to"
  (cd "$to" && ./consumer) | tee "$to/printed"
  grep -q '^stopped by StopAtStep' "$to/printed"
}

install_crochet() {
  rm -rf "$work/crochet" "$work/prefix"
  cmake -S . -B "$work/crochet" -DCROCHET_TESTS=OFF -DCROCHET_EXAMPLES=OFF
  cmake --install "$work/crochet" --prefix "$work/prefix"
}

installed() {
  install_crochet
  build_and_run "$consumer" "$work/installed" -DCMAKE_PREFIX_PATH="$work/prefix"
  grep -q '^debug streams to tensorflow.EventListener' "$work/installed/printed" # gRPC is installed: the component is found
  grep -q '^hana counts 2 hooks' "$work/installed/printed"
  grep -q '^MPI has ranks: 1' "$work/installed/printed"
  # An unknown component is rejected by its name.
  sed 's/COMPONENTS cpu/COMPONENTS tpu/' "$consumer/CMakeLists.txt" >"$work/wrong.txt"
  rm -rf "$work/wrong" && mkdir "$work/wrong" && mv "$work/wrong.txt" "$work/wrong/CMakeLists.txt"
  if cmake -S "$work/wrong" -B "$work/wrong/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/wrong/log" 2>&1; then
    echo "COMPONENTS tpu was accepted"
    exit 1
  fi
  grep -q 'no component tpu' "$work/wrong/log"
}

# The same, with all components header-only.
header_only() {
  install_crochet
  build_and_run "$consumer" "$work/header_only" -DCMAKE_PREFIX_PATH="$work/prefix" -DCROCHET_HEADER_ONLY=ON \
    -DCMAKE_BUILD_TYPE=Debug
  test ! -e "$work/header_only/libcrochet_io_compiled.a"
}

fetch_content() {
  # The file names a repository, as a user's file does. Here CMake takes the local sources instead.
  rm -rf "$work/fetch" && mkdir "$work/fetch"
  cp "$consumer/main.cpp" "$source/tests/packaging/fetch_content/CMakeLists.txt" "$work/fetch/"
  build_and_run "$work/fetch" "$work/fetch/build" -DFETCHCONTENT_SOURCE_DIR_CROCHET="$source" -DCMAKE_BUILD_TYPE=Debug
}

pkg_config() {
  install_crochet
  flags=$(PKG_CONFIG_PATH=$work/prefix/share/pkgconfig pkg-config --cflags crochet)
  echo '#include <crochet/crochet.hpp>
        int main() { crochet::HookChain chain{}; }' >"$work/pkg_config.cpp"
  # shellcheck disable=SC2086 # the flags are several words
  c++ -std=c++20 $flags "$work/pkg_config.cpp" -o "$work/pkg_config"
  "$work/pkg_config"
}

# Conan from PyPI in a separate environment, with the system's libraries and no remote.
conan_here() {
  if [ ! -x "$work/venv/bin/conan" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet 'conan>=2.4,<3'
  fi
  CONAN_HOME=$work/conan-home "$work/venv/bin/conan" "$@"
}

conan() {
  conan_here profile detect --force
  conan_here create . -pr:a conan/system -nr -o "&:with_debug=True" -o "&:with_hana=True" -c tools.cmake.cmake_layout:test_folder="$work/test_package"
  rm -rf "$work/conan" && mkdir "$work/conan"
  cp "$consumer"/* "$work/conan/"
  conan_here install "$work/conan" -pr:a conan/system -nr
  build_and_run "$work/conan" "$work/conan/program" \
    -DCMAKE_TOOLCHAIN_FILE="$work/conan/build/Release/generators/conan_toolchain.cmake"
}

[ $# -gt 0 ] || set -- installed header_only fetch_content pkg_config conan
for name in "$@"; do road "$name"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
