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
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/checkpoint_directory.hpp>
#include <crochet/checkpoint/restore_latest.hpp>
#include <crochet/checkpoint/saver_options.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/error.hpp>
#include <crochet/io/checkpoint_format.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/session/diagnostics.hpp>

namespace crochet {

/// Saves sessions as `<directory>/<basename>-<step>` and lists them in `<directory>/checkpoint`, which TensorFlow's
/// `latest_checkpoint` reads. A checkpoint is on the disk, and was read again, before it is listed; it is listed before
/// an older one is removed; a damaged one is set aside (its files get the ending ".damaged") and never used. The list
/// survives the program: a new Saver goes on where the last one stopped. Copies of a Saver are the same Saver. Several
/// threads may use it, one after the other waits; two programs may not share a directory. Format: io::TensorBundle, or
/// what is an io::CheckpointFormat.
///
/// Differences from TensorFlow's: the list is swept down to max_to_keep, not by one checkpoint a save; it keeps times
/// and what is kept for good over a restart; with max_to_keep 0 all are listed, not only the newest.
template <io::CheckpointFormat Format = io::TensorBundle>
class Saver {
 public:
  using format = Format;

  /// The directory is made by the first save.
  explicit Saver(std::filesystem::path directory, SaverOptions options = {})
      : state_(std::make_shared<State>(std::move(directory), std::move(options))) {
    if (state_->options.latest_filename.find('/') != std::string::npos || state_->options.latest_filename.empty()) {
      throw LogicError("crochet: Saver: latest_filename is a name without a directory");
    }
    if (state_->options.basename.find('/') != std::string::npos) {
      throw LogicError("crochet: Saver: basename is a name without a directory");
    }
    if (state_->options.max_to_keep < 0) throw LogicError("crochet: Saver: max_to_keep must not be below 0");
  }

  /// Saves the session under its step and returns the checkpoint's prefix. Throws IoError with file and cause; then all
  /// older checkpoints are there as before. Throws UninitializedError if a variable has no value.
  template <class Session>
  std::filesystem::path save(Session& session, std::int64_t step) {
    state_->tensors.borrow(session, step);
    return write(state_->tensors.records(), step);
  }

  /// The second half of a save: writes what SessionTensors collected. May be called on another thread than the
  /// session's, by one at a time.
  std::filesystem::path write(std::span<const io::TensorRecord> tensors, std::int64_t step) {
    const std::lock_guard lock(state_->mutex);
    const std::filesystem::path prefix = prefix_of(step);
    folder().make();
    if (!std::exchange(state_->cleaned, true)) folder().remove_leftovers();
    Catalogue next = catalogue();
    Format::write(prefix, tensors, files());
    next.record(prefix, now());
    std::vector<CheckpointInfo> expired = retention().sweep(next);
    write_catalogue(next, directory(), options().latest_filename, files());
    state_->catalogue = std::move(next);
    for (const CheckpointInfo& checkpoint : expired) remove_files(checkpoint.prefix);
    return prefix;
  }

  /// Gives the session what this checkpoint holds: restore_session (checkpoint/session_tensors.hpp). Throws IoError if
  /// it is not there, DataLossError if it is damaged, CheckpointMismatchError if it is of another model.
  template <class Session>
  Restored restore(Session& session, const std::filesystem::path& prefix) {
    const std::lock_guard lock(state_->mutex);
    Restored restored = restore_session<Format>(session, prefix);
    state_->restored = restored.hooks.all_loaded() ? std::optional(restored.prefix) : std::nullopt;
    return restored;
  }

  /// Gives the session the variables and the step only; its hooks keep the state that they have.
  template <class Session>
  void restore_variables(Session& session, const std::filesystem::path& prefix) {
    crochet::restore_variables(session, typename Format::Reader(prefix), prefix);
  }

  /// Restores the newest checkpoint that is whole, and says which; nothing if there is none. Damaged ones are set
  /// aside, with a report, or passed over where nothing may be written. First those that are listed, newest first; if
  /// none of them will do, whatever the directory has. Throws IoError for one that is there and may not be read,
  /// CheckpointMismatchError for one of another model.
  template <class Session>
  std::optional<Restored> restore_latest(Session& session) {
    const std::lock_guard lock(state_->mutex);
    for (const std::filesystem::path& prefix : candidates()) {
      try {
        Restored restored = restore(session, prefix);
        state_->say("crochet: restored " + restored.text());
        return restored;
      } catch (const DataLossError& error) {
        set_aside(prefix, error.what());
      } catch (const IoError& error) {
        if (!folder().all_readable(prefix)) throw;  // else a part of it is missing
        set_aside(prefix, error.what());
      }
    }
    return std::nullopt;
  }

