// SPDX-License-Identifier: Apache-2.0
// Saver: the checkpoints of a directory: saves and restores sessions, and removes old checkpoints.
#pragma once

#include <crochet/base/config.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/restore_latest.hpp>
#include <crochet/checkpoint/saver_core.hpp>
#include <crochet/checkpoint/saver_options.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/checkpoint_format.hpp>

namespace crochet {

/// Saves sessions as `<directory>/<basename>-<step>` and lists them in `<directory>/checkpoint`, which TensorFlow's
/// `latest_checkpoint` reads.
/// - Durability: a checkpoint is on disk and verified by reading before it is listed. It is listed before an older one
///   is removed. A damaged one is renamed (its files get the suffix ".damaged") and never used.
/// - The list persists: a new Saver continues with it.
/// - Copies share one Saver. Thread-safe, with one session or several: calls are serialized.
/// - Format: io::TensorBundle, or another io::CheckpointFormat.
/// - `SaverOptions::float_storage` stores floats as float16 or bfloat16. Tensors of these types, of any writer, are
///   restored into variables of float and double, exactly; variables of bfloat16 are restored from these and from
///   floats.
/// - One process writes to a directory at a time: the first call that writes takes a lock (storage/path_lock.hpp) and
///   holds it while the Saver exists. Restoring takes no lock.
/// - A Saver uses only files in its directory, whatever the list contains: see read_catalogue. restore_latest and
///   must_restore do not use a checkpoint with a link to a file outside.
///
/// Differences from TensorFlow's Saver:
/// - a save shortens the list to max_to_keep, not by one checkpoint;
/// - the list keeps times and permanently kept checkpoints over a restart;
/// - with max_to_keep 0 all checkpoints are listed, not only the newest.
template <io::CheckpointFormat Format = io::TensorBundle>
class Saver {
 public:
  using format = Format;

  /// The first save creates the directory; "." is the current one. Throws LogicError for an invalid option.
  explicit Saver(std::filesystem::path directory, SaverOptions options = {})
      : core_(std::make_shared<detail::SaverCore>(std::move(directory), std::move(options),
                                                  io::checkpoint_files<Format>)) {}
  // No move: it would leave a saver that cannot be used, and `CheckpointSaver{saver, ...}, restore_latest(saver)` share
  // one.
  Saver(const Saver&) = default;
  Saver& operator=(const Saver&) = default;
  ~Saver() = default;

  /// Creates the directory, and takes its lock. Every call that writes does this too; an early call throws before there
  /// is work to lose. Throws IoError if the directory cannot be created or written, FailedPreconditionError with the
  /// owner's process id if another process has the lock.
  void prepare() { core_->prepare(); }

  /// Saves the session, a MonitoredSession or the argument of a hook, under its step and returns the checkpoint's
  /// prefix. Throws IoError with file and cause; all older checkpoints then remain. Throws UninitializedError if a
  /// variable has no value, and what prepare() throws. Throws FailedPreconditionError, with the variable, if it has an
  /// element beyond the range of the option float_storage; nothing is then written.
  template <class Session>
  std::filesystem::path save(Session& session, std::int64_t step) {
    const std::lock_guard lock(core_->mutex());  // guards the tensors too
    core_->tensors().borrow(detail::below_hooks(session), step);
    return core_->write(core_->tensors().records(), step);
  }
  /// The same under the current step of the session.
  template <class Session>
  std::filesystem::path save(Session& session) {
    return save(session, session.step());
  }

  /// The second half of a save: writes the tensors collected by SessionTensors. May be called on another thread than
  /// the session's, by one thread at a time.
  std::filesystem::path write(std::span<const io::TensorRecord> tensors, std::int64_t step) {
    return core_->write(tensors, step);
  }

  /// Restores the session from this checkpoint: restore_session (checkpoint/session_tensors.hpp). Throws IoError if it
  /// does not exist, DataLossError if it is damaged, CheckpointMismatchError if it is of another model.
  template <class Session>
  Restored restore(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(core_->mutex());
    Restored restored = restore_session<Format>(detail::below_hooks(session), prefix, core_->files());
    core_->restored(restored);
    return restored;
  }

  /// Restores only the variables and the step; the hooks keep their state.
  template <class Session>
  void restore_variables(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(core_->mutex());
    auto& below = detail::below_hooks(session);
    crochet::restore_variables(below, io::open_checkpoint<Format>(prefix, core_->files()), prefix);
  }

