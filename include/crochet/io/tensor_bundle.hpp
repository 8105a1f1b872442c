// SPDX-License-Identifier: Apache-2.0
// TensorBundle: TensorFlow's checkpoint format, an index and a data file.
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

/// TensorFlow's checkpoint format, the default of this library.
/// - Files: `<prefix>.index`, a sorted table with name, type, shape, position and CRC-32C of each tensor, and
///   `<prefix>.data-00000-of-00001`, the bytes.
/// - tf.train.load_checkpoint and list_variables read it. For the same tensors in the same order the files are
///   identical to TensorFlow's.
/// - It is the default because every reader of the format detects damage, because it stores strings, and because
///   TensorFlow's tools read it.
/// - A checkpoint that replaces one with the same prefix writes `.data-00000-of-00002` and an empty second file, or the
///   reverse. The files of the older one stay intact until the new index atomically replaces the old one.
/// - Cost of write: the bytes once through CRC-32C, once to the disk, and once read back (docs/benchmarks.md).
struct TensorBundle {
  static constexpr std::string_view name = "TensorBundle";
  using Reader = TensorBundleReader;

  static std::filesystem::path index_file(const std::filesystem::path& prefix) { return prefix.string() + ".index"; }
  /// The index first, then `.meta` and data files, including those of an interrupted write.
  static std::vector<std::filesystem::path> files(const std::filesystem::path& prefix);
  /// See CheckpointFormat. Throws LogicError if two tensors have the same name.
  static void write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                    FileSystem& files = local_files());
};

static_assert(CheckpointFormat<TensorBundle>);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/tensor_bundle.ipp>
#endif
