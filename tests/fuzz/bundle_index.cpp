// SPDX-License-Identifier: Apache-2.0
// The index of a TensorBundle with repaired checksums, and a data file of 64 bytes.
#include <string>
#include <string_view>
#include <vector>

#include <crochet/io/tensor_bundle_reader.hpp>

#include "bundle_table.hpp"
#include "file_reader.hpp"

using namespace crochet;

void fuzz(std::string_view input) {
  std::string index{input};
  const bool compressed = test::repair_table(index);
  const std::string data(64, '\x01');
  test::MemoryFiles files;
  files["a.index"] = index;
  files["a.data-00000-of-00001"] = data;
  require_within(compressed ? test::compressed_index_budget : test::index_budget, index.size() + data.size(), [&] {
    const io::TensorBundleReader reader{"a", files};
    for (const io::TensorEntry& tensor : reader.tensors()) {
      require(reader.find(tensor.name) == &tensor);
      require(io::element_count(tensor.shape) == tensor.elements);
    }
    reader.verify();
  });
}