  /// Restores the newest undamaged checkpoint, and reports it; empty if there is none, or no directory.
  /// - Order: listed checkpoints, newest first; if none of them is usable, all others in the directory.
  /// - Damaged ones are renamed, with a report, or skipped if this process may not write.
  /// - Throws: IoError for one that exists but cannot be read, which is no damage: nothing is renamed;
  ///   CheckpointMismatchError for one of another model.
  template <class Session>
  std::optional<Restored> restore_latest(Session& session) {
    const std::lock_guard lock(core_->mutex());
    return core_->restore_latest([&](const std::filesystem::path& prefix) { return restore(session, prefix); });
  }

  /// restore_latest for programs that only read: changes no file, takes no lock, skips damaged checkpoints, and reads
  /// the list at each call. Throws IoError, with the directory and the expected names, if there is no checkpoint;
  /// DataLossError if all are damaged.
  template <class Session>
  Restored must_restore(Session& session) {
    const std::lock_guard lock(core_->mutex());
    return core_->must_restore([&](const std::filesystem::path& prefix) { return restore(session, prefix); });
  }

  /// Reports that a session begins without a checkpoint, since the directory has none.
  void say_nothing_restored() const { core_->say_nothing_restored(); }
  /// The prefix of the current checkpoint, if its files exist: reads the list, which another program may have changed,
  /// and no tensor. Throws IoError if the directory cannot be read.
  [[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint() const { return core_->latest_checkpoint(); }
  /// The listed checkpoints, oldest first, as latest_checkpoint() reads them.
  [[nodiscard]] std::vector<std::filesystem::path> last_checkpoints() const { return core_->last_checkpoints(); }
  /// Replaces the list of the state file by these prefixes, oldest first. Missing ones, and those in another directory,
  /// are omitted. Their times are those of their files.
  void recover_last_checkpoints(std::span<const std::filesystem::path> prefixes) {
    core_->recover_last_checkpoints(prefixes);
  }
  /// Makes a listed checkpoint the current one, which restore_latest, must_restore and Predictor take: moves it to the
  /// end of the list. Throws LogicError if it is not listed, IoError if the list cannot be written, and what prepare()
  /// throws.
  void make_latest(const std::filesystem::path& path) { core_->make_latest(path); }
  /// Removes a checkpoint from the list and from disk. A failed removal is reported. Throws LogicError if it is in
  /// another directory, IoError if the list cannot be written, and what prepare() throws.
  void remove(const std::filesystem::path& path) { core_->remove(path); }
  /// Whether a checkpoint of this prefix exists in this directory. Its contents are not checked.
  [[nodiscard]] bool has(const std::filesystem::path& path) const { return core_->has(path); }
  /// The path in this directory of a checkpoint with this name, for paths saved before the directory was moved or
  /// copied.
  [[nodiscard]] std::filesystem::path here(const std::filesystem::path& prefix) const { return core_->here(prefix); }
  /// Whether the session's state at this step is that of the newest checkpoint, from which it was restored.
  [[nodiscard]] bool just_restored(std::int64_t step) const { return core_->just_restored(step); }

  [[nodiscard]] const std::filesystem::path& directory() const { return core_->directory(); }
  [[nodiscard]] const SaverOptions& options() const { return core_->options(); }
  /// `<directory>/<basename>-<step>`.
  [[nodiscard]] std::filesystem::path prefix_of(std::int64_t step) const { return core_->prefix_of(step); }

 private:
  std::shared_ptr<detail::SaverCore> core_;
};
Saver(std::filesystem::path)->Saver<>;
Saver(std::filesystem::path, SaverOptions)->Saver<>;

/// The current checkpoint of a directory, by its state file, if its files exist. Reads no tensor. Throws IoError for a
/// state file that cannot be read, DataLossError for a damaged one.
template <io::CheckpointFormat Format = io::TensorBundle>
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& directory,
                                                       std::string_view latest_filename = "checkpoint") {
  const std::optional<Catalogue> list = read_catalogue(directory, latest_filename);
  if (!list || list->all.empty() || !io::checkpoint_exists<Format>(list->all.back().prefix)) return std::nullopt;
  return list->all.back().prefix;
}

/// `MonitoredSession session{executor, chain, restore_latest(saver)}`: continues from the last checkpoint. Without a
/// checkpoint, or a directory, the session is initialized, and a line reports that.
template <class F>
RestoreLatest<Saver<F>> restore_latest(const Saver<F>& saver) {
  return {saver, {}};
}

/// `MonitoredSession session{executor, HookChain{}, must_restore(saver)}`: for a program that uses a model trained by
/// another one. Creating the session throws if there is no checkpoint, and changes no file: see Saver::must_restore.
template <class F>
MustRestore<Saver<F>> must_restore(const Saver<F>& saver) {
  return {saver};
}

}  // namespace crochet
