// SPDX-License-Identifier: Apache-2.0
// All of Hana: what the core is measured against. The core itself includes a few pieces of it.
#include <boost/hana.hpp>
