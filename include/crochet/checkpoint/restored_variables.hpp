// SPDX-License-Identifier: Apache-2.0
// The variables of an executor and the tensors of a checkpoint: what does not fit, what is read and converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/read_floats.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::detail {

/// Whether a tensor of this type in a file is a variable of T.
template <class T>
constexpr bool is_variable_of(io::DataType type) {
  if constexpr (io::ReadFloat<T>) {
    return io::reads_as<T>(type);
  } else {
    return type == io::data_type_of<T>();
  }
}

/// The variables that a checkpoint lacks, or has in another type or shape.
class Mismatches {
 public:
  /// entry: null if the checkpoint has no such tensor, and `instead` then what it has, if anything; convertible:
  /// whether its type is one for the variable.
  void compare(std::string_view name, const io::TensorEntry* entry, bool convertible, io::DataType type,
               std::span<const std::int64_t> shape, std::string_view instead);
  [[nodiscard]] bool any() const { return !text_.empty(); }
  /// A few words for each variable, and what to do about them. there: the tensors of the checkpoint, sorted by name.
  [[nodiscard]] std::string text(std::span<const io::TensorEntry> there) const;

 private:
  /// Whether the checkpoint lacks exactly an optimizer's variables: slots ("w/Adam" where it has "w") and scalars.
  [[nodiscard]] bool only_lacks_an_optimizer(std::span<const io::TensorEntry> there) const;

  std::string text_;
  std::vector<std::string> lacking_;  // the variables that it lacks, except scalars
  bool only_types_ = true, only_lacks_ = true;
};

/// For a variable of each rank (executor/step/divided_variable.hpp) that a checkpoint of other ranks has under other
/// names: what it has; else nothing.
template <class Reader>
std::string of_other_ranks(const Reader& reader, std::string_view name) {
  const std::string_view variable = name.substr(0, name.find("/rank_0_of_"));
  for (const io::TensorEntry& entry : reader.tensors()) {
    const std::string_view saved = entry.name;
    const bool is_part = saved.starts_with(variable) && saved.substr(variable.size()).starts_with("/rank_0_of_");
    if (saved == variable || is_part) {
      return ", but " + entry.name + ": each rank has its own, so restore it on as many ranks as saved it";
    }
  }
  return {};
}

/// The mismatches of a checkpoint with this model.
template <class E, class Reader>
Mismatches mismatches(E& executor, const Reader& reader) {
  Mismatches all;
  executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
    using T = typename decltype(elements)::value_type;
    const io::TensorEntry* entry = reader.find(name);
    const bool exists = entry != nullptr;
    all.compare(name, entry, exists && is_variable_of<T>(entry->type), io::data_type_of<T>(), shape,
                exists ? std::string() : of_other_ranks(reader, name));
    return false;  // only read
  });
  return all;
}

/// Reads the elements of all variables. Requires a checkpoint without mismatches.
template <class E, class Reader>
void read_variables(E& executor, const Reader& reader) {
  executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
    using T = typename decltype(elements)::value_type;
    if constexpr (io::ReadFloat<T>) {
      io::read_floats<T>(reader, *reader.find(name), elements);
    } else {
      reader.read(*reader.find(name), std::as_writable_bytes(elements));
    }
    if constexpr (std::is_same_v<T, bool>) {
      for (std::byte& byte : std::as_writable_bytes(elements)) byte = std::byte{byte != std::byte{}};
    }
  });
}

/// The names of variables that the checkpoint has in another floating type. Requires a checkpoint without mismatches.
template <class E, class Reader>
std::vector<std::string> converted_variables(E& executor, const Reader& reader) {
  std::vector<std::string> names;
  executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
    using T = typename decltype(elements)::value_type;
    if (io::ReadFloat<T> && reader.find(name)->type != io::data_type_of<T>()) names.emplace_back(name);
    return false;
  });
  return names;
}

/// The tensors of the checkpoint without a variable in the model.
template <class E, class Reader>
std::vector<std::string> unused_tensors(E& executor, const Reader& reader) {
  std::vector<std::string> names;
  for (const io::TensorEntry& entry : reader.tensors()) {
    if (!entry.name.starts_with(hook_schema_tensor) && entry.name != "global_step") names.push_back(entry.name);
  }
  executor.for_each_variable([&](std::string_view name, auto, std::span<const std::int64_t>) {
    std::erase(names, name);
    return false;
  });
  return names;
}

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/restored_variables.ipp>
#endif
