// SPDX-License-Identifier: Apache-2.0
// The programs of docs/live-page.md.
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/web/live_page.hpp>

#include <gtest/gtest.h>

#include <string>

namespace live_page_test {

namespace cr = crochet;

TEST(LivePageDocument, TheShortestChain) {
  cr::HookChain chain{cr::StopAtStep{.last_step = 2000},
                      cr::LivePage<"loss", "rate">{.every_steps = 10, .total = 2000}};
  EXPECT_NE(cr::describe(chain).find("every 10 steps  loss rate"), std::string::npos);
}

TEST(LivePageDocument, OtherHooksOnThePage) {
  // clang-format off
  const cr::web::Page page;
  cr::HookChain chain{
      cr::LoggingTensor<"loss">{.every_steps = 100, .sink = page.sink()},   // also on standard error
      cr::WeightHistograms{.every_steps = 500, .summaries = page},          // needs a model with variables
      cr::SummarySaver<cr::summary::Scalar<"accuracy">>{.every_steps = 50, .summaries = page},
      cr::LivePage<"loss">{.page = page}};
  page.board().chain(cr::describe(chain));
  // clang-format on
  EXPECT_NE(page.board().changes(0).chain->find("LivePage<\"loss\">"), std::string::npos);
}

}  // namespace live_page_test
