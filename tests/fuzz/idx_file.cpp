// SPDX-License-Identifier: Apache-2.0
// Uncompressed idx files of several types and ranks.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/data/idx.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

template <class T, std::size_t Rank>
void read(std::string_view file) {
  test::MemoryFiles files;
  files["idx"] = file;
  require_within(test::idx_budget(file.size()), file.size(), [&] {
    const io::IdxArray<T, Rank> array = io::read_idx<T, Rank>("idx", {std::uint64_t{1} << 24}, files);
    std::int64_t elements = 1;
    for (const std::int64_t size : array.shape) elements *= size;
    require(static_cast<std::size_t>(elements) == array.data.size());
  });
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.starts_with("\x1f\x8b")) return;  // tested by gzip_file.cpp
  read<std::uint8_t, 3>(input);
  read<std::uint8_t, 1>(input);
  read<std::int16_t, 2>(input);
  read<double, 1>(input);
}
