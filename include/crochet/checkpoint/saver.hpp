// SPDX-License-Identifier: Apache-2.0
// Saver: the checkpoints of a directory: saves a session, restores it, and keeps as many as it should.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/checkpoint_directory.hpp>
#include <crochet/checkpoint/restore_latest.hpp>
#include <crochet/checkpoint/saver_options.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/path_lock.hpp>

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
      : state_(std::make_shared<State>(std::move(directory), std::move(options))) {
    if (this->directory().empty()) {
      throw LogicError("crochet: Saver: the directory has no name; \".\" is the current directory");
    }
    if (state_->options.latest_filename.find('/') != std::string::npos || state_->options.latest_filename.empty()) {
      throw LogicError("crochet: Saver: latest_filename is a name without a directory");
    }
    if (state_->options.basename.find('/') != std::string::npos) {
      throw LogicError("crochet: Saver: basename is a name without a directory");
    }
    if (state_->options.max_to_keep < 0) throw LogicError("crochet: Saver: max_to_keep must not be below 0");
  }

  /// Makes the directory, and takes its lock. Every call that writes does so itself; called earlier, it throws before
  /// there is work to lose. Throws IoError if the directory cannot be made or written, FailedPreconditionError with the
  /// process id of its owner if another process has it.
  void prepare() {
    const std::lock_guard lock(state_->mutex);
    own();
  }

  /// Saves the session under its step and returns the checkpoint's prefix. Throws IoError with file and cause; then all
  /// older checkpoints are there as before. Throws UninitializedError if a variable has no value, and what prepare()
  /// throws.
  template <class Session>
  std::filesystem::path save(Session& session, std::int64_t step) {
    const std::lock_guard lock(state_->mutex);  // the tensors are shared, too
    state_->tensors.borrow(session, step);
    return write(state_->tensors.records(), step);
  }

  /// The second half of a save: writes what SessionTensors collected. May be called on another thread than the
  /// session's, by one at a time.
  std::filesystem::path write(std::span<const io::TensorRecord> tensors, std::int64_t step) {
    const std::lock_guard lock(state_->mutex);
    const std::filesystem::path prefix = prefix_of(step);
    own();
    if (!std::exchange(state_->cleaned, true)) folder().remove_leftovers();
    Catalogue next = catalogue();
    Format::write(prefix, tensors, files());
    next.record(prefix, now());
    std::vector<CheckpointInfo> expired = retention().sweep(next);
    write_catalogue(next, directory(), options().latest_filename, files());
    state_->catalogue = std::move(next);
    for (const CheckpointInfo& checkpoint : expired) {
      if (has(checkpoint.prefix)) remove_files(checkpoint.prefix);
    }
    return prefix;
  }

  /// Gives the session what this checkpoint holds: restore_session (checkpoint/session_tensors.hpp). Throws IoError if
  /// it is not there, DataLossError if it is damaged, CheckpointMismatchError if it is of another model.
  template <class Session>
  Restored restore(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(state_->mutex);
    Restored restored = restore_session<Format>(session, prefix, files());
    state_->restored = restored.hooks.all_loaded() ? std::optional(restored.prefix) : std::nullopt;
    return restored;
  }

  /// Gives the session the variables and the step only; its hooks keep the state that they have.
  template <class Session>
  void restore_variables(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(state_->mutex);
    crochet::restore_variables(session, io::open_checkpoint<Format>(prefix, files()), prefix);
  }

  /// Restores the newest checkpoint that is whole, and reports which; nothing if there is none, or no directory.
  /// Damaged ones are set aside, with a report, or passed over where this process may not write. First those that are
  /// listed, newest first; if none of them will do, whatever the directory has. Throws IoError for one that is there
  /// and cannot be read (that is no damage: nothing is set aside), CheckpointMismatchError for one of another model.
  template <class Session>
  std::optional<Restored> restore_latest(Session& session) {
    const std::lock_guard lock(state_->mutex);
    return restore_newest(session, [&](const auto& prefix, const std::string& why) { set_aside(prefix, why); });
  }

  /// The same for a program that only reads: changes no file, takes no lock, passes damaged checkpoints over, and reads
  /// the list anew each time. Throws IoError, with the directory and the names it looked for, if there is no
  /// checkpoint; DataLossError if all are damaged.
  template <class Session>
  Restored must_restore(Session& session) {
    const std::lock_guard lock(state_->mutex);
    state_->catalogue.reset();
    std::string damaged;
    auto restored = restore_newest(session, [&](const auto&, const std::string& why) {
      state_->say(why + "; it is passed over");
      damaged += "; " + why;
    });
    if (restored) return *std::move(restored);
    if (!damaged.empty()) throw DataLossError("crochet: no checkpoint " + pattern() + " is whole" + damaged);
    throw IoError("crochet: there is no checkpoint " + pattern() +
                  (folder().exists() ? "" : ": the directory does not exist") +
                  "; save one first, or correct the path");
  }

  /// Reports that a session begins without a checkpoint, since the directory has none.
  void say_nothing_restored() const {
    state_->say("crochet: there is no checkpoint " + pattern() + "; the session begins anew");
  }

  /// The prefix of the current checkpoint, if its files are there. Reads no tensor: restore_latest does.
  [[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint() const {
    const std::lock_guard lock(state_->mutex);
    const Catalogue& list = catalogue();
    if (list.all.empty() || !has(list.all.back().prefix)) return std::nullopt;
    return list.all.back().prefix;
  }
  /// The listed checkpoints, oldest first.
  [[nodiscard]] std::vector<std::filesystem::path> last_checkpoints() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::filesystem::path> prefixes;
    for (const CheckpointInfo& checkpoint : catalogue().all) prefixes.push_back(checkpoint.prefix);
    return prefixes;
  }
  /// Lists these, oldest first, instead of what the state file lists; those that are gone, or lie in another directory,
  /// are left out. Their times are their files'.
  void recover_last_checkpoints(std::span<const std::filesystem::path> prefixes) {
    const std::lock_guard lock(state_->mutex);
    Catalogue list{{}, catalogue().last_preserved};
    for (const std::filesystem::path& path : prefixes) {
      const std::optional<std::filesystem::path> prefix = folder().inside(path);
      if (!prefix || !has(*prefix)) continue;
      std::error_code error;
      const auto written = std::filesystem::last_write_time(Format::index_file(*prefix), error);
      const auto age = std::filesystem::file_time_type::clock::now() - written;
      list.all.push_back({*prefix, detail::utc_now() - (error ? 0 : std::chrono::duration<double>(age).count())});
    }
    detail::tidy(list.all);
    state_->catalogue = std::move(list);
  }

  /// Removes a checkpoint, which is not listed from here on. What cannot be removed is reported. Throws LogicError if
  /// it lies in another directory, IoError if the list cannot be written, and what prepare() throws.
  void remove(const std::filesystem::path& path) {
    const std::lock_guard lock(state_->mutex);
    const std::optional<std::filesystem::path> prefix = folder().inside(path);
    if (!prefix) throw LogicError("crochet: Saver: " + path.string() + " is not in " + directory().string());
    if (!folder().exists()) return;
    own();
    Catalogue list = catalogue();
    std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == *prefix; });
    if (!list.all.empty()) write_catalogue(list, directory(), options().latest_filename, files());
    state_->catalogue = std::move(list);
    remove_files(*prefix);
  }

  /// Is there a checkpoint of this prefix, in this directory? Says nothing about its contents.
  [[nodiscard]] bool has(const std::filesystem::path& path) const {
    const std::optional<std::filesystem::path> prefix = folder().inside(path);
    return prefix && io::checkpoint_exists<Format>(*prefix);
  }
  /// The path that a checkpoint of this name has in this directory: what a path means that was noted before the
  /// directory was moved or copied.
  [[nodiscard]] std::filesystem::path here(const std::filesystem::path& prefix) const {
    return directory() / prefix.filename();
  }

  /// Whether the session's state at this step is what the newest checkpoint holds, since it was restored from it.
  [[nodiscard]] bool just_restored(std::int64_t step) const {
    const std::lock_guard lock(state_->mutex);
    return state_->restored == prefix_of(step) && latest_checkpoint() == state_->restored;
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return folder().path(); }
  [[nodiscard]] const SaverOptions& options() const { return state_->options; }
  /// `<directory>/<basename>-<step>`.
  [[nodiscard]] std::filesystem::path prefix_of(std::int64_t step) const {
    return folder().prefix_of(step, options().pad_step_number);
  }

 private:
  struct State {
    State(std::filesystem::path where, SaverOptions how)
        : options(std::move(how)), directory(std::move(where), options.basename, files()), start(now()) {}

    [[nodiscard]] double now() const { return options.clock ? options.clock() : detail::utc_now(); }
    void say(const std::string& line) const { options.say ? options.say(line) : diagnose(line); }

    [[nodiscard]] io::FileSystem& files() const {
      return options.files != nullptr ? *options.files : io::local_files();
    }

    SaverOptions options;
    CheckpointDirectory<Format> directory;
    double start;
    std::optional<Catalogue> catalogue{};  // nothing: not read yet
    std::optional<std::filesystem::path> restored{};
    SessionTensors tensors{};
    io::PathLock lock{};           // of the directory, from the first write on
    bool cleaned = false;          // what interrupted saves have left is removed
    std::recursive_mutex mutex{};  // public members call each other
  };

  [[nodiscard]] double now() const { return state_->now(); }
  [[nodiscard]] Retention retention() const { return {options().max_to_keep, options().keep_checkpoint_every_n_hours}; }
  [[nodiscard]] io::FileSystem& files() const { return state_->files(); }
  [[nodiscard]] const CheckpointDirectory<Format>& folder() const { return state_->directory; }

  [[nodiscard]] std::string pattern() const { return (directory() / options().basename).string() + "-*"; }

  /// Makes the directory and has its lock. Notices if others removed what was there.
  void own() {
    if (state_->lock.holds()) return;
    const bool had_it = std::exchange(state_->lock, {}).taken();
    if (had_it) note_what_was_removed();
    folder().make();
    state_->lock = io::PathLock::of_folder(directory());
    if (!had_it && !state_->lock.enforced()) {
      state_->say("crochet: " + directory().string() +
                  " is on a file system without locks; nothing keeps another program from writing there, too");
    }
  }

  /// Reports and forgets the checkpoints that others removed while this process had the directory.
  void note_what_was_removed() {
    Catalogue list = catalogue();
    const auto gone = std::erase_if(list.all, [&](const CheckpointInfo& c) { return !has(c.prefix); });
    if (!folder().exists()) {
      state_->say("crochet: " + directory().string() + " was removed while it was in use, with " +
                  std::to_string(gone) + " checkpoints; it is made anew");
    } else if (gone > 0) {
      state_->say("crochet: " + std::to_string(gone) + " checkpoints of " + directory().string() +
                  " were removed while it was in use");
    }
    state_->catalogue = std::move(list);
  }

  const Catalogue& catalogue() const {
    if (!state_->catalogue) state_->catalogue = read_list();
    return *state_->catalogue;
  }
  /// The state file's; a new one if it is missing or damaged.
  [[nodiscard]] Catalogue read_list() const {
    std::optional<Catalogue> list;
    try {
      list = read_catalogue(directory(), options().latest_filename, files());
    } catch (const DataLossError& error) {
      state_->say(std::string(error.what()) + "; the directory is searched for checkpoints instead");
    }
    if (!list) {
      list.emplace();
      std::vector<std::filesystem::path> there = folder().found();
      // What is older than these may have been kept for good: it is not listed, and so never removed.
      const auto most = static_cast<std::size_t>(options().max_to_keep);
      if (most > 0 && there.size() > most) there.erase(there.begin(), there.end() - options().max_to_keep);
      for (const std::filesystem::path& prefix : there) list->record(prefix, state_->start);
    }
    if (list->last_preserved == 0) list->last_preserved = state_->start;
    return *list;
  }

  /// Restores the best candidate that is whole. damaged(prefix, why) is called for each that is not.
  template <class Session, class Damaged>
  std::optional<Restored> restore_newest(Session& session, const Damaged& damaged) {
    for (const std::filesystem::path& prefix : candidates()) {
      if (const auto link = folder().link_to_outside(prefix)) {
        state_->say("crochet: " + link->string() + " is a link to a file outside " + directory().string() +
                    "; the checkpoint is passed over");
        continue;
      }
      try {
        Restored restored = restore(session, prefix);
        state_->say("crochet: restored " + restored.text());
        return restored;
      } catch (const DataLossError& error) {
        if (has(prefix)) damaged(prefix, error.what());  // else its owner has just removed it
      } catch (const IoError&) {
        if (has(prefix)) throw;
      }
    }
    return std::nullopt;
  }

  /// What may be restored, best first: what is listed, then what else the directory has.
  [[nodiscard]] std::vector<std::filesystem::path> candidates() const {
    std::vector<std::filesystem::path> best = last_checkpoints();
    std::reverse(best.begin(), best.end());
    const std::set<std::filesystem::path> listed(best.begin(), best.end());
    const auto missing =
        std::stable_partition(best.begin(), best.end(), [&](const auto& prefix) { return has(prefix); });
    if (const auto count = best.end() - missing; count > 0) {
      state_->say("crochet: " + missing->string() + (count == 1 ? "" : " and " + std::to_string(count - 1) + " more") +
                  " of the " + std::to_string(best.size()) + " listed checkpoints " + (count == 1 ? "is" : "are") +
                  " not there");
    }
    best.erase(missing, best.end());
    const std::vector<std::filesystem::path> there = folder().found();
    for (auto at = there.rbegin(); at != there.rend(); ++at) {
      if (!listed.contains(*at)) best.push_back(*at);
    }
    return best;
  }
  void set_aside(const std::filesystem::path& prefix, const std::string& why) {
    Catalogue list = catalogue();
    std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
    try {
      const io::PathLock lock = io::PathLock::of_folder(directory());
      state_->say(why + "; it is set aside as " + prefix.string() + "*.damaged");
      folder().set_aside(prefix);
      if (!list.all.empty()) write_catalogue(list, directory(), options().latest_filename, files());
    } catch (const FailedPreconditionError& error) {
      state_->say(why + "; it is passed over: " + error.what());
    } catch (const IoError& error) {
      state_->say(std::string(error.what()) + "; it is passed over");  // and is not used
    }
    state_->catalogue = std::move(list);
  }
  void remove_files(const std::filesystem::path& prefix) {
    try {
      io::remove_checkpoint<Format>(prefix, files());
    } catch (const IoError& error) {
      state_->say(error.what());  // it is not listed any more; the run goes on
    }
  }

  std::shared_ptr<State> state_;
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
