// SPDX-License-Identifier: Apache-2.0
// The compiled half of saver_core.hpp.
#pragma once

#include <crochet/checkpoint/saver_core.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/checkpoint_directory.hpp>
#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/checkpoint/saver_options.hpp>
#include <crochet/checkpoint/session_tensors.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/path_lock.hpp>
#include <crochet/storage/rounded_tensors.hpp>

namespace crochet::detail {

CROCHET_INLINE SaverCore::SaverCore(std::filesystem::path where, SaverOptions options,
                                    const io::CheckpointFiles& format)
    : options_(std::move(options)),
      format_(&format),
      folder_(std::move(where), options_.basename, files(), format),
      start_(now()) {
  if (directory().empty()) {
    throw LogicError("crochet: Saver: the directory has no name; \".\" is the current directory");
  }
  if (options_.latest_filename.find('/') != std::string::npos || options_.latest_filename.empty()) {
    throw LogicError("crochet: Saver: latest_filename is a name without a directory");
  }
  if (options_.basename.find('/') != std::string::npos) {
    throw LogicError("crochet: Saver: basename is a name without a directory");
  }
  if (options_.max_to_keep < 0) throw LogicError("crochet: Saver: max_to_keep must not be below 0");
  if (!(options_.keep_checkpoint_every_n_hours >= 0)) {
    throw LogicError("crochet: Saver: keep_checkpoint_every_n_hours must not be below 0 or NaN");
  }
}

CROCHET_INLINE void SaverCore::prepare() {
  const std::lock_guard lock(mutex_);
  own();
}

CROCHET_INLINE std::filesystem::path SaverCore::write(std::span<const io::TensorRecord> tensors, std::int64_t step) {
  const std::lock_guard lock(mutex_);
  const std::filesystem::path prefix = prefix_of(step);
  const io::RoundedTensors rounded{tensors, options_.float_storage,
                                   [](std::string_view name) { return !name.starts_with(hook_schema_tensor); }};
  own();
  catalogue();
  format_->write(prefix, rounded.records(), files());
  const std::lock_guard listing(lists());
  merge_list();
  Catalogue next = catalogue();
  next.record(prefix, now());
  std::vector<CheckpointInfo> expired = retention().sweep(next);
  write_catalogue(next, directory(), options_.latest_filename, files());
  list_ = std::move(next);
  list_is_given_ = false;
  for (const CheckpointInfo& checkpoint : expired) {
    if (has(checkpoint.prefix)) remove_files(checkpoint.prefix);
  }
  return prefix;
}

CROCHET_INLINE std::optional<Restored> SaverCore::restore_latest(const Restore& restore) {
  refresh_list();
  return restore_newest(restore, [&](const auto& prefix, const std::string& why) { set_aside(prefix, why); });
}

CROCHET_INLINE Restored SaverCore::must_restore(const Restore& restore) {
  refresh_list();
  std::string damaged;
  auto restored = restore_newest(restore, [&](const auto&, const std::string& why) {
    say(why + "; it is passed over");
    damaged += "; " + why;
  });
  if (restored) return *std::move(restored);
  if (!damaged.empty()) throw DataLossError("crochet: no checkpoint " + pattern() + " is whole" + damaged);
  const std::string other = of_another_format();
  throw IoError("crochet: there is no checkpoint " + pattern() + other +
                (folder().exists() ? "" : ": the directory does not exist") + "; " +
                (other.empty() ? "save one first" : "use that type") + ", or correct the path");
}

CROCHET_INLINE void SaverCore::restored(const Restored& what) {
  restored_ = what.hooks.all_loaded() ? std::optional(what.prefix) : std::nullopt;
}

CROCHET_INLINE void SaverCore::say_nothing_restored() const {
  say("crochet: there is no checkpoint " + pattern() + of_another_format() + "; the session begins anew");
}

CROCHET_INLINE std::string SaverCore::of_another_format() const {
  const std::string other = folder().of_another_format();
  return other.empty() ? other : " of this format, but " + other;
}

CROCHET_INLINE std::optional<std::filesystem::path> SaverCore::latest_checkpoint() const {
  const std::lock_guard lock(mutex_);
  const Catalogue& list = list_now();
  if (list.all.empty() || !has(list.all.back().prefix)) return std::nullopt;
  return list.all.back().prefix;
}

CROCHET_INLINE std::vector<std::filesystem::path> SaverCore::last_checkpoints() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::filesystem::path> prefixes;
  for (const CheckpointInfo& checkpoint : list_now().all) prefixes.push_back(checkpoint.prefix);
  return prefixes;
}

