// SPDX-License-Identifier: Apache-2.0
// The compiled half of restored_variables.hpp.
#pragma once

#include <crochet/checkpoint/restored_variables.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::detail {

CROCHET_INLINE std::string typed_shape(io::DataType type, std::span<const std::int64_t> shape) {
  std::string text = std::string(io::name_of(type)) + " [";
  for (std::size_t i = 0; i < shape.size(); ++i) (text += i == 0 ? "" : ", ") += std::to_string(shape[i]);
  return text + "]";
}

CROCHET_INLINE void Mismatches::compare(std::string_view name, const io::TensorEntry* entry, bool convertible,
                                        io::DataType type, std::span<const std::int64_t> shape,
                                        std::string_view instead) {
  const bool same_shape =
      entry != nullptr && std::equal(shape.begin(), shape.end(), entry->shape.begin(), entry->shape.end());
  if (same_shape && convertible) return;
  only_types_ = only_types_ && same_shape;
  (text_ += text_.empty() ? "" : "; ") += name;
  const std::string wanted = typed_shape(type, shape);
  text_ += entry == nullptr ? " " + wanted + " is not in it" + std::string(instead)
                            : " is " + typed_shape(entry->type, entry->shape) + " in it and " + wanted + " here";
}

CROCHET_INLINE std::string Mismatches::text() const {
  return text_ + (only_types_
                      ? "; declare the variables with the types in the checkpoint, or convert the checkpoint: only "
                        "float16 and bfloat16 are converted, to float32 and float64, and float16 and float32, to "
                        "bfloat16"
                      : "; use the model that was saved there, or another folder");
}

}  // namespace crochet::detail
