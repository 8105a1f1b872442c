// SPDX-License-Identifier: Apache-2.0
// Saver: the checkpoints of a directory: saves a session, restores it, and keeps as many as it should.
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
/// `latest_checkpoint` reads. A checkpoint is on the disk, and was read again, before it is listed; it is listed before
/// an older one is removed; a damaged one is set aside (its files get the ending ".damaged") and never used. The list
/// survives the program: a new Saver goes on where the last one stopped. Copies of a Saver are the same Saver. Several
/// threads may use it, with one session each or with several: a call waits for the one before it. Format:
/// io::TensorBundle, or what is an io::CheckpointFormat.
///
/// One process writes to a directory at a time: the first call that writes takes a lock (storage/path_lock.hpp) and
/// keeps it while the Saver lives. Restoring from a directory takes none. A Saver uses only files that lie in its
/// directory, whatever the list names: see read_catalogue. A checkpoint with a link to a file outside is not restored
/// by restore_latest and must_restore.
///
/// Differences from TensorFlow's: the list is swept down to max_to_keep, not by one checkpoint a save; it keeps times
/// and what is kept for good over a restart; with max_to_keep 0 all are listed, not only the newest.
template <io::CheckpointFormat Format = io::TensorBundle>
class Saver {
 public:
  using format = Format;

  /// The directory is made by the first save; "." is the current one. Throws LogicError for an option that cannot be.
  explicit Saver(std::filesystem::path directory, SaverOptions options = {})
      : core_(std::make_shared<detail::SaverCore>(std::move(directory), std::move(options),
                                                  io::checkpoint_files<Format>)) {}

  /// Makes the directory, and takes its lock. Every call that writes does so itself; called earlier, it throws before
  /// there is work to lose. Throws IoError if the directory cannot be made or written, FailedPreconditionError with the
  /// process id of its owner if another process has it.
  void prepare() { core_->prepare(); }

  /// Saves the session under its step and returns the checkpoint's prefix. Throws IoError with file and cause; then all
  /// older checkpoints are there as before. Throws UninitializedError if a variable has no value, and what prepare()
  /// throws.
  template <class Session>
  std::filesystem::path save(Session& session, std::int64_t step) {
    const std::lock_guard lock(core_->mutex());  // the tensors are shared, too
    core_->tensors().borrow(session, step);
    return core_->write(core_->tensors().records(), step);
  }

  /// The second half of a save: writes what SessionTensors collected. May be called on another thread than the
  /// session's, by one at a time.
  std::filesystem::path write(std::span<const io::TensorRecord> tensors, std::int64_t step) {
    return core_->write(tensors, step);
  }

  /// Gives the session what this checkpoint holds: restore_session (checkpoint/session_tensors.hpp). Throws IoError if
  /// it is not there, DataLossError if it is damaged, CheckpointMismatchError if it is of another model.
  template <class Session>
  Restored restore(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(core_->mutex());
    Restored restored = restore_session<Format>(session, prefix, core_->files());
    core_->restored(restored);
    return restored;
  }

  /// Gives the session the variables and the step only; its hooks keep the state that they have.
  template <class Session>
  void restore_variables(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(core_->mutex());
    crochet::restore_variables(session, io::open_checkpoint<Format>(prefix, core_->files()), prefix);
  }

  /// Restores the newest checkpoint that is whole, and reports which; nothing if there is none, or no directory.
  /// Damaged ones are set aside, with a report, or passed over where this process may not write. First those that are
  /// listed, newest first; if none of them will do, whatever the directory has. Throws IoError for one that is there
  /// and cannot be read (that is no damage: nothing is set aside), CheckpointMismatchError for one of another model.
  template <class Session>
  std::optional<Restored> restore_latest(Session& session) {
    const std::lock_guard lock(core_->mutex());
    return core_->restore_latest([&](const std::filesystem::path& prefix) { return restore(session, prefix); });
  }

  /// The same for a program that only reads: changes no file, takes no lock, passes damaged checkpoints over, and reads
  /// the list anew each time. Throws IoError, with the directory and the names it looked for, if there is no
  /// checkpoint; DataLossError if all are damaged.
  template <class Session>
  Restored must_restore(Session& session) {
    const std::lock_guard lock(core_->mutex());
    return core_->must_restore([&](const std::filesystem::path& prefix) { return restore(session, prefix); });
  }

  /// Reports that a session begins without a checkpoint, since the directory has none.
  void say_nothing_restored() const { core_->say_nothing_restored(); }
  /// The prefix of the current checkpoint, if its files are there. Reads no tensor: restore_latest does.
  [[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint() const { return core_->latest_checkpoint(); }
  /// The listed checkpoints, oldest first.
  [[nodiscard]] std::vector<std::filesystem::path> last_checkpoints() const { return core_->last_checkpoints(); }
  /// Lists these, oldest first, instead of what the state file lists; those that are gone, or lie in another directory,
  /// are left out. Their times are their files'.
  void recover_last_checkpoints(std::span<const std::filesystem::path> prefixes) {
    core_->recover_last_checkpoints(prefixes);
  }
  /// Removes a checkpoint, which is not listed from here on. What cannot be removed is reported. Throws LogicError if
  /// it lies in another directory, IoError if the list cannot be written, and what prepare() throws.
  void remove(const std::filesystem::path& path) { core_->remove(path); }
  /// Is there a checkpoint of this prefix, in this directory? Says nothing about its contents.
  [[nodiscard]] bool has(const std::filesystem::path& path) const { return core_->has(path); }
  /// The path that a checkpoint of this name has in this directory: what a path means that was noted before the
  /// directory was moved or copied.
  [[nodiscard]] std::filesystem::path here(const std::filesystem::path& prefix) const { return core_->here(prefix); }
  /// Whether the session's state at this step is what the newest checkpoint holds, since it was restored from it.
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

/// The current checkpoint of a directory, by its state file, if its files are there. Reads no tensor. Throws IoError
/// for a state file that cannot be read, DataLossError for a damaged one.
template <io::CheckpointFormat Format = io::TensorBundle>
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& directory,
                                                       std::string_view latest_filename = "checkpoint") {
  const std::optional<Catalogue> list = read_catalogue(directory, latest_filename);
  if (!list || list->all.empty() || !io::checkpoint_exists<Format>(list->all.back().prefix)) return std::nullopt;
  return list->all.back().prefix;
}

/// `MonitoredSession session{executor, chain, restore_latest(saver)}`: goes on where the last program stopped. Without
/// a checkpoint, or a directory, the session is initialized, and a line reports that.
template <class F>
RestoreLatest<Saver<F>> restore_latest(const Saver<F>& saver) {
  return {saver, {}};
}

/// `MonitoredSession session{executor, must_restore(saver)}`: for a program that uses what another one has trained.
/// Creating the session throws if there is no checkpoint, and changes no file: see Saver::must_restore.
template <class F>
MustRestore<Saver<F>> must_restore(const Saver<F>& saver) {
  return {saver};
}

}  // namespace crochet