  /// The prefix of the current checkpoint, if its files are there. Reads no tensor: restore_latest does.
  [[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint() const {
    const std::lock_guard lock(state_->mutex);
    const Catalogue& list = catalogue();
    if (list.all.empty() || !io::checkpoint_exists<Format>(list.all.back().prefix)) return std::nullopt;
    return list.all.back().prefix;
  }
  /// The listed checkpoints, oldest first.
  [[nodiscard]] std::vector<std::filesystem::path> last_checkpoints() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::filesystem::path> prefixes;
    for (const CheckpointInfo& checkpoint : catalogue().all) prefixes.push_back(checkpoint.prefix);
    return prefixes;
  }
  /// Lists these, oldest first, instead of what the state file lists; those that are gone are left out. Their times are
  /// their files'.
  void recover_last_checkpoints(std::span<const std::filesystem::path> prefixes) {
    const std::lock_guard lock(state_->mutex);
    Catalogue list{{}, catalogue().last_preserved};
    for (const std::filesystem::path& prefix : prefixes) {
      std::error_code error;
      const auto written = std::filesystem::last_write_time(Format::index_file(prefix), error);
      if (error || !io::checkpoint_exists<Format>(prefix)) continue;
      const auto age = std::filesystem::file_time_type::clock::now() - written;
      list.record(prefix, detail::utc_now() - std::chrono::duration<double>(age).count());
    }
    state_->catalogue = std::move(list);
  }

  /// Removes a checkpoint, which is not listed from here on. What cannot be removed is said. Throws IoError if the list
  /// cannot be written.
  void remove(const std::filesystem::path& prefix) {
    const std::lock_guard lock(state_->mutex);
    Catalogue list = catalogue();
    std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
    if (!list.all.empty()) write_catalogue(list, directory(), options().latest_filename, files());
    state_->catalogue = std::move(list);
    remove_files(prefix);
  }

  /// Is there a checkpoint of this prefix? Says nothing about its contents.
  [[nodiscard]] bool has(const std::filesystem::path& prefix) const { return io::checkpoint_exists<Format>(prefix); }

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
    bool cleaned = false;          // what interrupted saves have left is removed
    std::recursive_mutex mutex{};  // public members call each other
  };

  [[nodiscard]] double now() const { return state_->now(); }
  [[nodiscard]] Retention retention() const { return {options().max_to_keep, options().keep_checkpoint_every_n_hours}; }
  [[nodiscard]] io::FileSystem& files() const { return state_->files(); }
  [[nodiscard]] const CheckpointDirectory<Format>& folder() const { return state_->directory; }

  const Catalogue& catalogue() const {
    if (!state_->catalogue) state_->catalogue = read_list();
    return *state_->catalogue;
  }
  /// The state file's; a new one if it is missing or damaged.
  [[nodiscard]] Catalogue read_list() const {
    std::optional<Catalogue> list;
    try {
      list = read_catalogue(directory(), options().latest_filename);
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

  /// What may be restored, best first.
  [[nodiscard]] std::vector<std::filesystem::path> candidates() const {
    std::vector<std::filesystem::path> best = last_checkpoints();
    std::reverse(best.begin(), best.end());
    const std::vector<std::filesystem::path> there = folder().found();
    for (auto at = there.rbegin(); at != there.rend(); ++at) {
      if (std::find(best.begin(), best.end(), *at) == best.end()) best.push_back(*at);
    }
    std::erase_if(best, [&](const auto& prefix) {
      const bool there_is = io::checkpoint_exists<Format>(prefix);
      if (!there_is) state_->say("crochet: " + prefix.string() + " is listed, but not there");
      return !there_is;
    });
    return best;
  }
  void set_aside(const std::filesystem::path& prefix, const std::string& why) {
    state_->say(why + "; it is set aside as " + prefix.string() + "*.damaged");
    Catalogue list = catalogue();
    std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
    try {
      folder().set_aside(prefix);
      if (!list.all.empty()) write_catalogue(list, directory(), options().latest_filename, files());
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

/// `MonitoredSession session{executor, chain, restore_latest(saver)}`: goes on where the last program stopped.
template <class F>
RestoreLatest<Saver<F>> restore_latest(const Saver<F>& saver) {
  return {saver, {}};
}

}  // namespace crochet
