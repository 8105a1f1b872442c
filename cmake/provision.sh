#!/bin/sh
# sh cmake/provision.sh demo|test|full|bench|ci|interop
# Installs the missing packages for that command, on Debian 12, Ubuntu 24.04, or later ones. Without the permission to
# install, it prints the one command that does, and stops. If nothing is missing it prints nothing.
# CROCHET_PROVISION=skip installs and checks nothing. With --ranks in ARGS, the demo's arguments, it needs MPI.
set -eu

say() { printf 'provision: %s\n' "$*"; }
stop() { printf 'provision: %s\n' "$*" >&2; exit 1; }

# Whether there is a library NVRTC, where the tests look for it: NVIDIA's toolkit's, or the one of find_nvrtc.
has_nvrtc() {
  for library in /usr/local/cuda/lib64/libnvrtc.so* build/nvrtc/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*; do
    [ ! -e "$library" ] || return 0
  done
  ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so'
}

# Programs (program:package) may be installed in any way and are searched by name. The others are packages.
programs="g++:g++ cmake:cmake ninja:ninja-build protoc:protobuf-compiler"
packages="libboost-dev libeigen3-dev zlib1g-dev libcli11-dev dataset-fashion-mnist"
packages="$packages libpng-dev libjpeg-dev" # crochet::images
packages="$packages libprotobuf-dev libleveldb-dev libisal-dev libpng-dev nlohmann-json3-dev" # crochet::io
case ${1:-} in
  demo) debug=yes && case " ${ARGS:-}" in *" --ranks"*) mpi=yes ;; esac ;;
  test) tests=yes debug=yes mpi=yes ;;
  full) tests=yes debug=yes mpi=yes benchmarks=yes jax=yes interop=yes sanitizers=yes browser=yes loops=yes mpich=yes ;;
  bench) debug=yes benchmarks=yes ;;
  ci) tests=yes debug=yes mpi=yes benchmarks=yes packaging=yes sanitizers=yes ;;
  interop) tests=yes debug=yes mpi=yes interop=yes ;;
  *) stop "usage: sh cmake/provision.sh demo|test|full|bench|ci|interop" ;;
esac
if [ "${tests:-}" ]; then
  programs="$programs clang++:clang mold:mold python3:python3 openssl:openssl" # openssl: certificates for the tests of TLS
  packages="$packages libgtest-dev libboost-context-dev" # the last: fibers, the threads of a GPU in software
  has_nvrtc || packages="$packages python3-venv"
fi
if [ "${mpi:-}" ]; then # crochet::mpi
  programs="$programs mpirun:openmpi-bin"
  packages="$packages libopenmpi-dev"
fi
if [ "${debug:-}" ]; then # crochet::debug
  programs="$programs grpc_cpp_plugin:protobuf-compiler-grpc pkg-config:pkg-config" # gRPC's CMake file calls pkg-config
  packages="$packages libgrpc++-dev libssl-dev"
fi
if [ "${benchmarks:-}" ]; then
  programs="$programs clang++:clang python3:python3" # clang: the zero-cost and compile-time tables have both compilers
  packages="$packages libgtest-dev libbenchmark-dev"
fi
if [ "${loops:-}" ]; then # examples/loops
  packages="$packages libtorch-dev libdlib-dev libsundials-dev petsc-dev"
fi
if [ "${mpich:-}" ]; then # the tests of ranks with a second MPI
  programs="$programs mpirun.mpich:mpich"
  packages="$packages libmpich-dev"
fi
if [ "${jax:-}" ]; then
  programs="$programs doxygen:doxygen mkdocs:mkdocs" # the reference, the site
  packages="$packages mkdocs-material"
fi
if [ "${browser:-}" ]; then
  programs="$programs chromium:chromium" # looks at the live page
fi
if [ "${sanitizers:-}" ]; then
  programs="$programs llvm-symbolizer:llvm" # ThreadSanitizer needs it to match suppressions
fi
if [ "${sanitizers:-}" ] && command -v apt-cache >/dev/null 2>&1; then
  # libFuzzer and the sanitizers of clang, in a package named for clang's version; some versions of clang bring them.
  runtime=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p' | head -n 1)
  packages="$packages $runtime"
fi
if [ "${jax:-}${interop:-}" ]; then
  packages="$packages python3-venv"
