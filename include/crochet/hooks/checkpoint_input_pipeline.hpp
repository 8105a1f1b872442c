// SPDX-License-Identifier: Apache-2.0
// CheckpointInputPipeline: saves the position of the data source in checkpoints.
#pragma once

#include <crochet/base/config.hpp>

#include <utility>

#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Saves and restores the position of a data source with the session, so that a resumed run gets the same batches:
///   Batches data = fashion_mnist("train").batch(128).shuffle(1).repeat();
///   HookChain{CheckpointInputPipeline{data}, ..., CheckpointSaver{saver, {.save_secs = 600}}}
/// - source: borrowed, must outlive the hook. It has `position()` with `epoch` and `batch`, and `seek(position)`, as
///   Batches has; or its own save_state and load_state.
/// - The saved position is the one after the run's batch was taken. Take each batch right before its run, on the same
///   thread. In a session that recovers, take it inside run_step_fn() or FeedFn: a repeated run() has the batch that
///   the caller passed (docs/sessions.md, Recovery).
/// - The session counts the epochs of the source: `.every_epochs` of other hooks, StopAtEpoch, run.epoch().
/// - Fires: only in save_state and load_state.
/// - Fetches: nothing. Cost: none.
/// - Throws: what the source throws; LogicError if the saved position is outside the data.
/// - TensorFlow's hook of this name saves an iterator into separate files.
template <class Source>
class CheckpointInputPipeline {
 public:
  using handles = Phases<phase::save_state, phase::load_state>;

  explicit CheckpointInputPipeline(Source& source) : source_(&source) {}

  /// The source, for the session's count of epochs.
  [[nodiscard]] EpochSource epoch_source() const requires CountsEpochs<Source> { return EpochSource{*source_}; }

  void save_state(auto& out) const {
    if constexpr (requires { source_->position(); }) {
      const auto position = source_->position();
      out.put("epoch", position.epoch);
      out.put("batch", position.batch);
    } else {
      std::as_const(*source_).save_state(out);
    }
  }
  void load_state(auto& in) {
    if constexpr (requires { source_->position(); }) {
      auto position = source_->position();
      if (in.get("epoch", position.epoch) && in.get("batch", position.batch)) source_->seek(position);
    } else {
      source_->load_state(in);
    }
  }

 private:
  Source* source_;
};

}  // namespace crochet
