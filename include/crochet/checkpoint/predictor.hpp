// SPDX-License-Identifier: Apache-2.0
// Predictor: computes outputs of a trained model, without hooks and without a session.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/checkpoint/prediction.hpp>
#include <crochet/checkpoint/read_variables.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/storage/checkpoint_format.hpp>

namespace crochet {

/// Whether the header of a device is included: crochet/executor/cpu.hpp for Predictor.
template <class Device>
concept DeviceIsIncluded = requires {
  sizeof(Device);
};

/// The outputs of a model with the weights of a checkpoint, on a device. `Predictor<Model, "logits">` is that of Cpu.
/// - Model: that of the training, or one with the same names and shapes. Only what the outputs need is compiled and
///   restored: no loss, no optimizer, no slots.
/// - Outputs: names of values. An output that changes a variable (dropout, moving averages in training) is a compile
///   error.
/// - Call: see operator(). Runs on up to the device's `threads`, for one thread of the program at a time.
/// - Each further thread of the program calls a worker() of its own, at the same time, on the same weights.
/// - Movable.
template <DeviceIsIncluded Device, class Model, FixedString... Outputs>
class BasicPredictor
    : public detail::Prediction<decltype(std::declval<const Device&>().template compile<Model>()),
                                detail::OwnRuns<decltype(std::declval<const Device&>().template compile<Model>())>,
                                Name<Outputs>...> {
  using E = decltype(std::declval<const Device&>().template compile<Model>());
  using Base = detail::Prediction<E, detail::OwnRuns<E>, Name<Outputs>...>;
  using Error = detail::outputs_error<E, Name<Outputs>...>;
  static_assert(call_is_usable<Error>, "crochet: crochet::error says why");

 public:
  /// Restores the newest intact checkpoint of a folder; see Saver::must_restore. Changes no file, takes no lock, and
  /// reports the checkpoint in one line.
  /// - Throws IoError, with the folder and the expected names, if there is no checkpoint; DataLossError if all are
  ///   damaged.
  /// - Throws CheckpointMismatchError, with every such variable, if one is missing or has another type or shape.
  /// - Throws what `compile` of the device throws.
  /// - hooks: hooks of the training whose saved state is loaded too, such as the numbers of a normalization:
  ///   `Standardize<"x"> scale; Predictor<Model, "price"> predict{Cpu{}, folder, scale};`. Throws
  ///   CheckpointMismatchError if the checkpoint has no state of one of them, or one with other fields. A Standardize
  ///   of the training that is not listed is reported in a line.
  template <class... H>
  BasicPredictor(const Device& device, const std::filesystem::path& folder, H&... hooks)
      : BasicPredictor(device, Saver<>{folder}, hooks...) {}
  /// The same from the folder of a Saver, with its options and format.
  template <io::CheckpointFormat Format, class... H>
  BasicPredictor(const Device& device, Saver<Format> saver, H&... hooks)
      : Base(std::make_shared<E>(device.template compile<Model>())) {
    if constexpr (!detail::is_unusable<E> && std::is_same_v<Error, error::none>) {
      using D = detail::demand_for<E, detail::List<Name<Outputs>...>, detail::List<>>;
      E& executor = *this->shared_executor();
      HookChain<H...> chain{hooks...};
      detail::RestoredPart<E, D> part{executor, HookStates::of(chain)};
      restored_ = saver.must_restore(part);
      require_hooks();
      warn_of_unused_scales();
      ((hooks = std::move(chain.template get<H>())), ...);
      // Variables that the outputs do not read are 0, so that all have a value.
      executor.for_each_variable([](std::string_view, auto, std::span<const std::int64_t>) { return true; });
      static_cast<void>(worker());  // copies the weights to the kernels' memory, before several threads make workers
    }
  }

  /// The call operator for one more thread: on the same weights, on the calling thread alone, with memory of its own.
  /// - The results have the same bits as the predictor's.
  /// - Workers keep the weights alive; the predictor may be destroyed first.
  class Worker : public detail::Prediction<E, typename detail::WorkerRuns<E>::type, Name<Outputs>...> {
    friend class BasicPredictor;
    explicit Worker(std::shared_ptr<E> executor)
        : detail::Prediction<E, typename detail::WorkerRuns<E>::type, Name<Outputs>...>(std::move(executor)) {}
  };
  /// A new worker. Any thread, also while others predict.
  [[nodiscard]] Worker worker() const { return Worker{this->shared_executor()}; }

  /// The checkpoint that the weights are from: its prefix, its step, and tensors that were not used.
  [[nodiscard]] const Restored& restored() const { return restored_; }

 private:
  void require_hooks() const {
    if (!restored_.hooks.changed.empty()) {
      throw CheckpointMismatchError("crochet: Predictor: " + restored_.prefix.string() +
                                    " has the state of another hook under the key of " +
                                    restored_.hooks.changed.front() + "; pass the hook of the training");
    }
    if (restored_.hooks.added.empty()) return;
    throw CheckpointMismatchError("crochet: Predictor: " + restored_.prefix.string() + " has no state of " +
                                  restored_.hooks.added.front() +
                                  "; list that hook in the chain of the training, in front of its CheckpointSaver");
  }

  /// The data of the training were standardized, and those of this program perhaps are not.
  CROCHET_COLD void warn_of_unused_scales() const {
    for (const std::string& key : restored_.hooks.removed) {
      if (!key.starts_with("Standardize<")) continue;
      diagnose("crochet: Predictor: the training used " + key + ", whose numbers are in " + restored_.prefix.string() +
               "; pass one: Predictor{device, folder, scale}, and apply() it to the feeds");
    }
  }

  Restored restored_;
};

template <class Backend>
struct BasicCpu;
namespace kernel::CROCHET_ISA {
class Tiles;
}

/// `Predictor<Model, "logits"> predict{Cpu{}, "folder"};` `auto [logits] = predict(feed<"images">(x));`
/// Include crochet/executor/cpu.hpp too. For another device: BasicPredictor<ExactCpu, Model, "logits">.
template <class Model, FixedString... Outputs>
using Predictor = BasicPredictor<BasicCpu<kernel::Tiles>, Model, Outputs...>;

}  // namespace crochet
