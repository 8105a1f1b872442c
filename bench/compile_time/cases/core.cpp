// SPDX-License-Identifier: Apache-2.0
#include <crochet/crochet.hpp>
