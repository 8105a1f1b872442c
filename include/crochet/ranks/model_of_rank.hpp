// SPDX-License-Identifier: Apache-2.0
// ModelOfRank: the executor of one rank for hooks that are called on that rank alone. It shows the variables of the
// optimizer, of which the ranks may have parts, as a checkpoint has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/parallel_step.hpp>
#include <crochet/ranks/part_exchange.hpp>
#include <crochet/ranks/rank_group.hpp>

namespace crochet::detail {

/// Executor: of the graph of one rank.
template <class Executor, Communicator C>
class ModelOfRank : protected OwnedGroup<C>, public Executor {
  static constexpr const auto& parts = Executor::parts_of_variables;

 public:
  /// Whether ranks have parts of variables.
  static constexpr bool has_parts = [] {
    for (const auto& p : parts) {
      if (p.is_part()) return true;
    }
    return false;
  }();

  /// The rows of the batch of all ranks together, in the last run that exchanged; 0 if it reads no rows.
  [[nodiscard]] std::int64_t rows_of_all_ranks() const { return this->group->rows_of_batch(); }

  /// The variables of all ranks. Those of which each rank has a part are read of all ranks, which the others do at
  /// their next roll call; so it is called within a session, by hooks and creators. Cost: these variables move to this
  /// rank, and it keeps memory for them.
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    show(static_cast<Executor&>(*this), visit);
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    show(static_cast<const Executor&>(*this), visit);
  }
  /// Only the variables that are the same on all ranks.
  template <class Visit>
  void for_each_common_variable(Visit&& visit) {
    show_common(static_cast<Executor&>(*this), visit);
  }
  template <class Visit>
  void for_each_common_variable(Visit&& visit) const {
    show_common(static_cast<const Executor&>(*this), visit);
  }

 protected:
  template <class SettingsOf>
  ModelOfRank(std::unique_ptr<RankGroup<C>> owned, const SettingsOf& settings_of)
      : OwnedGroup<C>{std::move(owned)}, Executor(settings_on_all_ranks(*this->group, settings_of)) {
    if constexpr (has_parts) this->group->set_parts(own_parts());
  }

 private:
  /// A device that this rank cannot open fails all ranks.
  template <class SettingsOf>
  static auto settings_on_all_ranks(RankGroup<C>& ranks, const SettingsOf& settings_of) {
    try {
      if constexpr (DeviceCommunicator<C>) ranks.communicator().require();
      return settings_of(&ranks);
    } catch (const std::exception& e) {
      ranks.fail(e.what());
      throw;
    }
  }
  /// This rank's part of each variable, in the executor's memory.
  PartExchange::PartOf own_parts() {
    std::vector<PartOfRank> all(parts.size());
    for (std::size_t v = 0; v < all.size(); ++v) {
      if (!parts[v].is_part()) continue;
      all[v].bytes = Executor::memory_of_variable(v);
      all[v].shape = {.bytes = static_cast<std::int64_t>(all[v].bytes.size())};
    }
    return [all = std::move(all)](std::size_t variable) { return all[variable]; };
  }

  template <class Self, class Visit>
  void show(Self& self, Visit& visit) const {
    std::size_t v = 0;
    self.for_each_variable(
        [&]<class E>(std::string_view name, std::span<E> elements, std::span<const std::int64_t> shape) {
          const std::size_t at = v++;
          if (!has_parts || !parts[at].is_part()) return visit_may_write(visit, name, elements, shape);
          return show_whole<E>(at, name, visit);
        });
  }
  template <class E, class Visit>
  bool show_whole(std::size_t v, std::string_view name, Visit& visit) const {
    wholes_.resize(parts.size());
    std::vector<std::byte>& bytes = wholes_[v];
    this->group->read_parts(v, bytes);
    const std::span<E> elements{reinterpret_cast<E*>(bytes.data()), static_cast<std::size_t>(parts[v].size)};
    const bool written = visit_may_write(visit, name, elements, parts[v].shape());
    if (!std::is_const_v<E> && written) this->group->write_parts(v, bytes);
    return written;
  }
  template <class Self, class Visit>
  static void show_common(Self& self, Visit& visit) {
    std::size_t v = 0;
    self.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t> shape) {
      return !parts[v++].is_part() && visit_may_write(visit, name, elements, shape);
    });
  }

  mutable std::vector<std::vector<std::byte>> wholes_;
};

}  // namespace crochet::detail
