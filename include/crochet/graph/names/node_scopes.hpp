// SPDX-License-Identifier: Apache-2.0
// The scopes of all nodes of a graph, by the rules in node_names.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/names/node_scope.hpp>

namespace crochet::detail {

/// Not a literal: the addresses of literals cannot be compared in constant expressions.
inline constexpr char gradients_scope[] = {'g', 'r', 'a', 'd', 'i', 'e', 'n', 't', 's'};

/// The scopes of all nodes, in two sweeps.
class NodeScopes {
 public:
  constexpr NodeScopes(std::span<const GraphTable::Node> nodes, NodeScope* scopes)
      : nodes_(nodes.data()), count_(static_cast<std::int32_t>(nodes.size())), scopes_(scopes) {
    while (first_gradient_ < count_ && !nodes_[first_gradient_].of_gradients) ++first_gradient_;
  }

  /// From inputs to users.
  constexpr void sweep_forward() {
    for (std::int32_t i = 0; i < count_; ++i) scopes_[i] = forward_scope(nodes_[i]);
  }
  /// From users to inputs.
  constexpr void sweep_backward() {
    find_users();
    for (std::int32_t i = count_; i-- > 0;) {
      if (belongs_to_its_users(i)) scopes_[i] = scope_of_users(i);
    }
  }

 private:
  constexpr NodeScope forward_scope(const GraphTable::Node& n) const {
    if (!n.name.empty()) return NodeScope(scope_of_name(n.name));
    if (n.of_gradients) return NodeScope({gradients_scope, sizeof gradients_scope});
    if (n.kind == OpKind::source) return {};
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const GraphTable::Node& in = nodes_[n.inputs[k]];
      if (in.kind == OpKind::source && in.op == "variable") return scopes_[n.inputs[k]];
    }
    NodeScope common;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      if (nodes_[n.inputs[k]].kind == OpKind::source) continue;
      const NodeScope& scope = scopes_[n.inputs[k]];
      if (!common.empty() && !same_scope(scope, common)) return {};
      common = scope;
    }
    return common;
  }

  constexpr void find_users() {
    first_user_.assign(static_cast<std::size_t>(count_) + 2, 0);
    std::int32_t* const first = first_user_.data();
    for (std::int32_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < max_inputs && nodes_[i].inputs[k] >= 0; ++k) ++first[nodes_[i].inputs[k] + 2];
    }
    for (std::int32_t i = 0; i < count_; ++i) first[i + 2] += first[i + 1];
    users_.assign(static_cast<std::size_t>(first[count_ + 1]), 0);
    std::int32_t* const users = users_.data();
    for (std::int32_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < max_inputs && nodes_[i].inputs[k] >= 0; ++k) {
        users[first[nodes_[i].inputs[k] + 1]++] = i;
      }
    }
  }

  /// Whether the users determine the scope: for constants, for nodes after the gradients (the optimizer), and for nodes
  /// without a scope.
  constexpr bool belongs_to_its_users(std::int32_t i) const {
    const GraphTable::Node& n = nodes_[i];
    if (!n.name.empty() || n.of_gradients || first_user_.data()[i] == first_user_.data()[i + 1]) return false;
    return n.kind == OpKind::source || i > first_gradient_ || scopes_[i].empty();
  }
  /// The first user's scope for a constant, otherwise the common scope of all users.
  constexpr NodeScope scope_of_users(std::int32_t i) const {
    const std::int32_t* const users = users_.data();
    const std::int32_t begin = first_user_.data()[i], end = first_user_.data()[i + 1];
    NodeScope common = scope_for_inputs(users[begin]);
    if (nodes_[i].kind == OpKind::source) return common;
    for (std::int32_t u = begin + 1; u < end; ++u) common = common_scope(common, scope_for_inputs(users[u]));
    if (nodes_[i].kind != OpKind::assign) return common;
    return scope_of_assignment(common, nodes_[nodes_[i].inputs[0]].name);
  }
  /// The scope for nodes that only this user needs; a named target is a scope of its own.
  constexpr NodeScope scope_for_inputs(std::int32_t user) const {
    const GraphTable::Node& n = nodes_[user];
    return n.kind == OpKind::group && !n.name.empty() ? NodeScope(n.name) : scopes_[user];
  }
  /// `train/<variable>`. For a slot `hidden/kernel/Adam` within `train/hidden/kernel`: `train/hidden/kernel/Adam`.
  static constexpr NodeScope scope_of_assignment(const NodeScope& scope, std::string_view variable) {
    const std::string_view owner = scope_of_name(variable);
    if (!owner.empty() && ends_within(scope, owner)) variable.remove_prefix(owner.size() + 1);
    return inner_scope(scope, variable);
  }

  const GraphTable::Node* nodes_;
  std::int32_t count_;
  NodeScope* scopes_;
  std::int32_t first_gradient_ = 0;
  ConstexprVector<std::int32_t> first_user_, users_;  ///< by node: the index of its first user in the list of all users
};

}  // namespace crochet::detail
