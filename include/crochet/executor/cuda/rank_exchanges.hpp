// SPDX-License-Identifier: Apache-2.0
// RankExchanges: a run that exchanges with other ranks. The device runs the steps between two exchanges as one launch.
// The host exchanges, by way of its pinned memory; or the GPUs do (sums_of_gpus.hpp).
#pragma once
#include <array>
#include <cstddef>
#include <exception>
#include <memory>

#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/cuda/step_code.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/executor/cuda/sums_of_gpus.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet::cuda {

/// T: the tables of the graph, P: the plan of a demand (cpu::Planned). One run.
template <class Device, class T, class P>
class RankExchanges {
  using Memory = WorkspaceMemory<Device, T>;
  using Exchanges = cpu::ExchangesOf<T, P>;
  static constexpr const auto& planned = StoredPlan<T, P>::exchanges;
  static constexpr std::size_t count = Exchanges::parts;
  static constexpr std::size_t step_count = P::plan.step_count;

 public:
  /// Compiles the plan and reserves memory. Throws DeviceError and DeviceMemoryError.
  RankExchanges(const std::shared_ptr<Device>& device, kernel::Exchange& ranks, std::byte* variables, Memory& memory,
                const BoundPlan<Device>& plan)
      : device_(*device), ranks_(ranks), memory_(memory), plan_(plan), places_(variables, memory) {
    memory.reserve_exchanges(device, plan, ranks.is_on_device());
    device->template prepare<PlanCode<P>>(plan.tables);
  }

  /// When all ranks have come to the run. Plain: the plan without watches. Throws as kernel::Exchange::begin.
  template <class Plain>
  void begin(Launch& launch, const Dims& dims) {
    using Kind = cpu::ExchangesOf<T, Plain>;
    static_assert(Kind::kind == Exchanges::kind, "crochet: a plan with watches exchanges in another order");
    ranks_.begin(Kind::kind, Kind::rows(dims));
    launch.tables.first_row = ranks_.first_row();
  }

  /// The whole run. A device that fails ends all ranks: the others wait for the exchanges of this run.
  void run(Launch& launch) {
    guard([&] {
      for (std::size_t k = 0, first = 0; k <= count; ++k) {
        const std::size_t end = k < count ? planned.data()[k].step : step_count;
        if (first < end) launch_steps(launch, first, end);
        if (k == count) break;
        exchange(k);
        first = end + 1;
      }
    });
  }
  /// One exchange, for a run that is launched step by step under guard().
  template <std::size_t Step>
  void step() {
    constexpr std::size_t k = [] {
      std::size_t at = 0;
      while (planned[at].step != Step) ++at;
      return at;
    }();
    exchange(k);
  }
  /// Work behind begin().
  template <class Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (const std::exception& e) {
      ranks_.abort(e.what());
    }
  }

 private:
  void launch_steps(Launch& launch, std::size_t first, std::size_t end) {
    launch.first_step = static_cast<std::int32_t>(first);
    launch.end_step = static_cast<std::int32_t>(end);
    device_.template launch<PlanCode<P>>(launch);
    if (ranks_.is_on_device()) return;
    send_waiting();  // while the device runs
    ranks_.progress();
  }
  void exchange(std::size_t k) {
    const PlannedExchange& e = planned.data()[k];
    if (ranks_.is_on_device()) {
      SumsOfGpus<Device, T>{device_, ranks_, memory_, places_}.exchange(e, bound(k), bound(e.begun));
    } else if (e.begins) {
      begin_one(k);
    } else if (e.ends) {
      end_one(k, e.begun);
    } else {
      reduce(k);
    }
  }

  /// Waits for the device, and for the other ranks. Exchanges that follow one another wait for the device once.
  void reduce(std::size_t k) {
    if (k >= downloaded_) {
      for (downloaded_ = k; downloaded_ < count && follows(k, downloaded_); ++downloaded_) {
        download(downloaded_, Stream::compute);
      }
      device_.wait(device_.record(Stream::compute));
    }
    ranks_.reduce(sent(k), bound(k).elements, planned.data()[k].type, planned.data()[k].how());
    upload(k);
  }
  /// Whether exchange `j` comes right behind exchange `k` and its value does not depend on it.
  static constexpr bool follows(std::size_t k, std::size_t j) {
    const PlannedExchange& e = planned.data()[j];
    return e.step == planned.data()[k].step + (j - k) && !e.begins && !e.ends && !depends(k, j);
  }
  static constexpr bool depends(std::size_t k, std::size_t j) {
    for (std::size_t i = k; i < j; ++i) {
      const PlannedValue &from = planned.data()[j].from, &to = planned.data()[i].to;
      if (from.base == to.base && from.number == to.number && from.offset == to.offset) return true;
    }
    return false;
  }

  /// The value is copied behind what the device runs now, and sent when the next steps run.
  void begin_one(std::size_t k) {
    device_.order(Stream::compute, Stream::downloads);
    download(k, Stream::downloads);
    copied_ = device_.record(Stream::downloads);
    if (waiting_ == waiting_end_) waiting_ = k;
    waiting_end_ = k + 1;
  }
  void send_waiting() {
    if (waiting_ == waiting_end_) return;
    device_.wait(copied_);
    for (; waiting_ < waiting_end_; ++waiting_) {
      const PlannedExchange& e = planned.data()[waiting_];
      if (!e.begins) continue;
      numbers_[waiting_] = ranks_.begin_reduce(sent(waiting_), bound(waiting_).elements, e.type, e.how());
    }
  }
  void end_one(std::size_t k, std::size_t begun) {
    send_waiting();
    ranks_.end_reduce(numbers_[begun], memory_.exchanged.data() + bound(k).got, bound(k).elements);
    device_.order(Stream::compute, Stream::copies);  // steps that run now may use the memory of the result
    upload(k);
  }

  [[nodiscard]] const BoundExchange& bound(std::size_t k) const { return plan_.exchanges[k]; }
  [[nodiscard]] std::byte* sent(std::size_t k) const { return memory_.exchanged.data() + bound(k).sent; }
  void download(std::size_t k, Stream stream) {
    device_.download_later(sent(k), places_.at(bound(k).from), bound(k).bytes, stream);
  }
  /// No step that uses the memory of the result runs now.
  void upload(std::size_t k) {
    device_.upload_pinned(places_.at(bound(k).to), memory_.exchanged.data() + bound(k).got, bound(k).bytes);
    device_.order(Stream::copies, Stream::compute);
  }

  Device& device_;
  kernel::Exchange& ranks_;
  Memory& memory_;
  const BoundPlan<Device>& plan_;
  const PlacesOfRun<Device, T> places_;
  std::size_t downloaded_ = 0;                 ///< the first exchange whose value is not on the host
  std::size_t waiting_ = 0, waiting_end_ = 0;  ///< exchanges that have begun on the device and are not sent
  std::array<int, count> numbers_{};
  typename Device::Event copied_{};
};

}  // namespace crochet::cuda
