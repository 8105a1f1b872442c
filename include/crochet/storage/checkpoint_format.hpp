// SPDX-License-Identifier: Apache-2.0
// The concepts of a checkpoint format and its reader, and the functions that are the same for all formats.
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

/// Reads one checkpoint. Constructed from the checkpoint's prefix: throws IoError if the checkpoint does not exist or
/// cannot be read, DataLossError if its metadata are damaged.
/// - `tensors()`: its tensors, sorted by name.
/// - `find(name)`: a pointer to one of them; null if there is none.
/// - `read(entry, bytes)`: reads exactly entry.byte_size bytes from the file. Throws DataLossError if they are not the
///   bytes that were written; the contents of `bytes` are then unspecified.
/// - `read_strings(entry)`: the same for a tensor of strings.
/// - `verify()`: reads everything and keeps nothing. Throws DataLossError if any part of the checkpoint is damaged.
/// - Thread: one at a time.
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
/// - `name`: the name in messages.
/// - `index_file(prefix)`: the file that is created last. The checkpoint exists if this file exists.
/// - `files(prefix)`: its existing files, index first. Removing them in this order never leaves an incomplete
///   checkpoint that looks complete.
/// - `write(prefix, tensors, files)`: writes a checkpoint. On return all files are on disk, and their checksums have
///   been verified by reading. Throws LogicError for tensors that the format cannot store (for example, two with one
///   name), IoError with file and cause otherwise. After an error or an interruption the directory is unchanged, an
///   older checkpoint of this prefix included; if only the last step failed, it has the new checkpoint.
/// - `Reader`: a CheckpointReader.
template <class F>
concept CheckpointFormat = CheckpointReader<typename F::Reader> &&
    requires(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors, FileSystem& files) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::index_file(prefix) } -> std::same_as<std::filesystem::path>;
  { F::files(prefix) } -> std::same_as<std::vector<std::filesystem::path>>;
  F::write(prefix, tensors, files);
};

/// Opens a checkpoint through `files`, if the format's reader is constructible from prefix and files.
template <CheckpointFormat F>
typename F::Reader open_checkpoint(const std::filesystem::path& prefix, FileSystem& files = local_files()) {
  if constexpr (std::constructible_from<typename F::Reader, const std::filesystem::path&, FileSystem&>) {
    return typename F::Reader(prefix, files);
  } else {
    return typename F::Reader(prefix);
  }
}

/// The file operations of a format, for code that is compiled once for all formats.
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

/// Whether a checkpoint of this prefix exists. Its contents are not checked. Throws IoError if the system reports an
/// error.
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

/// Removes a checkpoint and the files of an interrupted save of it. Throws IoError for a file that cannot be removed.
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
