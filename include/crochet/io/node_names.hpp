// SPDX-License-Identifier: Apache-2.0
// Names for all nodes of a graph. Models name what they fetch; a drawing needs a name for each node, in scopes that
// fold.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/graph/table.hpp>
#include <crochet/io/summary_tag.hpp>

namespace crochet::io {

namespace detail {

/// What is before the last '/'; empty if there is none.
inline std::string scope_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return std::string(name.substr(0, slash == std::string_view::npos ? 0 : slash));
}

class NodeNamer {
 public:
  explicit NodeNamer(const GraphTable& graph)
      : nodes_(graph.nodes), scopes_(nodes_.size()), users_(nodes_.size()), names_(nodes_.size()) {
    while (first_gradient_ < nodes_.size() && !nodes_[first_gradient_].of_gradients) ++first_gradient_;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::size_t input : inputs(i)) users_[input].push_back(i);
    }
  }

  std::vector<std::string> names() && {
    for (std::size_t i = 0; i < nodes_.size(); ++i) scopes_[i] = forward_scope(i);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (belongs_to_its_users(i)) scopes_[i] = scope_of_users(i);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].name.empty()) names_[i] = unique(summary_tag(nodes_[i].name));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::string& scope = scopes_[i];
      if (names_[i].empty()) names_[i] = unique((scope.empty() ? "" : scope + "/") + std::string(nodes_[i].op));
    }
    return std::move(names_);
  }

 private:
  std::vector<std::size_t> inputs(std::size_t i) const {
    std::vector<std::size_t> all;
    for (const std::int32_t input : nodes_[i].inputs) {
      if (input >= 0) all.push_back(static_cast<std::size_t>(input));
    }
    return all;
  }

  /// A node lies in the scope of a variable that it uses (`hidden/kernel`: `hidden`), else where all its inputs lie.
  std::string forward_scope(std::size_t i) const {
    const GraphTable::Node& n = nodes_[i];
    if (!n.name.empty()) return scope_of(n.name);
    if (n.of_gradients) return "gradients";
    if (n.kind == OpKind::source) return "";
    const std::vector<std::size_t> in = inputs(i);
    for (const std::size_t input : in) {
      if (nodes_[input].op == "variable") return scopes_[input];
    }
    std::string common;
    for (const std::size_t input : in) {
      if (nodes_[input].kind == OpKind::source) continue;
      if (!common.empty() && scopes_[input] != common) return "";
      common = scopes_[input];
    }
    return common;
  }

  /// Constants; what comes after the gradients, the optimizer; what has found no scope.
  bool belongs_to_its_users(std::size_t i) const {
    const GraphTable::Node& n = nodes_[i];
    if (!n.name.empty() || n.of_gradients || users_[i].empty()) return false;
    return n.kind == OpKind::source || i > first_gradient_ || scopes_[i].empty();
  }
  /// A constant lies with its first user; other nodes in the scope that all users share.
  std::string scope_of_users(std::size_t i) const {
    const std::vector<std::size_t>& users = users_[i];
    std::string common = scope_for_inputs(users[0]);
    if (nodes_[i].kind == OpKind::source) return common;
    for (const std::size_t user : users) common = common_scope(common, scope_for_inputs(user));
    return nodes_[i].kind == OpKind::assign ? scope_of_assignment(common, nodes_[inputs(i)[0]].name) : common;
  }
  /// What only a named target needs lies in a scope of the target's name.
  std::string scope_for_inputs(std::size_t user) const {
    const GraphTable::Node& n = nodes_[user];
    return n.kind == OpKind::group && !n.name.empty() ? std::string(n.name) : scopes_[user];
  }
  /// `train/<variable>`. Of a slot `hidden/kernel/Adam` within `train/hidden/kernel`: `train/hidden/kernel/Adam`.
  static std::string scope_of_assignment(const std::string& scope, std::string_view variable) {
    const std::string owner = scope_of(variable);
    if (!owner.empty() && scope.ends_with("/" + owner)) variable.remove_prefix(owner.size() + 1);
    return (scope.empty() ? "" : scope + "/") + std::string(variable);
  }
  static std::string common_scope(std::string a, const std::string& b) {
    while (!a.empty() && a != b && !b.starts_with(a + "/")) a = scope_of(a);
    return a;
  }

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int k = 1; !taken_.insert(name).second; ++k) name = wanted + "_" + std::to_string(k);
    return name;
  }

  std::span<const GraphTable::Node> nodes_;
  std::size_t first_gradient_ = 0;
  std::vector<std::string> scopes_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace detail

/// A name for each node, unique and of characters that TensorFlow takes: its own, or its operation's within a scope.
/// Unnamed nodes are put with the layer whose variables they use, gradients in `gradients`, an optimizer's work in the
/// scope of the target that runs it.
inline std::vector<std::string> node_names(const GraphTable& graph) { return detail::NodeNamer(graph).names(); }

}  // namespace crochet::io
