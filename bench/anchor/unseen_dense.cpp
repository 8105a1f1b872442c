// SPDX-License-Identifier: Apache-2.0
// X1 to X3: dense networks. X8 and X9: small ones, for which a second thread may cost more than it saves.
#include "compete.hpp"
#include "unseen.hpp"

namespace bench {
namespace {

constexpr auto relu_of = [](crochet::Tensor x) { return relu(x); };
constexpr auto tanh_of = [](crochet::Tensor x) { return tanh(x); };

template <class T, class Model>
Steps make(const Case& wanted, const Settings& settings, std::size_t inputs, unsigned classes_of) {
  const auto session = session_of<Model>(settings.threads);
  const auto drawn = pixels(wanted.batch * inputs);
  const std::vector<T> images(drawn.begin(), drawn.end());
  return wanted.train ? training(session, images, classes(wanted.batch, classes_of)) : inference(session, images);
}

}  // namespace

Steps CROCHET_BENCH_POLICY::unseen_dense(const Case& wanted, const Settings& settings) {
  using crochet::Adam;
  using crochet::SGD;
  if (wanted.workload == "X1") {
    return for_batch<20>(wanted, settings, [&](auto b) {
      return make<float, Dense<float, SGD, relu_of, b(), 617, 300, 170, 26>>(wanted, settings, 617, 26);
    });
  }
  if (wanted.workload == "X2") {
    return for_batch<50>(wanted, settings, [&](auto b) {
      using Model = Dense<float, Adam, tanh_of, b(), 64, 72, 72, 72, 72, 72, 72, 72, 5>;
      return make<float, Model>(wanted, settings, 64, 5);
    });
  }
  if (wanted.workload == "X8") {
    return for_batch<1, 16>(wanted, settings, [&](auto b) {
      return make<float, Dense<float, Adam, tanh_of, b(), 4, 16, 16, 2>>(wanted, settings, 4, 2);
    });
  }
  if (wanted.workload == "X9") {
    return for_batch<19>(wanted, settings, [&](auto b) {
      using Model = Dense<double, Adam, tanh_of, b(), 37, 37, 37, 37, 37, 37, 37, 37, 37, 37, 37, 37, 5>;
      return make<double, Model>(wanted, settings, 37, 5);
    });
  }
  return for_batch<32>(wanted, settings, [&](auto b) {
    return make<double, Dense<double, SGD, relu_of, b(), 784, 128, 10>>(wanted, settings, 784, 10);
  });
}

}  // namespace bench
