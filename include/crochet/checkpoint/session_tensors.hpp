// SPDX-License-Identifier: Apache-2.0
// Conversion of a session to the tensors of a checkpoint and back: variables under their names, the step as
// `global_step`, the state of hooks (checkpoint/hook_tensors.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/checkpoint/restored_variables.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/variables.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet {

namespace detail {

/// An executor whose variables reach the host while the loop goes on: `snapshot_variables(visit)` visits memory that
/// has the values when wait() of its result returns.
template <class E>
concept TakesSnapshots = requires(E executor) {
  executor.snapshot_variables([](auto&&...) {})->wait();
};

/// What a checkpoint is of: the session below the hooks of a MonitoredSession, or a session without hooks itself.
template <class Session>
auto& below_hooks(Session& session) {
  if constexpr (requires { session.raw_session(); }) {
    return session.raw_session();
  } else {
    return session;
  }
}

}  // namespace detail

/// The state of a session for a checkpoint. Reuses its memory.
class SessionTensors {
 public:
  /// Refers to the variables' memory: `records` are valid until the session's next run, or until the next access to one
  /// of its variables. Throws UninitializedError if a variable has no value, and what hooks' save_state throws.
  template <class Session>
  void borrow(const Session& session, std::int64_t step) {
    collect<false>(session, step);
  }
  /// Copies the variables' elements. Cost: that copy; allocates for them only the first time. An executor that has
  /// snapshot_variables copies after the call has returned: call wait() before the records are read.
  template <class Session>
  void copy(const Session& session, std::int64_t step) {
    collect<true>(session, step);
  }
  /// Waits for the elements of the last copy(). Any thread. Throws what the executor throws.
  void wait() const {
    if (wait_) wait_();
  }

  /// The tensors to write.
  [[nodiscard]] const std::vector<io::TensorRecord>& records() const { return records_; }

 private:
  struct Held {
    std::string name;
    io::DataType type = io::DataType::float32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
    std::vector<std::byte> copied;
  };

  template <bool Copy, class Session>
  void collect(const Session& session, std::int64_t step) {
    using E = std::remove_cvref_t<decltype(session.executor())>;
    static_assert(HasVariables<E>,
                  "crochet: this executor names no state to save; a StepExecutor does: variable<\"u\">(u)");
    if constexpr (HasVariables<E>) collect_variables<Copy>(session, step);
    add_hooks_and_list(session);
  }
  template <bool Copy, class Session>
  void collect_variables(const Session& session, std::int64_t step) {
    count_ = 0;
    step_ = step;
    wait_ = nullptr;  // which releases the last snapshot
    const auto& executor = session.executor();
    if constexpr (Copy && detail::TakesSnapshots<decltype(executor)>) {
      const auto snapshot =
          executor.snapshot_variables([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
            add<false>(name, elements, shape);
          });
      wait_ = [snapshot] { snapshot->wait(); };
    } else {
      executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
        add<Copy>(name, elements, shape);
      });
    }
    const auto counts = [](const Held& held) { return held.name == "global_step"; };
    if (std::any_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count_), counts)) return;
    add<false>("global_step", std::span<const std::int64_t>(&step_, 1), {});
  }
  template <class Session>
  void add_hooks_and_list(const Session& session) {
    hooks_ = to_tensors(ChainState::of([&](StateWriter& out) { session.save_hook_state(out); }));
    records_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
      records_.push_back({held_[i].name, held_[i].type, held_[i].shape, held_[i].bytes, {}});
    }
    for (const OwnedTensor& tensor : hooks_)
      records_.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes, {}});
  }
  template <bool Copy, class T>
  void add(std::string_view name, std::span<const T> elements, std::span<const std::int64_t> shape) {
    if (count_ == held_.size()) held_.emplace_back();
    Held& held = held_[count_++];
    held.name = name;
    held.type = io::data_type_of<T>();
    held.shape.assign(shape.begin(), shape.end());
    held.bytes = std::as_bytes(elements);
    if constexpr (Copy) {
      held.copied.resize(held.bytes.size());
      if (!held.bytes.empty()) std::memcpy(held.copied.data(), held.bytes.data(), held.bytes.size());
      held.bytes = held.copied;
    }
  }

  std::vector<Held> held_;
  std::size_t count_ = 0;
  std::int64_t step_ = 0;
  std::vector<OwnedTensor> hooks_;
  std::vector<io::TensorRecord> records_;
  std::function<void()> wait_;
};

