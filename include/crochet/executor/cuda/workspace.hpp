// SPDX-License-Identifier: Apache-2.0
// The memory of the runs on a workspace, on the device.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/fetched_values.hpp>
#include <crochet/executor/cuda/launch_feeds.hpp>
#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/plan/placement.hpp>
#include <crochet/executor/plan/sizes.hpp>

namespace crochet::cuda {

/// The values of a plan that its launches watch (value_watch.hpp).
template <class Device>
struct WatchOf {
  std::vector<bool> flags;           ///< whether a flag is watched; empty if none is
  std::vector<WatchedValue> values;  ///< and on the device:
  DeviceBytes<Device> memory;
  bool changed = false;  ///< `values` are not up to date
};

/// The rules that hooks had in the first watched run on a workspace. They must have the same ones in every run.
struct StatedRules {
  std::int64_t run = 0;     ///< number of the first watched run, from 1
  std::vector<bool> flags;  ///< by number of the rule; empty: no run was watched yet

  /// Adds a rule of run number `now`. Returns whether it is none of the rules of the first watched run.
  bool changes_with(std::size_t flag, std::int64_t now) {
    if (flags.empty()) run = now;
    if (flags.size() <= flag) flags.resize(flag + 1);
    if (flags[flag]) return false;
    flags[flag] = true;
    return now != run;
  }
};

/// The values of an exchange with other ranks (rank_exchanges.hpp).
struct BoundExchange {
  Place from, to;
  std::int64_t elements = 0;
  std::size_t bytes = 0;
  std::size_t sent = 0, got = 0;  ///< offsets in the host's memory
  std::size_t sum = 0;            ///< where GPUs exchange: of an exchange that overlaps, the offset in their memory
};

/// The tables of one plan at one size, on the device.
template <class Device>
struct BoundPlan {
  const void* plan = nullptr;  ///< identifies the plan
  Dims dims{};
  DeviceBytes<Device> memory;
  Tables tables;
  Room room;
  std::size_t workspace_bytes = 0;
  WatchOf<Device> watch;
  std::vector<std::int64_t> fetched;  ///< the offsets of the fetched values that are variables or in the workspace
  std::vector<BoundExchange> exchanges;
  std::size_t exchanged_bytes = 0, summed_bytes = 0;  ///< of the host's memory for them, and of the GPUs'
};

/// The memory of a run. T: the tables of the graph.
template <class Device, class T>
struct WorkspaceMemory {
  using Feeds = LaunchFeeds<Device, T>;

  DeviceBytes<Device> workspace, scratch, tickets;
  PinnedBytes<Device> exchanged;  ///< the values of exchanges with other ranks
  DeviceBytes<Device> summed;     ///< by GPUs, in exchanges that overlap
  cpu::Placements placements;
  std::vector<std::unique_ptr<BoundPlan<Device>>> plans;
  Feeds feeds;
  FetchedValues<T> values;
  Dims dims = cpu::no_dims;
  std::int64_t runs = 0;  ///< that were queued
  StatedRules stated;
  BoundPlan<Device>* last_plan = nullptr;
  bool probed_last = false;   ///< the last run was launched in parts
  bool skipped_last = false;  ///< the last run is known to be skipped, behind a run that failed (value_watch.hpp)

  /// The memory of the device.
  std::size_t bytes() const {
    std::size_t sum =
        workspace.capacity() + scratch.capacity() + tickets.capacity() + summed.capacity() + feeds.bytes();
    for (const auto& p : plans) sum += p->memory.capacity() + p->watch.memory.capacity();
    return sum;
  }
  /// The tables of a plan at these sizes. The tables of the last four sizes of a plan are kept.
  template <class P>
  BoundPlan<Device>& bind(const std::shared_ptr<Device>& device, const Dims& now) {
    using Stored = StoredPlan<T, P>;
    const void* const id = Stored::steps.data();
    for (auto& p : plans) {
      if (p->plan == id && p->dims == now) return *p;
    }
    return make<P>(device, now);
  }

