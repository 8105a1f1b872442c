// SPDX-License-Identifier: Apache-2.0
// Uncompressed .npy files of several types and ranks.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/data/npy.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

template <class T, std::size_t Rank>
void read(std::string_view file) {
  test::MemoryFiles files;
  files["npy"] = file;
  require_within(test::idx_budget(file.size()), file.size(), [&] {
    const SharedArray<T, Rank> array = read_npy<T, Rank>("npy", {std::uint64_t{1} << 24}, files);
    require(array.view().size() * sizeof(T) <= file.size());
  });
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.starts_with("\x1f\x8b")) return;  // tested by gzip_file.cpp
  read<std::uint8_t, 3>(input);
  read<float, 2>(input);
  read<std::int64_t, 1>(input);
}