fi
if [ "${packaging:-}" ]; then
  programs="$programs pkg-config:pkg-config clang-format:clang-format clang-tidy:clang-tidy"
  packages="$packages python3-venv"
fi

# Sets `missing` to the packages to install.
find_missing() {
  missing=
  for program in $programs; do
    command -v "${program%%:*}" >/dev/null 2>&1 || missing="$missing ${program#*:}"
  done
  if ! command -v dpkg-query >/dev/null 2>&1; then
    [ -z "$missing" ] || stop "these programs are missing (named as Debian's packages):$missing"
    say "this is no Debian, so libraries were not looked for. Needed, by Debian's names: $packages"
    return
  fi
  for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
  done
}

# Sets `root` to the prefix of commands that install, or stops.
find_root() {
  root=
  [ "$(id -u)" != 0 ] || return 0
  # sudo may prompt for a password only on a terminal.
  if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    root=sudo
    return 0
  fi
  stop "only root may install what is missing. As root, run this once:

  apt-get update && apt-get install -y --no-install-recommends$missing
"
}

apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
# shellcheck disable=SC2086 # `missing` is a list
apt_install() { apt install -y --no-install-recommends $missing >/dev/null; }

install_missing() {
  say "installing$missing"
  ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || apt update
  # The package lists may be out of date: then retry with new ones.
  apt_install || { apt update && apt_install; } || stop "apt-get could not install$missing"
  say "installed"
}

# clang++ links the C++ library of the newest gcc that it finds. That one may have no C++ half: on Ubuntu 26.04 MPI brings
# gfortran-16, beside g++-15.
find_library_of_clang() {
  ! echo 'int main() {}' | clang++ -x c++ -o /dev/null - 2>/dev/null || return 0
  gcc=$(clang++ -v 2>&1 | sed -n 's|^Selected GCC installation: .*/||p')
  [ "$gcc" ] || stop "clang++ cannot link a program. Try: echo 'int main() {}' | clang++ -x c++ -"
  missing=" libstdc++-$gcc-dev"
  find_root
  install_missing
}

# The presets need workflows, which came with CMake 3.25.
check_cmake() {
  version=$(cmake --version | sed -n '1s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  [ "${version%%.*}" -gt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${version#*.}" -ge 25 ]; } ||
    stop "cmake $version is older than 3.25. A newer one, for you alone (python3-venv must be installed):

  python3 -m venv ~/.local/crochet-cmake && ~/.local/crochet-cmake/bin/pip install cmake
  PATH=~/.local/crochet-cmake/bin:\$PATH make $1
"
}

# A Python environment with JAX, from PyPI, for the agreement tests. Without it they are skipped.
find_jax() {
  python=build/python
  ! "$python/bin/python3" -c 'import jax' 2>/dev/null || return 0
  say "installing JAX in $python"
  mkdir -p build
  { python3 -m venv "$python" && "$python/bin/pip" install -q jax; } ||
    say "no JAX: the tests that compare with it will be skipped"
}

# Another one with NVRTC, which compiles plans for a GPU and needs none. Without it these tests are skipped.
find_nvrtc() {
  ! has_nvrtc || return 0
  say "installing NVRTC in build/nvrtc"
  mkdir -p build
  { python3 -m venv build/nvrtc && build/nvrtc/bin/pip install -q -r tests/cuda/requirements.txt; } ||
    say "no NVRTC: the tests that compile plans for a GPU will be skipped"
}

# Another one with TensorFlow, TensorBoard and safetensors: the original's readers for tests/interop.
find_readers() {
  python=build/interop
  ! "$python/bin/python3" -c 'import tensorflow, tensorboard, safetensors' 2>/dev/null || return 0
  say "installing TensorFlow, TensorBoard and safetensors in $python"
  mkdir -p build
  { python3 -m venv "$python" && "$python/bin/pip" install -q -r tests/interop/requirements.txt; } ||
    say "no TensorFlow: the tests that ask the original's readers will be skipped"
}

[ "${CROCHET_PROVISION:-}" != skip ] || exit 0
find_missing
if [ "$missing" ]; then
  find_root
  install_missing
fi
! command -v clang++ >/dev/null 2>&1 || find_library_of_clang
check_cmake "$1"
[ -z "${tests:-}" ] || find_nvrtc
[ -z "${jax:-}" ] || find_jax
[ -z "${interop:-}" ] || find_readers
