// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/device_headers.hpp>

namespace crochet::cuda {

namespace detail {

struct EmbeddedHeader {
  std::string_view name, text;
};
using std::string_view_literals::operator""sv;  // has the length: counting it would exceed the limit of constexpr steps
/// Written by CMake (crochet_embed_device_headers).
inline constexpr EmbeddedHeader embedded_headers[] = {
#include <crochet/embedded_device_headers.inc>
};

/// The name behind `#include <` at the start of a line from `at` on; moves `at` behind it. Empty if there is none.
CROCHET_INLINE std::string_view next_include(std::string_view text, std::size_t& at) {
  constexpr std::string_view directive = "\n#include <";
  const std::size_t found = text.find(directive, at);
  if (found == std::string_view::npos) return {};
  const std::size_t first = found + directive.size();
  at = text.find('>', first);
  return text.substr(first, at - first);
}

CROCHET_INLINE std::vector<DeviceHeader> make_device_headers() {
  std::vector<DeviceHeader> all;
  for (const EmbeddedHeader& h : embedded_headers) all.push_back({std::string(h.name), std::string(h.text)});
  const auto is_known = [&](std::string_view name) {
    for (const DeviceHeader& h : all) {
      if (h.name == name) return true;
    }
    return false;
  };
  for (const EmbeddedHeader& h : embedded_headers) {
    std::size_t at = 0;
    for (std::string_view name = next_include(h.text, at); !name.empty(); name = next_include(h.text, at)) {
      if (is_known(name)) continue;
      const bool of_graph = name.substr(0, 14) == "crochet/graph/";
      all.push_back({std::string(name), of_graph ? "#include <crochet/kernels/cuda/text/graph.h>\n"
                                                 : "#include <crochet/kernels/cuda/text/std.h>\n"});
    }
  }
  return all;
}

}  // namespace detail

CROCHET_INLINE std::span<const DeviceHeader> device_headers() {
  static const std::vector<DeviceHeader> all = detail::make_device_headers();
  return all;
}

}  // namespace crochet::cuda
