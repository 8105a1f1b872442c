// SPDX-License-Identifier: Apache-2.0
// SaverCore: the part of a Saver that does not depend on the types of format and session.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/checkpoint_directory.hpp>
#include <crochet/checkpoint/saver_options.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/path_lock.hpp>

namespace crochet::detail {

/// The shared state of a Saver and its copies, and all operations except reading tensors into a session.
class SaverCore {
 public:
  using Restore = std::function<Restored(const std::filesystem::path&)>;

  SaverCore(std::filesystem::path where, SaverOptions options, const io::CheckpointFiles& format);

  void prepare();

  std::filesystem::path write(std::span<const io::TensorRecord> tensors, std::int64_t step);

  /// restore_latest and must_restore of a Saver: call `restore` with each candidate until one is undamaged.
  std::optional<Restored> restore_latest(const Restore& restore);
  Restored must_restore(const Restore& restore);
  /// Records the restored checkpoint for just_restored(), unless the state of some hook was not loaded.
  void restored(const Restored& what);
  void say_nothing_restored() const;
  [[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint() const;
  [[nodiscard]] std::vector<std::filesystem::path> last_checkpoints() const;
  void recover_last_checkpoints(std::span<const std::filesystem::path> prefixes);
  void make_latest(const std::filesystem::path& path);
  void remove(const std::filesystem::path& path);
  [[nodiscard]] bool has(const std::filesystem::path& path) const;
  [[nodiscard]] std::filesystem::path here(const std::filesystem::path& prefix) const;
  [[nodiscard]] bool just_restored(std::int64_t step) const;
  [[nodiscard]] std::filesystem::path prefix_of(std::int64_t step) const;

  [[nodiscard]] const std::filesystem::path& directory() const { return folder_.path(); }
  [[nodiscard]] const SaverOptions& options() const { return options_; }
  [[nodiscard]] io::FileSystem& files() const;
  [[nodiscard]] std::recursive_mutex& mutex() { return mutex_; }
  [[nodiscard]] SessionTensors& tensors() { return tensors_; }

 private:
  using Damaged = std::function<void(const std::filesystem::path&, const std::string&)>;

  [[nodiscard]] double now() const { return options_.clock ? options_.clock() : seconds_since_1970(); }
  void say(const std::string& line) const { options_.say ? options_.say(line) : diagnose(line); }
  [[nodiscard]] Retention retention() const { return {options_.max_to_keep, options_.keep_checkpoint_every_n_hours}; }
  [[nodiscard]] const CheckpointDirectory& folder() const { return folder_; }
  [[nodiscard]] std::string pattern() const { return (directory() / options_.basename).string() + "-*"; }

  /// For the message that there is no checkpoint: what there is in its place, if anything.
  [[nodiscard]] std::string of_another_format() const;

  /// For a change of the directory: has its lock, and the list as it is now, also if another Saver of this process has
  /// changed it. Throws FailedPreconditionError as require_same_place().
  void own();
  /// Creates the directory, takes its lock, and removes what interrupted saves have left. Detects checkpoints that
  /// other programs removed.
  void take_lock();
  /// Throws FailedPreconditionError if a relative directory is another one than at the first call.
  void require_same_place() const;

  /// Reports the listed checkpoints that other programs removed while this process held the lock, and removes them from
  /// the list.
  void note_what_was_removed();

  const Catalogue& catalogue() const;

  /// Replaces the list, which was read without the lock, by that in the state file, less what does not exist.
  void read_list_again();

  /// With the lock: adds to the list what other Savers of this process have listed, if there are or were any.
  void merge_list() const;
  /// Before a search for checkpoints: another Saver or program may have changed the list.
  void refresh_list() const;
  /// The list as it is now, without checkpoints that a search has passed over.
  const Catalogue& list_now() const;
  /// Locked by changes of lists, which other Savers of this process may change, too.
  static std::mutex& lists();

  /// The list in the state file; a new one if it is missing or damaged.
  [[nodiscard]] Catalogue read_list() const;

  /// Restores the best undamaged candidate. Calls damaged(prefix, why) for each damaged one. Searches again if one has
  /// vanished: the program that owns the directory removes old checkpoints.
  std::optional<Restored> restore_newest(const Restore& restore, const Damaged& damaged);
  /// Nothing if it is damaged or has vanished, which sets `vanished`.
  std::optional<Restored> restore_one(const std::filesystem::path& prefix, const Restore& restore,
                                      const Damaged& damaged, bool& vanished);

  /// The candidates for a restore, best first: the listed ones, then the others in the directory.
  [[nodiscard]] std::vector<std::filesystem::path> candidates() const;
  void set_aside(const std::filesystem::path& prefix, const std::string& why);
  void remove_files(const std::filesystem::path& prefix);

  SaverOptions options_;
  const io::CheckpointFiles* format_;
  CheckpointDirectory folder_;
  double start_;
  mutable std::optional<Catalogue> list_{};        // empty: not read yet
  mutable bool list_is_damaged_ = false;           // and that was reported
  bool list_is_given_ = false;                     // by recover_last_checkpoints(), and not written yet
  std::set<std::filesystem::path> passed_over_{};  // damaged checkpoints that could not be set aside
  std::optional<std::filesystem::path> restored_{};
  SessionTensors tensors_{};
  mutable std::filesystem::path place_{};  // the directory as an absolute path, from its first use on
  io::PathLock path_lock_{};               // lock of the directory, from the first write on
  mutable std::recursive_mutex mutex_{};   // public members call each other
};

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/saver_core.ipp>
#endif
