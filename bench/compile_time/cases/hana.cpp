// SPDX-License-Identifier: Apache-2.0
// All of Hana, for comparison with the core, which includes a few of its headers.
#include <boost/hana.hpp>
