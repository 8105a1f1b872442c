// SPDX-License-Identifier: Apache-2.0
// The values that hooks load from a checkpoint with a valid schema. Each value is kept or replaced by bytes of the
// input.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/data/batch_order.hpp>
#include <crochet/data/char_vocabulary.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>
#include <crochet/hooks/kit/run_cadence.hpp>
#include <crochet/hooks/kit/weight_averages.hpp>
#include <crochet/hooks/plateau_rate.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

/// A value of a field: of the input, or as it was.
void change(StateField& field, Input& in) {
  const std::uint8_t how = in.byte();
  if (how % 4 == 0) return;
  if (field.is_list) field.count = how / 4 % 8;
  if (field.type == StateType::text) {
    field.texts.resize(field.count);
    for (std::string& text : field.texts) text = in.take(in.byte());
    return;
  }
  const std::size_t width = size_of(field.type);
  field.bytes.assign(field.count * width, std::byte{});
  for (std::size_t i = 0; i < field.count; ++i) {
    const std::int64_t value = field.type == StateType::boolean ? in.byte() % 2 : in.number();
    std::memcpy(field.bytes.data() + i * width, &value, width);
  }
}

/// Saves by `save`, and loads the changed state by `load`. False if a hook refuses it.
template <class Save, class Load>
bool reload(Input& in, const Save& save, const Load& load) {
  ChainState state = ChainState::of(save);
  for (StateSection& section : state.sections) {
    for (StateField& field : section.fields) change(field, in);
  }
  try {
    require(state.load(save, load).all_loaded());
    return true;
  } catch (const Error&) {
    return false;
  }
}
template <class Hook>
bool reload(Input& in, Hook& hook) {
  return reload(
      in, [&](StateWriter& out) { hook.save_state(out); }, [&](StateReader& reader) { hook.load_state(reader); });
}

constexpr auto no_clock = [] { return 5.0; };

void run(Cadence cadence, Input& in) {
  reload(
      in, [&](StateWriter& out) { cadence.save_state(out, 5); },
      [&](StateReader& reader) { cadence.load_state(reader, 5); });
  std::int64_t step = in.byte();
  cadence.session_begins(step, 5);
  for (int i = 0; i < 20; ++i) {
    const bool due = cadence.due_next(step, no_clock);
    step += 1 + i % 3;
    if (cadence.ran(step) && due) cadence.triggered(step, 5);
    if (cadence.due(step, no_clock)) cadence.triggered(step, 5);
  }
  require(cadence.stride() <= 3);
  (void)ChainState::of([&](StateWriter& out) { cadence.save_state(out, 5); });
}
void run(RunCadence cadence, std::int64_t interval, Input& in) {
  reload(
      in, [&](StateWriter& out) { cadence.save_state(out, 5); },
      [&](StateReader& reader) { cadence.load_state(reader, 5); });
  if (in.byte() % 2 == 0) cadence.seek(in.number(), interval);
  if (in.byte() % 2 == 0) cadence.set_stride(in.number());
  std::int64_t step = in.byte();
  for (int i = 0; i < 20; ++i) {
    const bool due = cadence.due_next(step, no_clock);
    step += 1 + i % 3;
    if (cadence.ran(step) && due) cadence.triggered(step, 5);
    require(cadence.position(interval) >= 0);
  }
  (void)ChainState::of([&](StateWriter& out) { cadence.save_state(out, 5); });
}
void cadences(Input& in) {
  const std::int64_t interval = 1 + in.byte();
  for (const Anchor anchor : {Anchor::global_step, Anchor::first_run}) {
    run(Cadence::every_steps(interval, anchor), in);
    run(RunCadence{Cadence::every_steps(interval, anchor), anchor == Anchor::first_run}, interval, in);
  }
  run(Cadence::every_seconds(1), in);
  run(Cadence::every_seconds(0, Cadence::First::after_interval), in);
  run(Cadence{}, in);
}

/// An executor with two variables.
struct Variables {
  std::array<float, 3> u{1, 2, 3};
  std::array<double, 1> v{4};

  template <class Visit>
  void for_each_variable(Visit visit) {
    const std::array<std::int64_t, 1> three{3}, one{1};
    visit("u", std::span<float>(u), std::span<const std::int64_t>(three));
    visit("v", std::span<double>(v), std::span<const std::int64_t>(one));
  }
};

void averages(Input& in) {
  Variables variables;
  const WeightAverages averages;
  averages.bind(variables, {});
  averages.update(variables, 0.5);
  reload(in, averages);
  averages.bind(variables, {});
  require(averages.names().size() == 2 && averages.updates() >= 0);
  averages.update(variables, 0.5);
  averages.swap();
  averages.swap();
}

void plateau(Input& in) {
  PlateauRate rate{.aim = Aim::lowest, .patience = 2};
  rate.start("fuzz");
  reload(in, rate);
  require(rate.now > 0 && rate.seen.since >= 0 && rate.cooling >= 0);
  for (std::int64_t step = 0; step < 5; ++step) (void)rate.reduced(0.5, step);
}

void metrics(Input& in) {
  const MetricChannel channel;
  channel.publish("loss", 1, 0.5);
  channel.publish("loss", 2, 0.25);
  channel.announce("accuracy");
  MetricCursor cursor;
  cursor.begin(channel);
  reload(
      in, [&](StateWriter& out) { cursor.save_state(channel, out); },
      [&](StateReader& reader) { cursor.load_state(channel, reader); });
  channel.forget_after(in.byte());
  require(channel.history("loss").size() == [&] {
    std::size_t n = 0;
    channel.for_each("loss", [&](std::int64_t, double) { ++n; });
    return n;
  }());
  (void)cursor.next(channel, "loss");
}

/// The position and the characters of data.
void data(Input& in) {
  BatchOrder order{10, 3};
  order.repeat(1 + in.byte());
  order.shuffle(1);
  CheckpointInputPipeline pipeline{order};
  reload(in, pipeline);
  for (int i = 0; i < 5 && !order.done(); ++i, order.advance()) {
    for (std::int64_t row = 0; row < order.batch_rows(); ++row) require(order[row] < 10);
  }
  CharVocabulary vocabulary;
  reload(in, vocabulary);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(vocabulary.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  require(vocabulary.encode(vocabulary.decode(ids)) == ids);
}

}  // namespace

void fuzz(std::string_view bytes) {
  Input in{bytes};
  switch (in.byte() % 4) {
    case 0:
      return cadences(in);
    case 1:
      averages(in);
      return plateau(in);
    case 2:
      return metrics(in);
    default:
      return data(in);
  }
}