/// The result of a restore.
struct Restored {
  std::filesystem::path prefix;
  std::int64_t step = 0;
  StateReport hooks;
  std::vector<std::string> ignored;    ///< tensors of the checkpoint without a variable in the model
  std::vector<std::string> converted;  ///< variables that have another floating type in the checkpoint

  /// "dir/model.ckpt-20, step 20; hooks: 2 loaded; ignored: v, w; converted from another floating type: 4 variables";
  /// of more than three ignored tensors the count.
  [[nodiscard]] std::string text() const;
};

namespace detail {

/// Throws a CheckpointMismatchError: a checkpoint's global_step is no step.
[[noreturn]] void refuse_step(const std::filesystem::path& prefix, const io::TensorEntry& entry, std::int64_t step);

/// The step of a checkpoint: its global_step, one int64 or int32 from 0 to 2^62; 0 if it has none.
template <class Reader>
std::int64_t step_in(const Reader& reader, const std::filesystem::path& prefix) {
  const io::TensorEntry* entry = reader.find("global_step");
  if (entry == nullptr) return 0;
  std::int64_t step = -1;
  if (entry->elements == 1 && entry->type == io::DataType::int64) {
    reader.read(*entry, std::as_writable_bytes(std::span(&step, 1)));
  } else if (entry->elements == 1 && entry->type == io::DataType::int32) {
    std::int32_t narrow = 0;
    reader.read(*entry, std::as_writable_bytes(std::span(&narrow, 1)));
    step = narrow;
  }
  if (step < 0 || step > std::int64_t{1} << 62) refuse_step(prefix, *entry, step);
  return step;
}

}  // namespace detail

/// Restores the variables and the step of a checkpoint. Errors: as restore_session.
template <class Session, class Reader>
void restore_variables(Session& session, const Reader& reader, const std::filesystem::path& prefix) {
  using E = std::remove_cvref_t<decltype(session.executor())>;
  static_assert(HasVariables<E>,
                "crochet: this executor names no state to restore; a StepExecutor does: variable<\"u\">(u)");
  if constexpr (HasVariables<E>) {
    E& executor = session.executor();
    if (const detail::Mismatches all = detail::mismatches(executor, reader); all.any()) {
      throw CheckpointMismatchError("crochet: " + prefix.string() +
                                    " is not a checkpoint of this model: " + all.text(reader.tensors()));
    }
    reader.verify();  // verifies all before any of it is used: a step function cannot be reinitialized
    if constexpr (detail::CountsSteps<E>) {
      detail::read_variables(executor, reader);
    } else {
      const std::int64_t step = detail::step_in(reader, prefix);
      detail::read_variables(executor, reader);
      session.set_step(step);
    }
  }
}

/// Restores a session from a checkpoint: every variable, the step, the state of its hooks.
/// - Variables of float and double are also read from tensors of float16 and bfloat16, exactly; those of bfloat16 from
///   tensors of float and float16, rounded. No other type is converted.
/// - The step is the tensor global_step, one int64 or int32; 0 without one.
/// - Throws CheckpointMismatchError if a variable is missing or has another type or shape, or if global_step is no such
///   number, and DataLossError for a damaged checkpoint. The session is then unchanged.
/// - Throws IoError if the checkpoint cannot be read, and what a hook's load_state throws. Variables and step may then
///   be restored already.
/// - Cost: the checkpoint is read twice, usually from the page cache the second time.
template <io::CheckpointFormat F, class Session>
Restored restore_session(Session& session, const std::filesystem::path& prefix,
                         io::FileSystem& files = io::local_files()) {
  const auto reader = io::open_checkpoint<F>(prefix, files);
  const ChainState state = chain_state_of(reader);
  restore_variables(session, reader, prefix);
  StateReport hooks = state.load([&](StateWriter& out) { session.save_hook_state(out); },
                                 [&](StateReader& in) { session.load_hook_state(in); });
  Restored restored{prefix, session.step(), std::move(hooks), {}, {}};
  if constexpr (HasVariables<std::remove_cvref_t<decltype(session.executor())>>) {
    restored.ignored = detail::unused_tensors(session.executor(), reader);
    restored.converted = detail::converted_variables(session.executor(), reader);
  }
  return restored;
}

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/session_tensors.ipp>
#endif
