// SPDX-License-Identifier: Apache-2.0
// Additional texts in a safetensors file.
#pragma once

#include <map>
#include <string>

namespace crochet::io {

/// Texts by key: the `__metadata__` of a safetensors file.
using SafetensorsMetadata = std::map<std::string, std::string>;

}  // namespace crochet::io
