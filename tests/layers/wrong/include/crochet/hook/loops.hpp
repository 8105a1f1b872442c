// SPDX-License-Identifier: Apache-2.0
// Read by tests/layers only: a header of this layer may not include this.
#pragma once

#include <boost/hana.hpp>
