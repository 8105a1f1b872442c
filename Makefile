# Entry points. Each command installs missing packages (cmake/provision.sh; without the permission it prints the
# command), configures and builds with a CMake preset (CMakePresets.json), and runs the result. Finished work is not
# repeated.
#
#   make demo [ARGS="--epochs 1 --model mlp"]    train a network on Fashion-MNIST; ARGS="--ranks 2": by two processes
#   make test                                    every test, and every compile error on g++ and clang
#   make full                                    the same with g++, the parts that need more packages, clang with
#                                                optimization, the sanitizers, the fuzz targets, and the
#                                                documentation as a site: build/site/index.html
#   make bench [ARGS="--benchmark_filter=REGEX"] run the benchmarks: JSON in build/bench/, table in docs/benchmarks.md
.PHONY: help demo test full bench
.DEFAULT_GOAL := help

# One more than there are processors: some tests wait for a time limit.
export CTEST_PARALLEL_LEVEL ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

help:
	@sed -n 's/^#   //p' Makefile

test full:
	@sh cmake/provision.sh $@
	@cmake --workflow --preset $@
	@if [ $@ = full ]; then for preset in clang clang-asan tsan fuzz headers; do \
	  cmake --workflow --preset $$preset || exit 1; done; mkdir -p build && doxygen docs/Doxyfile && mkdocs build --quiet; fi

demo:
	@ARGS='$(ARGS)' sh cmake/provision.sh $@
	@cmake --workflow --preset $@
	@build/demo/examples/fashion_mnist/crochet_fashion_mnist $(ARGS)

bench:
	@sh cmake/provision.sh $@
	@cmake --workflow --preset $@
	@sh bench/run.sh build/release build/bench $(ARGS)
