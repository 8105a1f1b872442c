// SPDX-License-Identifier: Apache-2.0
// X4 and X5: convolutional networks. X6: a transformer block. X7: elementwise operations in double.
#include "compete.hpp"
#include "unseen.hpp"

namespace bench {
namespace {

template <class Model>
Steps classifier(const Case& wanted, const Settings& settings, std::size_t inputs, unsigned classes_of) {
  const auto session = session_of<Model>(settings.threads);
  const auto images = pixels(wanted.batch * inputs);
  return wanted.train ? training(session, images, classes(wanted.batch, classes_of)) : inference(session, images);
}

template <class Model>
Steps encoder_block(const Case& wanted, const Settings& settings, std::size_t row) {
  const auto session = session_of<Model>(settings.threads);
  const auto x = noise(wanted.batch * row, 1, 7);
  return wanted.train ? training(session, x, noise(wanted.batch * row, 1, 8)) : inference(session, x);
}

Steps row_chain(const Case& wanted, const Settings& settings) {
  const auto session = session_of<RowChain>(settings.threads);
  return [session, train = wanted.train](long n) {
    double last = 0;
    for (; n > 0; --n) {
      if (train) {
        auto [loss, gradient, row] = session->run(crochet::fetches<"loss", "gradient", "row_gradient">);
        last = loss;
      } else {
        auto [loss] = session->run(crochet::fetches<"loss">);
        last = loss;
      }
    }
    return last;
  };
}

}  // namespace

Steps CROCHET_BENCH_POLICY::unseen_other(const Case& wanted, const Settings& settings) {
  if (wanted.workload == "X4") {
    return for_batch<24>(wanted, settings,
                         [&](auto b) { return classifier<ColourCnn<b()>>(wanted, settings, 32 * 32 * 3, 10); });
  }
  if (wanted.workload == "X5") {
    return for_batch<16>(wanted, settings,
                         [&](auto b) { return classifier<StridedCnn<b()>>(wanted, settings, 40 * 40 * 2, 7); });
  }
  if (wanted.workload == "X6") {
    return for_batch<5>(wanted, settings, [&](auto b) {
      return encoder_block<Encoder<crochet::Adam, b(), 50, 96, 6, 200>>(wanted, settings, 50 * 96);
    });
  }
  return row_chain(wanted, settings);
}

}  // namespace bench
