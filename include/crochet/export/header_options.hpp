// SPDX-License-Identifier: Apache-2.0
// HeaderOptions: what a user chooses about an exported header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crochet {

/// The size of a dynamic dimension in an exported header, where all sizes are constants.
struct ExportedDimension {
  std::string name;  ///< as in GraphBuilder::dynamic
  std::int64_t size = 1;
};

struct HeaderOptions {
  std::string name = "Model";                      ///< of the struct: an identifier without _ at the end
  std::vector<ExportedDimension> dimensions = {};  ///< dynamic dimensions that are not named here are 1
};

}  // namespace crochet
