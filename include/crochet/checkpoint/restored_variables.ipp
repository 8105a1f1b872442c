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
#include <vector>

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
  only_lacks_ = only_lacks_ && entry == nullptr && instead.empty();
  if (entry == nullptr && !shape.empty()) lacking_.emplace_back(name);
  (text_ += text_.empty() ? "" : "; ") += name;
  const std::string wanted = typed_shape(type, shape);
  text_ += entry == nullptr ? " " + wanted + " is not in it" + std::string(instead)
                            : " is " + typed_shape(entry->type, entry->shape) + " in it and " + wanted + " here";
}

/// Whether this is the name of a slot of one of the tensors: "w/Adam" of "w".
CROCHET_INLINE bool is_slot_of_one(std::string_view name, std::span<const io::TensorEntry> tensors) {
  const std::string_view variable = name.substr(0, name.rfind('/'));
  return variable.size() < name.size() &&
         std::any_of(tensors.begin(), tensors.end(),
                     [&](const io::TensorEntry& tensor) { return tensor.name == variable; });
}

CROCHET_INLINE bool Mismatches::only_lacks_an_optimizer(std::span<const io::TensorEntry> there) const {
  return only_lacks_ && !lacking_.empty() &&
         std::all_of(lacking_.begin(), lacking_.end(),
                     [&](const std::string& name) { return is_slot_of_one(name, there); });
}

CROCHET_INLINE std::string Mismatches::text(std::span<const io::TensorEntry> there) const {
  if (only_types_) {
    return text_ +
           "; declare the variables with the types in the checkpoint, or convert the checkpoint: only "
           "float16 and bfloat16 are converted, to float32 and float64, and float16 and float32, to "
           "bfloat16";
  }
  if (only_lacks_an_optimizer(there)) {
    return text_ +
           "; it has the weights, but not the variables of the optimizer: to begin a training with them, pass an "
           "InitFromCheckpoint to Scaffold::with_init_fn";
  }
  return text_ + "; use the model that was saved there, or another folder";
}

}  // namespace crochet::detail
