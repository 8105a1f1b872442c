// SPDX-License-Identifier: Apache-2.0
// NvtxProbe: makes NVTX ranges of a run and its steps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/graph/probe/probe.hpp>
#include <crochet/hooks/cuda/nvtx.hpp>

namespace crochet::cuda {

/// A probe that makes a range of each run, and in it one of each step by the name of its node.
class NvtxProbe {
 public:
  explicit NvtxProbe(const Nvtx& tool = nvtx()) : tool_(&tool) {}

  [[nodiscard]] bool attached() const { return tool_->attached(); }

  void on_run_begin(const ProbedRun& run) {
    close();
    if (names_of_ != run.node_names.data()) name_nodes(run.node_names);
    open(("step " + std::to_string(run.step + 1)).c_str());
  }
  template <std::size_t I>
  void on_node_begin(int member) {
    open(names_[I].c_str(), member);
  }
  template <std::size_t I>
  void on_node_end(int member) {
    end(member);
  }
  void on_run_end() { close(); }
  /// Ends the ranges of a run that has failed.
  void close() {
    while (depth_ > 0) end();
  }

 private:
  void open(const char* name, int member = 0) {
    tool_->push(name);
    if (member == 0) ++depth_;
  }
  void end(int member = 0) {
    tool_->pop();
    if (member == 0) --depth_;
  }
  void name_nodes(std::span<const std::string_view> names) {
    names_.assign(names.begin(), names.end());
    names_of_ = names.data();
  }

  const Nvtx* tool_;
  std::vector<std::string> names_;  // ended by 0
  const std::string_view* names_of_ = nullptr;
  int depth_ = 0;  ///< open ranges of the session's thread; each range belongs to the thread that began it
};

}  // namespace crochet::cuda
