// SPDX-License-Identifier: Apache-2.0
// A competitor in a race of training steps: a program that makes single measurements on request, so that several
// libraries, each in its own process, alternate on a machine with background load.
//
// The program is started with `--threads N`. For every line `workload batch mode seconds` on its standard input, for
// example `W1 32 train 0.15`, it prints one line of JSON:
//   {"us": [12.1, 12.3], "n": 400, "first_loss": 2.3, "loss": 0.01}
// `us` are the microseconds per step of each block of n steps; the number of blocks is what fits in `seconds`. For an
// unsupported case it prints {"skip": "reason"}. A case is built and warmed up at its first request. Modes: `train` is
// forward, loss, backward and update; `infer` is forward. The program ends at the end of its input.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace bench {

struct Case {
  std::string workload;
  std::size_t batch = 0;
  bool train = false;
};

/// Makes n steps and returns the loss of the last one.
using Steps = std::function<double(long)>;

struct Prepared {
  Steps steps;
  long block = 1;
  double first_loss = 0;
};

inline double seconds_of(const Steps& steps, long n, double& loss) {
  const auto start = std::chrono::steady_clock::now();
  loss = steps(n);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Warms up for 0.3 seconds, and determines the block size that takes about 5 ms.
inline Prepared prepare(Steps steps) {
  Prepared p{std::move(steps)};
  p.first_loss = p.steps(1);
  double loss = 0;
  for (double spent = 0; spent < 0.3;) {
    const double t = seconds_of(p.steps, p.block, loss);
    spent += t;
    const double fitting = static_cast<double>(p.block) * 0.005 / std::max(t, 1e-7);
    p.block = std::clamp(static_cast<long>(fitting), 1L, 10 * p.block);
  }
  return p;
}

inline std::string measure(const Prepared& p, double seconds) {
  std::ostringstream out;
  out << "{\"us\": [";
  double loss = 0;
  for (double spent = 0; spent == 0 || spent < seconds;) {
    const double t = seconds_of(p.steps, p.block, loss);
    out << (spent == 0 ? "" : ", ") << t / static_cast<double>(p.block) * 1e6;
    spent += t;
  }
  out << "], \"n\": " << p.block << ", \"first_loss\": " << p.first_loss;
  out << ", \"loss\": " << (std::isfinite(loss) ? loss : -1) << "}";
  return out.str();
}

/// Handles requests until the input ends. `make(case)` returns the Steps; empty ones mean an unknown case.
template <class Make>
void serve(const Make& make) {
  std::map<std::string, Prepared> prepared;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    Case wanted;
    std::string mode, answer = "{\"skip\": \"not expressed\"}";
    double seconds = 0;
    if (!(words >> wanted.workload >> wanted.batch >> mode >> seconds)) answer = "{\"skip\": \"not understood\"}";
    wanted.train = mode == "train";
    const std::string key = wanted.workload + ' ' + std::to_string(wanted.batch) + ' ' + mode;
    try {
      auto at = prepared.find(key);
      if (Steps steps; at == prepared.end() && seconds > 0 && (steps = make(wanted))) {
        at = prepared.emplace(key, prepare(std::move(steps))).first;
      }
      if (at != prepared.end()) answer = measure(at->second, seconds);
    } catch (const std::exception& error) {
      std::cerr << key << ": " << error.what() << '\n';
      answer = "{\"skip\": \"exception\"}";
    }
    std::cout << answer << std::endl;  // flushed: the other process waits for it
  }
}

}  // namespace bench
