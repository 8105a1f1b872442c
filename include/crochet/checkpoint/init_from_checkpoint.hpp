// SPDX-License-Identifier: Apache-2.0
// InitFromCheckpoint: a training begins with weights of a file. (tf.train.init_from_checkpoint.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/checkpoint/restored_variables.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/session/variables.hpp>

namespace crochet {

struct InitFromCheckpointOptions {
  /// The name of the tensor for the variable of this name; empty: none, so the variable keeps its initial value. Unset:
  /// the same name. (The assignment_map of the original.)
  std::function<std::string(std::string_view)> tensor_of{};
  /// Gets a line with the number of variables that were read; default: diagnose().
  std::function<void(std::string_view)> say{};
};

/// An init_fn of a Scaffold: reads the variables of which a checkpoint has a tensor, after all have their initial
/// values: `Scaffold{}.with_init_fn(InitFromCheckpoint<io::Safetensors>{"weights/model"})`.
/// - Other variables keep their initial values: the slots of an optimizer, a layer that the file lacks. So do variables
///   of integers and truth values, such as global_step. The state of hooks is not read.
/// - Types are converted as in restore_session().
/// - prefix: as of Saver::save, without the ends of file names.
/// - Throws CheckpointMismatchError, with each such variable, if a tensor has another shape or a type that is not
///   converted, and if no variable has a tensor in the file. Throws what the reader of the format throws. Only an error
///   while the elements are read leaves variables changed.
/// - Cost: the file is read twice, usually from the page cache the second time.
template <io::CheckpointFormat Format = io::TensorBundle>
class InitFromCheckpoint {
 public:
  explicit InitFromCheckpoint(std::filesystem::path prefix, InitFromCheckpointOptions options = {})
      : prefix_(std::move(prefix)), options_(std::move(options)) {}

  template <class Session>
  void operator()(Session& session) const {
    using E = std::remove_cvref_t<decltype(session.executor())>;
    constexpr bool has_state = HasVariables<E>;
    static_assert(has_state,
                  "crochet: this executor names no state to initialize; a StepExecutor does: variable<\"u\">(u)");
    if constexpr (has_state) read_variables(session.executor());
  }

 private:
  template <class E>
  void read_variables(E& executor) const {
    const auto reader = io::open_checkpoint<Format>(prefix_);
    require_fit(executor, reader);
    reader.verify();
    std::size_t read = 0, all = 0;
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
      using T = typename decltype(elements)::value_type;
      ++all;
      const io::TensorEntry* const tensor = tensor_of<T>(reader, name);
      if constexpr (io::ReadFloat<T>) {
        if (tensor != nullptr) io::read_floats<T>(reader, *tensor, elements);
      }
      read += tensor != nullptr ? 1 : 0;
      return tensor != nullptr;
    });
    say("crochet: " + std::to_string(read) + " of " + std::to_string(all) + " variables begin with the values in " +
        prefix_.string());
  }

  template <class E, class Reader>
  void require_fit(E& executor, const Reader& reader) const {
    detail::Mismatches mismatches;
    bool any = false;
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
      using T = typename decltype(elements)::value_type;
      if (const io::TensorEntry* const tensor = tensor_of<T>(reader, name)) {
        any = true;
        mismatches.compare(name, tensor, detail::is_variable_of<T>(tensor->type), io::data_type_of<T>(), shape, "");
      }
      return false;  // only read
    });
    if (mismatches.any()) {
      throw CheckpointMismatchError("crochet: " + prefix_.string() +
                                    " has no weights for this model: " + mismatches.text(reader.tensors()));
    }
    if (!any) {
      throw CheckpointMismatchError("crochet: " + prefix_.string() +
                                    " has a tensor for no variable of this model; map " +
                                    "names with InitFromCheckpointOptions::tensor_of" + first_name(reader));
    }
  }
  template <class Reader>
  static std::string first_name(const Reader& reader) {
    const std::span<const io::TensorEntry> tensors = reader.tensors();
    return tensors.empty() ? ". The file is empty" : ". Its first tensor is " + tensors.front().name;
  }

  /// Null: the variable keeps its value.
  template <class T, class Reader>
  const io::TensorEntry* tensor_of(const Reader& reader, std::string_view name) const {
    if constexpr (!io::ReadFloat<T>) return nullptr;
    const std::string mapped = options_.tensor_of ? options_.tensor_of(name) : std::string(name);
    return mapped.empty() ? nullptr : reader.find(mapped);
  }
  void say(const std::string& line) const {
    if (options_.say) {
      options_.say(line);
    } else {
      diagnose(line);
    }
  }

  std::filesystem::path prefix_;
  InitFromCheckpointOptions options_;
};

}  // namespace crochet