CROCHET_INLINE void SaverCore::recover_last_checkpoints(std::span<const std::filesystem::path> prefixes) {
  const std::lock_guard lock(mutex_);
  Catalogue list{{}, catalogue().last_preserved};
  for (const std::filesystem::path& path : prefixes) {
    const std::optional<std::filesystem::path> prefix = folder().inside(path);
    if (!prefix || !has(*prefix)) continue;
    std::error_code error;
    const auto written = std::filesystem::last_write_time(format_->index_file(*prefix), error);
    const auto age = std::filesystem::file_time_type::clock::now() - written;
    list.all.push_back({*prefix, seconds_since_1970() - (error ? 0 : std::chrono::duration<double>(age).count())});
  }
  tidy(list.all);
  list_ = std::move(list);
  list_is_given_ = true;
}

CROCHET_INLINE void SaverCore::make_latest(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::filesystem::path> prefix = folder().inside(path);
  own();
  const std::lock_guard listing(lists());
  merge_list();
  Catalogue list = catalogue();
  const auto found = std::find_if(list.all.begin(), list.all.end(), [&](const auto& c) { return c.prefix == prefix; });
  if (found == list.all.end()) throw LogicError("crochet: Saver: " + path.string() + " is not listed");
  std::rotate(found, found + 1, list.all.end());
  write_catalogue(list, directory(), options_.latest_filename, files());
  list_ = std::move(list);
}

CROCHET_INLINE void SaverCore::remove(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::filesystem::path> prefix = folder().inside(path);
  if (!prefix) throw LogicError("crochet: Saver: " + path.string() + " is not in " + directory().string());
  if (!folder().exists()) return;
  own();
  const std::lock_guard listing(lists());
  merge_list();
  Catalogue list = catalogue();
  std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == *prefix; });
  if (!list.all.empty()) write_catalogue(list, directory(), options_.latest_filename, files());
  list_ = std::move(list);
  remove_files(*prefix);
}

CROCHET_INLINE bool SaverCore::has(const std::filesystem::path& path) const {
  const std::optional<std::filesystem::path> prefix = folder().inside(path);
  return prefix && io::checkpoint_exists(*format_, *prefix);
}

CROCHET_INLINE std::filesystem::path SaverCore::here(const std::filesystem::path& prefix) const {
  return directory() / prefix.filename();
}

CROCHET_INLINE bool SaverCore::just_restored(std::int64_t step) const {
  const std::lock_guard lock(mutex_);
  return restored_ == prefix_of(step) && latest_checkpoint() == restored_;
}

CROCHET_INLINE std::filesystem::path SaverCore::prefix_of(std::int64_t step) const {
  return folder().prefix_of(step, options_.pad_step_number);
}

CROCHET_INLINE io::FileSystem& SaverCore::files() const {
  return options_.files != nullptr ? *options_.files : io::local_files();
}

CROCHET_INLINE void SaverCore::own() {
  require_same_place();
  path_lock_.holds() ? merge_list() : take_lock();
}

CROCHET_INLINE void SaverCore::take_lock() {
  const bool had_it = std::exchange(path_lock_, {}).taken();
  if (had_it) note_what_was_removed();
  folder().make();
  path_lock_ = io::PathLock::of_folder(directory());
  if (path_lock_.is_first()) folder().remove_leftovers();
  if (!list_is_given_) read_list_again();
  if (!had_it && !path_lock_.enforced()) {
    say("crochet: " + directory().string() +
        " is on a file system without locks; nothing keeps another program from writing there, too");
  }
}

