// SPDX-License-Identifier: Apache-2.0
// EpochSource: where a session reads how many epochs of its data have been taken.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace crochet {

/// A place in the data of a training.
struct EpochPlace {
  std::int64_t epoch = 0;    ///< number of complete epochs
  std::int64_t batch = 0;    ///< number of batches of the next epoch that have been taken
  std::int64_t batches = 0;  ///< batches in an epoch; 0: not known
};

/// A data source that counts epochs: it has `position()` with `epoch` and `batch`, as Batches and DataBatches have. The
/// position after the last batch of an epoch is the start of the next epoch.
template <class Source>
concept CountsEpochs = requires(const Source& source) {
  { source.position().epoch } -> std::convertible_to<std::int64_t>;
  { source.position().batch } -> std::convertible_to<std::int64_t>;
};

/// Refers to a data source of any type; empty at first. The source must outlive it. Cost of place(): an indirect call.
class EpochSource {
 public:
  constexpr EpochSource() = default;
  template <CountsEpochs Source>
  constexpr explicit EpochSource(const Source& source) : source_(&source), read_(&place_in<Source>) {}

  template <CountsEpochs Source>
  explicit EpochSource(const Source&& temporary) = delete;

  constexpr explicit operator bool() const { return read_ != nullptr; }
  [[nodiscard]] EpochPlace place() const { return read_(source_); }

 private:
  template <class Source>
  static EpochPlace place_in(const void* from) {
    const auto& source = *static_cast<const Source*>(from);
    const auto position = source.position();
    EpochPlace place{position.epoch, position.batch, 0};
    if constexpr (requires { source.batches_per_epoch(); }) place.batches = source.batches_per_epoch();
    return place;
  }

  const void* source_ = nullptr;
  EpochPlace (*read_)(const void*) = nullptr;
};

namespace detail {

/// The data source of a hook, which may be inside decorators: a hook with `epoch_source()`, as
/// CheckpointInputPipeline.
template <class H>
constexpr EpochSource epoch_source_in(const H& hook) {
  if constexpr (requires {
                  { hook.epoch_source() } -> std::same_as<EpochSource>;
                }) {
    return hook.epoch_source();
  } else if constexpr (requires {
                         typename H::decorates;
                         hook.hook;
                       }) {
    return epoch_source_in(hook.hook);
  } else {
    return {};
  }
}
/// That of the first hook of a chain that has one.
template <class Chain>
constexpr EpochSource epoch_source_of(const Chain& chain) {
  EpochSource found;
  chain.for_each([&](const auto& hook) {
    if (!found) found = epoch_source_in(hook);
  });
  return found;
}

}  // namespace detail

}  // namespace crochet
