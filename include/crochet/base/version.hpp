// SPDX-License-Identifier: Apache-2.0
// The version of the library, for #if. CMakeLists.txt repeats the numbers; tests/base/version_test.cpp compares them.
#pragma once

#define CROCHET_VERSION_MAJOR 0
#define CROCHET_VERSION_MINOR 1
#define CROCHET_VERSION_PATCH 0
