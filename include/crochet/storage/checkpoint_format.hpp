// SPDX-License-Identifier: Apache-2.0
// What a format of checkpoints has to be able to do, and what is the same for all of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/storage/file_system.hpp>
#include <crochet/storage/tensor_record.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io {

/// Reads one checkpoint. It is opened with the checkpoint's prefix: IoError if it is not there or may not be read,
/// DataLossError if what is known of it without reading the tensors is damaged. Then
///   tensors()           its tensors, sorted by name;
///   find(name)          one of them, or null;
///   read(entry, bytes)  fills the bytes, exactly entry.byte_size many, straight from the file. DataLossError if they
///                       are not what was written; then the bytes hold anything;
///   read_strings(entry) the same for a tensor of strings;
///   verify()            reads everything, keeps nothing: DataLossError if any part of the checkpoint is damaged.
/// Not for two threads at the same time.
template <class R>
concept CheckpointReader = std::constructible_from<R, const std::filesystem::path&> &&
    requires(const R reader, std::string_view name, std::span<std::byte> bytes) {
  { reader.tensors() } -> std::convertible_to<std::span<const TensorEntry>>;
  { reader.find(name) } -> std::same_as<const TensorEntry*>;
  reader.read(*reader.find(name), bytes);
  { reader.read_strings(*reader.find(name)) } -> std::same_as<std::vector<std::string>>;
  reader.verify();
};

/// A format of checkpoints. A checkpoint is one or several files whose names begin with its prefix
/// ("dir/model.ckpt-20").
///   name                      for messages
///   index_file(prefix)        there is a checkpoint when this file is there: it is the one that appears last
///   files(prefix)             its files that are there; the index first, so that who removes them in this order never
///                             leaves half a checkpoint that looks whole
///   write(prefix, tensors, files)
///                             all is on the disk, and was read again and compared by its checksums, when it returns.
///                             Throws LogicError for tensors that do not fit the format (two of one name, say), IoError
///                             with file and cause otherwise. Then, and whenever it is interrupted, the folder has what
///                             it had before, an older checkpoint of this prefix included; or, if only the last step
///                             failed, the new one.
///   Reader                    see CheckpointReader
template <class F>
concept CheckpointFormat = CheckpointReader<typename F::Reader> &&
    requires(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors, FileSystem& files) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::index_file(prefix) } -> std::same_as<std::filesystem::path>;
  { F::files(prefix) } -> std::same_as<std::vector<std::filesystem::path>>;
  F::write(prefix, tensors, files);
};

/// Opens a checkpoint, through `files` if the format's reader can: then it is constructible from prefix and files.
template <CheckpointFormat F>
typename F::Reader open_checkpoint(const std::filesystem::path& prefix, FileSystem& files = local_files()) {
  if constexpr (std::constructible_from<typename F::Reader, const std::filesystem::path&, FileSystem&>) {
    return typename F::Reader(prefix, files);
  } else {
    return typename F::Reader(prefix);
  }
}

/// What a format does with files, for code that is compiled once for all formats.
struct CheckpointFiles {
  std::filesystem::path (*index_file)(const std::filesystem::path& prefix);
  std::vector<std::filesystem::path> (*files)(const std::filesystem::path& prefix);
  void (*write)(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors, FileSystem& files);
};
template <CheckpointFormat F>
inline constexpr CheckpointFiles checkpoint_files{
    [](const std::filesystem::path& prefix) -> std::filesystem::path { return F::index_file(prefix); },
    [](const std::filesystem::path& prefix) -> std::vector<std::filesystem::path> { return F::files(prefix); },
    [](const std::filesystem::path& prefix, std::span<const TensorRecord> tensors, FileSystem& files) {
      F::write(prefix, tensors, files);
    }};

/// Is there a checkpoint of this prefix? Says nothing about its contents. Throws IoError if the system cannot tell.
inline bool checkpoint_exists(const CheckpointFiles& format, const std::filesystem::path& prefix) {
  std::error_code error;
  const std::filesystem::path file = format.index_file(prefix);
  const std::filesystem::file_type type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::none) {
    throw IoError("crochet: cannot read " + file.string() + ": " + error.message());
  }
  return type == std::filesystem::file_type::regular;
}
template <CheckpointFormat F>
bool checkpoint_exists(const std::filesystem::path& prefix) {
  return checkpoint_exists(checkpoint_files<F>, prefix);
}

/// Removes a checkpoint, and what an interrupted save of it has left. Throws IoError for a file that cannot be removed.
inline void remove_checkpoint(const CheckpointFiles& format, const std::filesystem::path& prefix, FileSystem& files) {
  for (const std::filesystem::path& file : format.files(prefix)) {
    if (const std::error_code error = files.remove(file)) {
      throw IoError("crochet: cannot remove " + file.string() + ": " + error.message());
    }
  }
}
template <CheckpointFormat F>
void remove_checkpoint(const std::filesystem::path& prefix, FileSystem& files = local_files()) {
  remove_checkpoint(checkpoint_files<F>, prefix, files);
}

}  // namespace crochet::io
