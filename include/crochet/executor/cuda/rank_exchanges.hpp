// SPDX-License-Identifier: Apache-2.0
// RankExchanges: a run that exchanges with other ranks. The device runs the steps between two exchanges as one launch.
// The host exchanges, by way of its pinned memory; or the GPUs do, in the order of their streams.
#pragma once
#include <array>
#include <cstddef>
#include <exception>

#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/cuda/step_code.hpp>
#include <crochet/executor/cuda/stream.hpp>
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
  RankExchanges(Device& device, kernel::Exchange& ranks, std::byte* variables, Memory& memory,
                const BoundPlan<Device>& plan)
      : device_(device), ranks_(ranks), variables_(variables), memory_(memory), plan_(plan) {}

  /// The whole run. A device that fails ends all ranks: the others wait for the exchanges of this run.
  void run(Launch launch) {
    launch.tables.first_row = ranks_.first_row();
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
  /// One exchange, for a run that is launched step by step.
  template <std::size_t Step>
  void step() {
    constexpr std::size_t k = [] {
      std::size_t at = 0;
      while (planned[at].step != Step) ++at;
      return at;
    }();
    guard([&] { exchange(k); });
  }

  /// Work of the device between exchanges.
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
    send_waiting();  // while the device runs
    if (!ranks_.is_on_device()) ranks_.progress();
  }
  void exchange(std::size_t k) {
    const PlannedExchange& e = planned.data()[k];
    if (ranks_.is_on_device()) {
      exchange_by_gpus(k);
    } else if (e.begins) {
      begin(k);
    } else if (e.ends) {
      end(k, e.begun);
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
    ranks_.reduce(sent(k), bound(k).elements, planned.data()[k].type, how(k));
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

  /// The GPUs exchange, in the order of their streams. Nothing waits. Those that overlap have a stream beside the
  /// steps.
  void exchange_by_gpus(std::size_t k) {
    const PlannedExchange& e = planned.data()[k];
    if (e.ends) {
      device_.order(Stream::downloads, Stream::compute);
      device_.copy(at(bound(k).to), sum_of_gpus(e.begun), bytes(k));
    } else if (e.begins) {
      device_.order(Stream::compute, Stream::downloads);
      reduce_by_gpus(k, sum_of_gpus(k), Stream::downloads);
    } else {
      reduce_by_gpus(k, at(bound(k).to), Stream::compute);
    }
  }
  void reduce_by_gpus(std::size_t k, std::byte* to, Stream which) {
    device_.with_stream(which, [&](void* stream) {
      ranks_.reduce_on_device(at(bound(k).from), to, bound(k).elements, planned.data()[k].type, how(k), stream);
    });
  }
  [[nodiscard]] std::byte* sum_of_gpus(std::size_t begun) const {
    return memory_.exchanged_by_gpus.data() + bound(begun).sent;
  }

  /// The value is copied behind what the device runs now, and sent when the next steps run.
  void begin(std::size_t k) {
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
      if (!planned.data()[waiting_].begins) continue;
      numbers_[waiting_] =
          ranks_.begin_reduce(sent(waiting_), bound(waiting_).elements, planned.data()[waiting_].type, how(waiting_));
    }
  }
  void end(std::size_t k, std::size_t begun) {
    send_waiting();
    ranks_.end_reduce(numbers_[begun], memory_.exchanged.data() + bound(k).got, bound(k).elements);
    device_.order(Stream::compute, Stream::copies);  // steps that run now may use the memory of the result
    upload(k);
  }

  [[nodiscard]] const BoundExchange& bound(std::size_t k) const { return plan_.exchanges[k]; }
  static constexpr kernel::RankReduction how(std::size_t k) {
    return {.mean = planned.data()[k].mean, .of_gradient = planned.data()[k].of_gradient};
  }
  [[nodiscard]] std::byte* sent(std::size_t k) const { return memory_.exchanged.data() + bound(k).sent; }
  [[nodiscard]] std::size_t bytes(std::size_t k) const {
    return static_cast<std::size_t>(bound(k).elements) * size_of(planned.data()[k].type);
  }
  [[nodiscard]] std::byte* at(const Place& place) const {
    constexpr auto others = static_cast<std::int32_t>(Base::placeholders);
    if (place.base == static_cast<std::int32_t>(Base::variables)) return variables_ + place.offset;
    if (place.base == static_cast<std::int32_t>(Base::workspace)) return memory_.workspace.data() + place.offset;
    return const_cast<std::byte*>(memory_.feeds.device_data(0, static_cast<std::size_t>(place.base - others)));
  }
  void download(std::size_t k, Stream stream) { device_.download_later(sent(k), at(bound(k).from), bytes(k), stream); }
  /// No step that uses the memory of the result runs now.
  void upload(std::size_t k) {
    device_.upload_pinned(at(bound(k).to), memory_.exchanged.data() + bound(k).got, bytes(k));
    device_.order(Stream::copies, Stream::compute);
  }

  Device& device_;
  kernel::Exchange& ranks_;
  std::byte* variables_;
  Memory& memory_;
  const BoundPlan<Device>& plan_;
  std::size_t downloaded_ = 0;                 ///< the first exchange whose value is not on the host
  std::size_t waiting_ = 0, waiting_end_ = 0;  ///< exchanges that have begun on the device and are not sent
  std::array<int, count> numbers_{};
  typename Device::Event copied_{};
};

}  // namespace crochet::cuda