CROCHET_INLINE void SaverCore::require_same_place() const {
  std::error_code unknown;
  const std::filesystem::path place = std::filesystem::absolute(directory(), unknown);
  if (unknown || place == place_) return;
  const bool is_other =
      std::filesystem::exists(place_, unknown) && !std::filesystem::equivalent(place_, directory(), unknown);
  if (!is_other) {  // the first use, or a folder above it was renamed
    place_ = place;
    return;
  }
  throw FailedPreconditionError("crochet: Saver: " + directory().string() + " was " + place_.string() +
                                " and is now another folder, because the program has entered another one; give the "
                                "Saver an absolute path");
}

CROCHET_INLINE void SaverCore::note_what_was_removed() {
  Catalogue list = catalogue();
  const auto gone = std::erase_if(list.all, [&](const CheckpointInfo& c) { return !has(c.prefix); });
  if (!folder().exists()) {
    say("crochet: " + directory().string() + " was removed while it was in use, with " + std::to_string(gone) +
        " checkpoints; it is made anew");
  } else if (gone > 0) {
    say("crochet: " + std::to_string(gone) + " checkpoints of " + directory().string() +
        " were removed while it was in use");
  }
  list_ = std::move(list);
}

CROCHET_INLINE void SaverCore::read_list_again() {
  Catalogue list = read_list();
  std::erase_if(list.all, [&](const CheckpointInfo& c) { return passed_over_.contains(c.prefix) || !has(c.prefix); });
  list_ = std::move(list);
}

CROCHET_INLINE void SaverCore::merge_list() const {
  if (list_is_given_ || !path_lock_.is_shared()) return;
  Catalogue list = read_list();
  std::erase_if(list.all, [&](const CheckpointInfo& c) {
    return passed_over_.contains(c.prefix) || !has(c.prefix) || step_of(c.prefix, options_.basename) < 0;
  });
  std::set<std::filesystem::path> listed;
  for (const CheckpointInfo& checkpoint : list.all) listed.insert(checkpoint.prefix);
  Catalogue own = catalogue();
  std::erase_if(own.all, [&](const CheckpointInfo& c) { return listed.contains(c.prefix) || !has(c.prefix); });
  own.all.insert(own.all.end(), list.all.begin(), list.all.end());
  own.last_preserved = std::max(own.last_preserved, list.last_preserved);
  list_ = std::move(own);
}

CROCHET_INLINE void SaverCore::refresh_list() const {
  if (list_is_given_) return;
  if (path_lock_.holds()) return merge_list();
  list_.reset();
}

CROCHET_INLINE const Catalogue& SaverCore::list_now() const {
  const bool lost = path_lock_.taken() && !path_lock_.holds();
  if (!lost) refresh_list();  // else take_lock() reports what has changed since
  catalogue();
  if (!list_is_given_) {
    std::erase_if(list_->all, [&](const CheckpointInfo& c) { return passed_over_.contains(c.prefix); });
  }
  return *list_;
}

CROCHET_INLINE std::mutex& SaverCore::lists() {
  static std::mutex one_at_a_time;
  return one_at_a_time;
}

CROCHET_INLINE const Catalogue& SaverCore::catalogue() const {
  if (!list_) list_ = read_list();
  return *list_;
}

CROCHET_INLINE Catalogue SaverCore::read_list() const {
  std::optional<Catalogue> list;
  try {
    list = read_catalogue(directory(), options_.latest_filename, files());
  } catch (const DataLossError& error) {
    if (!std::exchange(list_is_damaged_, true)) {
      say(std::string(error.what()) + "; the directory is searched for checkpoints instead");
    }
  }
  if (!list) {
    list.emplace();
    std::vector<std::filesystem::path> there = folder().found();
    // Older ones may be permanently kept: such checkpoints are not listed, and so never removed.
    const auto most = static_cast<std::size_t>(options_.max_to_keep);
    if (most > 0 && there.size() > most) there.erase(there.begin(), there.end() - options_.max_to_keep);
    for (const std::filesystem::path& prefix : there) list->record(prefix, start_);
  }
  if (list->last_preserved == 0) list->last_preserved = start_;
  return *list;
}

