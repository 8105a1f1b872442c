// SPDX-License-Identifier: Apache-2.0
// TensorBundle: TensorFlow's checkpoints, an index and a data file.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/tensor_bundle_reader.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

/// The format of TensorFlow's checkpoints: `<prefix>.index`, a sorted table of names with type, shape, place and
/// CRC-32C of each tensor, and `<prefix>.data-00000-of-00001`, the bytes. tf.train.load_checkpoint and list_variables
/// read it, and for the same tensors in the same order the files are TensorFlow's, byte for byte. It is this library's
/// default because damage is noticed by every reader of the format, because it holds strings, and because TensorFlow's
/// tools read it.
///
/// A checkpoint that replaces one of the same prefix takes `.data-00000-of-00002` and an empty second file, or the
/// other way round: the older one's files stay whole until the new index takes the place of the old one, in one
/// instant.
///
/// Cost of write: the bytes once through CRC-32C, once to the disk, and once read back (docs/benchmarks.md).
struct TensorBundle {
  static constexpr std::string_view name = "TensorBundle";
  using Reader = TensorBundleReader;

  static std::filesystem::path index_file(const std::filesystem::path& prefix) { return prefix.string() + ".index"; }
  /// The index first; then `.meta` and data files, those of an interrupted write included.
  static std::vector<std::filesystem::path> files(const std::filesystem::path& prefix);
  /// See CheckpointFormat. Of several tensors with one name: LogicError.
  static void write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                    FileSystem& files = local_files());
};

static_assert(CheckpointFormat<TensorBundle>);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/tensor_bundle.ipp>
#endif