  /// Whether reserve() replaces the memory in which earlier runs left their values.
  bool replaces_values(const BoundPlan<Device>& p) const { return p.workspace_bytes > workspace.capacity(); }
  /// Grows the memory to what a plan needs.
  void reserve(const std::shared_ptr<Device>& device, const BoundPlan<Device>& p) {
    workspace.reserve(device, p.workspace_bytes, "the tensors of a run");
    scratch.reserve(device, static_cast<std::size_t>(p.room.bytes), "the partial results of a run");
    const auto bytes = static_cast<std::size_t>(p.room.tickets) * sizeof(std::uint32_t);
    if (tickets.reserve(device, bytes, "the counters of a run")) device->clear(tickets.data(), bytes);
  }

  /// Of one of several ranks.
  void reserve_exchanges(const std::shared_ptr<Device>& device, const BoundPlan<Device>& p, bool by_gpus) {
    constexpr const char* purpose = "the gradients that ranks exchange";
    if (by_gpus) summed.reserve(device, p.summed_bytes, purpose);
    if (!by_gpus) exchanged.reserve(device, p.exchanged_bytes, purpose);
  }

 private:
  template <class P>
  CROCHET_COLD BoundPlan<Device>& make(const std::shared_ptr<Device>& device, const Dims& now) {
    using Stored = StoredPlan<T, P>;
    constexpr std::size_t kept = 4;
    forget(Stored::steps.data(), kept - 1);
    auto p = std::make_unique<BoundPlan<Device>>();
    p->plan = Stored::steps.data();
    p->dims = now;
    cpu::with_placement<P>(placements, now, [&](std::int64_t bytes, auto offset) {
      p->workspace_bytes = static_cast<std::size_t>(bytes);
      const PlanTables tables(Stored::steps, Stored::accesses, Stored::operands, now, device->blocks(), offset);
      p->room = tables.room;
      p->tables.tile = tables.room.tile;
      for (const PlannedValue& v : Stored::fetched) {
        p->fetched.push_back(v.base == Base::workspace ? offset(static_cast<std::size_t>(v.number)) : v.offset);
      }
      bind_exchanges(Stored::exchanges, now, offset, *p);
      upload(device, tables, *p);
    });
    for (std::size_t s = 0; s < max_symbols; ++s) p->tables.dims[s] = now[s];
    plans.push_back(std::move(p));
    return *plans.back();
  }
  template <class Offset>
  static void bind_exchanges(std::span<const PlannedExchange> planned, const Dims& dims, const Offset& offset,
                             BoundPlan<Device>& to) {
    constexpr std::size_t line = 256;
    const auto room = [](std::size_t& all, std::size_t bytes) {
      return std::exchange(all, all + (bytes + line - 1) / line * line);
    };
    for (const PlannedExchange& e : planned) {
      BoundExchange bound{place_of(e.from, offset), place_of(e.to, offset), e.from.shape.size().at(dims)};
      const std::size_t bytes = bound.bytes = static_cast<std::size_t>(bound.elements) * size_of(e.type);
      bound.sent = e.ends ? 0 : room(to.exchanged_bytes, bytes);
      bound.got = e.ends ? room(to.exchanged_bytes, bytes) : bound.sent;
      if (e.begins) bound.sum = room(to.summed_bytes, bytes);
      to.exchanges.push_back(bound);
    }
  }
  void forget(const void* id, std::size_t keep) {
    std::size_t known = 0;
    for (std::size_t k = plans.size(); k-- > 0;) {
      if (plans[k]->plan == id && ++known > keep) plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  static void upload(const std::shared_ptr<Device>& device, const PlanTables& tables, BoundPlan<Device>& to) {
    std::vector<std::byte> all;
    const auto append = [&](const auto& list) {
      constexpr std::size_t line = 64;
      const std::size_t at = (all.size() + line - 1) / line * line, bytes = list.size() * sizeof(list[0]);
      all.resize(at + bytes);
      if (bytes > 0) std::memcpy(all.data() + at, list.data(), bytes);
      return at;
    };
    const std::size_t steps = append(tables.steps), accesses = append(tables.accesses),
                      operands = append(tables.operands);
    to.memory.reserve(device, all.size(), "the tables of a plan");
    device->upload(to.memory.data(), all.data(), all.size());
    to.tables.steps = reinterpret_cast<const TableStep*>(to.memory.data() + steps);
    to.tables.accesses = reinterpret_cast<const TableAccess*>(to.memory.data() + accesses);
    to.tables.operands = reinterpret_cast<const TableOperand*>(to.memory.data() + operands);
  }
};

}  // namespace crochet::cuda
