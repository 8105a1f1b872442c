// SPDX-License-Identifier: Apache-2.0
// expect-error: crochet: read_floats reads into float, double and bfloat16; reader\.read\(entry, bytes\) reads any type
// read_floats converts halves to floats; integers are read as they are.
#include <crochet/io/safetensors.hpp>
#include <crochet/storage/read_floats.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cr = crochet;

void read(const cr::io::SafetensorsReader& reader, const cr::io::TensorEntry& entry, std::span<std::int32_t> labels) {
#ifdef CROCHET_FIXED
  reader.read(entry, std::as_writable_bytes(labels));
#else
  cr::io::read_floats<std::int32_t>(reader, entry, labels);
#endif
}
