// SPDX-License-Identifier: Apache-2.0
// Batches as the data of a session: they can be fed, and their end is a clean end of the session.
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace session_test {

namespace cr = crochet;
using namespace cr::literals;

cr::LabelledImages data_set(std::int64_t size) {
  cr::LabelledImages::Images images{{size, 1, 1}, {}};
  cr::LabelledImages::Labels labels{{size}, {}};
  for (std::int64_t i = 0; i < size; ++i) {
    images.data.push_back(static_cast<std::uint8_t>(51 * i));
    labels.data.push_back(static_cast<std::uint8_t>(i));
  }
  return {std::move(images), std::move(labels)};
}

struct CountsEnds {
  void end(auto&) { ++*ends; }
  int* ends = nullptr;
};

TEST(BatchesInASession, AreFedAndEndItCleanly) {
  cr::Batches data = data_set(5).batch(2);
  auto next = [&] {
    auto b = data.next();
    return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
  };
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;
  cr::StepExecutor step{[&](auto& out) {
                          const auto images = out.input("images"_n, cr::TensorView<float, 2>{});
                          pixels.insert(pixels.end(), images.begin(), images.end());
                          const auto numbers = out.input("labels"_n, cr::TensorView<std::int32_t, 1>{});
                          labels.insert(labels.end(), numbers.begin(), numbers.end());
                        },
                        cr::input<cr::TensorView<float, 2>, "images">,
                        cr::input<cr::TensorView<std::int32_t, 1>, "labels">};
  int ends = 0;
  const cr::StopReason why = cr::run(step, cr::HookChain{CountsEnds{&ends}}, next);

  ASSERT_EQ(pixels.size(), 5U);
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_FLOAT_EQ(pixels[i], static_cast<float>(i) / 5);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(why.hook, "the data") << "no hook asked for it, the data came to its end";
}

}  // namespace session_test
