// SPDX-License-Identifier: Apache-2.0
// What a program may store beside the tensors of a safetensors file.
#pragma once

#include <map>
#include <string>

namespace crochet::io {

/// Texts under names, the `__metadata__` of a safetensors file.
using SafetensorsMetadata = std::map<std::string, std::string>;

}  // namespace crochet::io
