// SPDX-License-Identifier: Apache-2.0
// The state of hooks as tensors and back. Tensors that do not match the schema are reported as damage.
#include <crochet/checkpoint/hook_tensors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/data/shuffle.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet {
namespace hook_tensors_test {

/// A checkpoint in memory.
struct Memory {
  explicit Memory(std::vector<OwnedTensor> given) : tensors(std::move(given)) {
    for (const OwnedTensor& t : tensors) {
      entries.push_back({t.name, t.type, t.shape, io::element_count(t.shape).value_or(0), t.bytes.size()});
    }
  }
  const io::TensorEntry* find(std::string_view name) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.name == name; });
    return found == entries.end() ? nullptr : &*found;
  }
  void read(const io::TensorEntry& entry, std::span<std::byte> bytes) const {
    std::copy_n(tensors[static_cast<std::size_t>(&entry - entries.data())].bytes.begin(), bytes.size(), bytes.begin());
  }
  std::vector<OwnedTensor> tensors;
  std::vector<io::TensorEntry> entries;
};

ChainState sample() {
  return ChainState::of([](StateWriter& out) {
    out.section("EarlyStopping<\"loss\">", [&] {
      out.put("best", 0.5);
      out.put("history", std::vector<float>{1, 2, 3});
      out.put("nothing", std::vector<std::int64_t>{});
      out.put("why", std::string("it\nwas"));
      out.section("EveryN", [&] { out.put("since", std::int64_t{4}); });
    });
    out.section("other", [&] { out.put("paths", std::vector<std::string>{"a", ""}); });
  });
}
std::string text_of(const ChainState& state) {
  std::string all;
  for (const StateSection& section : state.sections) {
    all += section.key + ":";
    for (const StateField& field : section.fields) {
      all += " " + field.schema() + " " + std::to_string(field.count);
      for (const std::string& text : field.texts) all += " \"" + text + "\"";
      for (const std::byte byte : field.bytes) all += " " + std::to_string(static_cast<int>(byte));
    }
    all += "\n";
  }
  return all;
}
void set_schema(std::vector<OwnedTensor>& tensors, std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  tensors[0].bytes.assign(bytes, bytes + text.size());
  tensors[0].shape = {static_cast<std::int64_t>(text.size())};
}

TEST(HookTensors, HoldEverything) {
  const std::vector<OwnedTensor> tensors = to_tensors(sample());
  EXPECT_EQ(tensors[0].name, "crochet/hooks");
  EXPECT_EQ(tensors[1].name, "crochet/hooks/EarlyStopping<\"loss\">/best");
  EXPECT_EQ(text_of(chain_state_of(Memory(tensors))), text_of(sample()));
  EXPECT_TRUE(to_tensors(ChainState{}).empty());
  EXPECT_TRUE(chain_state_of(Memory({})).sections.empty()) << "a checkpoint of another program";
}

TEST(HookTensors, KeysHaveNoLineBreaks) {
  EXPECT_THROW(to_tensors(ChainState::of([](StateWriter& out) { out.section("a\nb", [&] { out.put("x", 1); }); })),
               LogicError);
  EXPECT_THROW((void)to_tensors(ChainState{.sections = {{.key = "a\nb", .fields = {}}}}), LogicError) << "no field";
}

TEST(HookTensors, OfTwoHooksHaveTwoNames) {
  try {
    to_tensors(ChainState::of([](StateWriter& out) {
      out.section("a", [&] { out.put("b/x", 1); });
      out.section("a/b", [&] { out.put("x", 2); });
    }));
    ADD_FAILURE() << "one tensor has two values";
  } catch (const LogicError& error) {
    EXPECT_NE(std::string(error.what()).find("crochet/hooks/a/b/x"), std::string::npos) << error.what();
  }
}

TEST(HookTensors, ThatDoNotFitTheSchemaAreDamage) {
  for (const std::string_view schema :
       {"float64 best\n", "hook a\nnonsense\n", "hook a\nfloat99 best\n", "hook a\nfloat64 missing\n",
        "hook other\nint64[] paths\n", "hook EarlyStopping<\"loss\">\nfloat64[] best\n",
        "hook EarlyStopping<\"loss\">\nfloat32 history\n", "hook EarlyStopping<\"loss\">\nfloat32 best\n",
        "hook other\ntext paths\n", "hook EarlyStopping<\"loss\">\nfloat64 best\nfloat64 best\n",
        "hook EarlyStopping<\"loss\">\nhook EarlyStopping<\"loss\">\n"}) {
    std::vector<OwnedTensor> tensors = to_tensors(sample());
    set_schema(tensors, schema);
    EXPECT_THROW(chain_state_of(Memory(tensors)), DataLossError) << schema;
  }
}

TEST(HookTensors, DamageAnywhereIsNoticedOrHarmless) {
  SplitMix64 random(1);
  int noticed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<OwnedTensor> tensors = to_tensors(sample());
    for (int change = 0; change < 2; ++change) {
      std::vector<std::byte>& bytes = tensors[random.below(static_cast<std::uint32_t>(tensors.size()))].bytes;
      if (!bytes.empty())
        bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::byte>(random());
    }
    try {
      chain_state_of(Memory(tensors));
    } catch (const DataLossError&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 500);
}

}  // namespace hook_tensors_test
}  // namespace crochet
