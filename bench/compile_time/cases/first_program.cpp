// SPDX-License-Identifier: Apache-2.0
// The program of README.md: data, a model, hooks, training.
#include "../../../examples/shortest/main.cpp"