CROCHET_INLINE std::optional<Restored> SaverCore::restore_newest(const Restore& restore, const Damaged& damaged) {
  require_same_place();
  std::set<std::filesystem::path> reported;
  const Damaged report = [&](const std::filesystem::path& prefix, const std::string& why) {
    reported.insert(prefix);
    damaged(prefix, why);
  };
  constexpr int most_searches = 10;
  for (int search = 0; search < most_searches; ++search) {
    bool vanished = false;
    for (const std::filesystem::path& prefix : candidates()) {
      if (reported.contains(prefix)) continue;
      if (const auto link = folder().link_to_outside(prefix)) {
        say("crochet: " + link->string() + " is a link to a file outside " + directory().string() +
            "; the checkpoint is passed over");
        continue;
      }
      if (auto restored = restore_one(prefix, restore, report, vanished)) return restored;
    }
    if (!vanished || list_is_given_) break;
    refresh_list();  // its owner has removed it, and has listed a newer one before
  }
  return std::nullopt;
}

CROCHET_INLINE std::optional<Restored> SaverCore::restore_one(const std::filesystem::path& prefix,
                                                              const Restore& restore, const Damaged& damaged,
                                                              bool& vanished) {
  for (const bool is_last : {false, true}) {
    try {
      Restored restored = restore(prefix);
      say("crochet: restored " + restored.text());
      return restored;
    } catch (const DataLossError& error) {  // perhaps its owner has just replaced it: half of it was the former one
      vanished = vanished || !has(prefix);
      if (!has(prefix)) break;
      if (is_last) damaged(prefix, error.what());
    } catch (const IoError&) {
      if (has(prefix)) throw;
      vanished = true;
      break;
    }
  }
  return std::nullopt;
}

CROCHET_INLINE std::vector<std::filesystem::path> SaverCore::candidates() const {
  std::vector<std::filesystem::path> best;
  for (const CheckpointInfo& checkpoint : catalogue().all) best.push_back(checkpoint.prefix);
  std::reverse(best.begin(), best.end());
  const std::set<std::filesystem::path> listed(best.begin(), best.end());
  const auto missing = std::stable_partition(best.begin(), best.end(), [&](const auto& prefix) { return has(prefix); });
  if (const auto count = best.end() - missing; count > 0) {
    say("crochet: " + missing->string() + (count == 1 ? "" : " and " + std::to_string(count - 1) + " more") +
        " of the " + std::to_string(best.size()) + " listed checkpoints " + (count == 1 ? "is" : "are") + " not there");
  }
  best.erase(missing, best.end());
  const std::vector<std::filesystem::path> there = folder().found();
  for (auto at = there.rbegin(); at != there.rend(); ++at) {
    if (!listed.contains(*at)) best.push_back(*at);
  }
  return best;
}

CROCHET_INLINE void SaverCore::set_aside(const std::filesystem::path& prefix, const std::string& why) {
  Catalogue list = catalogue();
  std::erase_if(list.all, [&](const CheckpointInfo& c) { return c.prefix == prefix; });
  try {
    const io::PathLock lock = io::PathLock::of_folder(directory());
    say(why + "; it is set aside as " + prefix.string() + "*.damaged");
    folder().set_aside(prefix);
    if (!list.all.empty()) write_catalogue(list, directory(), options_.latest_filename, files());
  } catch (const FailedPreconditionError& error) {
    say(why + "; it is passed over: " + error.what());
    passed_over_.insert(prefix);
  } catch (const IoError& error) {
    say(std::string(error.what()) + "; it is passed over");
    passed_over_.insert(prefix);
  }
  list_ = std::move(list);
}

CROCHET_INLINE void SaverCore::remove_files(const std::filesystem::path& prefix) {
  try {
    io::remove_checkpoint(*format_, prefix, files());
  } catch (const IoError& error) {
    say(error.what());  // it is no longer listed; the run continues
  }
}

}  // namespace crochet::detail
