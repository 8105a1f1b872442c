// SPDX-License-Identifier: Apache-2.0
// A user-defined hook, and the decorators that decide when it is called.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "flowers.hpp"

namespace hook_of_your_own_test {

namespace cr = crochet;
using namespace cr::literals;

/// Stops when the loss has not improved by `min_delta` for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;  // checked and planned at compile time, free when not due

  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    if (loss < best - min_delta) {
      best = loss, since = 0;
    } else if (++since >= patience) {
      run.request_stop("no improvement in loss");
    }
    ++looks;
  }
  void save_state(auto& out) const { out.put("best", best), out.put("since", since); }
  void load_state(auto& in) { in.get("best", best), in.get("since", since); }

  float min_delta = 1e-4f;
  int patience = 500;
  float best = std::numeric_limits<float>::infinity();
  int since = 0;
  int looks = 0;
};

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(images, 3, "output"), labels));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.5}));
  }
};

/// Trains on one batch until a hook stops it. After each step the loss is also fetched without training.
template <class Hook>
struct Trained {
  explicit Trained(Hook hook) : chain{hook, cr::StopAtStep{.last_step = 3000}} {
    programs::Flowers data;
    const auto [x, y] = data.next(12);
    const auto feed = cr::feeds(cr::feed<"images">(x), cr::feed<"labels">(y));
    cr::MonitoredSession<decltype(cr::Cpu{}.compile<Classifier>()), Chain&> session{cr::Cpu{}.compile<Classifier>(),
                                                                                    chain};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        auto [loss] = s.run(cr::fetches<"loss">, "train"_n, feed);
        losses.push_back(loss);
        if (!s.should_stop()) s.run(cr::fetches<"loss">, feed);
      }
    });
    why = session.stop_reason();
  }

  using Chain = cr::HookChain<Hook, cr::StopAtStep>;
  Chain chain;
  std::vector<float> losses;
  cr::StopReason why;
};

TEST(AHookOfYourOwn, StopsWhenTrainingGetsNowhere) {
  const Trained run{Plateau{.min_delta = 1e-3f, .patience = 20}};
  EXPECT_EQ(run.why.hook.substr(run.why.hook.find("Plateau")), "Plateau");
  EXPECT_EQ(run.why.reason, "no improvement in loss");
  EXPECT_GT(run.losses.size(), 20U);
  EXPECT_LT(run.losses.size(), 3000U);
  EXPECT_LT(run.losses.back(), 0.2f * run.losses.front());
}

TEST(AHookOfYourOwn, LooksAtEveryTenthRun) {
  Trained run{cr::EveryN<10, Plateau>{{.min_delta = 1e-3f, .patience = 3}, {.anchor = cr::Anchor::first_run}}};
  EXPECT_EQ(run.why.reason, "no improvement in loss");
  const auto runs = static_cast<int>(2 * run.losses.size());  // including those without training, except the last
  EXPECT_EQ(run.chain.template at<0>().hook.looks, (runs - 1 + 9) / 10);
  EXPECT_LT(run.losses.back(), 0.5f * run.losses.front());
}

TEST(AHookOfYourOwn, LooksAtTrainingOnly) {
  Trained run{cr::OnlyIn<"train", Plateau>{{.min_delta = 1e-3f, .patience = 20}}};
  EXPECT_EQ(run.why.reason, "no improvement in loss");
  const Plateau& plateau = run.chain.template at<0>().hook;
  EXPECT_EQ(plateau.looks, static_cast<int>(run.losses.size())) << "one look a step of training";
  EXPECT_EQ(plateau.since, 20);
  EXPECT_EQ(plateau.best, run.losses[run.losses.size() - 21]) << "the last improvement was 20 steps ago";
}

constexpr bool on_the_chief = true, on_a_worker = false;
bool answer = false;
bool is_chief() { return answer; }

TEST(AHookOfYourOwn, IsThereIfTheConditionHolds) {
  const Trained chief{cr::When<on_the_chief, Plateau>{{.min_delta = 1e-3f, .patience = 20}}};
  EXPECT_EQ(chief.why.reason, "no improvement in loss");

  const Trained worker{cr::When<on_a_worker, Plateau>{{.min_delta = 1e-3f, .patience = 20}}};
  EXPECT_EQ(worker.why.reason, "step 3000 was reached");
  EXPECT_LE(sizeof(worker.chain), sizeof(cr::HookChain<cr::StopAtStep>)) << "not a byte";
}

TEST(AHookOfYourOwn, IsThereIfAFunctionSaysSoAtTheStart) {
  for (const bool chief : {true, false}) {
    answer = chief;
    Trained run{cr::When<is_chief, Plateau>{{.min_delta = 1e-3f, .patience = 20}}};
    EXPECT_EQ(run.why.reason, chief ? "no improvement in loss" : "step 3000 was reached");
    EXPECT_EQ(run.chain.template at<0>().hook.looks > 0, chief);
  }
}

TEST(AHookOfYourOwn, KeepsTheLaws) {
  const cr::testing::LawOptions no_begin{.except = {"begin"}};  // the hook has no begin: one object serves one session
  EXPECT_EQ(cr::testing::broken_laws(Plateau{.patience = 3}, no_begin, cr::value<"loss">(1.0f)), "");
  EXPECT_TRUE(cr::testing::broken_laws(Plateau{.patience = 3}, cr::value<"loss">(1.0f)).starts_with("begin: "));
}

}  // namespace hook_of_your_own_test
