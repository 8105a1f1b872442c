// SPDX-License-Identifier: Apache-2.0
// The compiled half of run_writer.hpp.
#pragma once

#include <crochet/trace/run_writer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/proto/step_stats.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/serialized.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/whole_file.hpp>
#include <crochet/trace/perfetto.hpp>
#include <crochet/trace/profile_table.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/step_stats.hpp>
#include <crochet/trace/timeline.hpp>
#include <crochet/trace/worker.hpp>

namespace crochet::trace {

CROCHET_INLINE void RunWriter::write(RunTrace run) {
  rethrow();
  if (!options_.in_background) {
    write_all(run);
    return rethrow();
  }
  const auto shared = std::make_shared<RunTrace>(std::move(run));
  try {
    if (!worker_.add([this, shared] { write_all(*shared); }))
      complain(slow, "crochet: recorded runs wait too long for the disk, and some are left out");
  } catch (const std::system_error&) {  // the system cannot start a thread
    write_all(*shared);
    rethrow();
  }
}

CROCHET_INLINE void RunWriter::flush() {
  worker_.drain();
  guarded(events, [this] { options_.events.flush(); });
  rethrow();
}

CROCHET_INLINE ProfileTable RunWriter::table() {
  worker_.drain();
  return table_;
}

CROCHET_INLINE void RunWriter::write_all(const RunTrace& run) {
  try {
    table_.add(run);
    const std::string step = std::to_string(run.step);
    proto::RunMetadata all;
    *all.mutable_step_stats() = step_stats(run);
    write_files("timeline-" + step, all);
    guarded(events, [&] {
      if (options_.events) options_.events.add_first_run_metadata("step_" + step, io::serialized(all));
    });
    if (!options_.perfetto.empty() && !said_[perfetto]) guarded(perfetto, [&] { append(run); });
  } catch (...) {  // out of memory
    keep(std::current_exception());
  }
}

CROCHET_INLINE std::mutex& RunWriter::turn_at(const std::filesystem::path& place) {
  static std::array<std::mutex, 64> turns;
  std::error_code none;
  return turns[hash_value(std::filesystem::absolute("." / place / "", none).lexically_normal()) % turns.size()];
}

CROCHET_INLINE void RunWriter::write_files(const std::string& name, const proto::RunMetadata& all) {
  const std::lock_guard lock(turn_at(options_.output_dir));
  guarded(timelines, [&] { write_file(name + ".json", timeline_json(all.step_stats(), options_.timeline)); });
  guarded(metadata, [&] {
    if (options_.run_metadata) write_file(name + ".pb", io::serialized(all));
  });
}

CROCHET_INLINE void RunWriter::make_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError("crochet: cannot make the folder " + folder.string() + ": " + error.message());
}

CROCHET_INLINE void RunWriter::write_file(const std::string& name, const std::string& text) {
  make_folder(options_.output_dir);
  io::write_whole_file(options_.output_dir / name, {bytes_of(text)}, files());
}

CROCHET_INLINE void RunWriter::append(const RunTrace& run) {
  const std::lock_guard lock(turn_at(options_.perfetto));
  if (!trace_) {
    make_folder(options_.perfetto.parent_path());
    keep_earlier_trace();
    std::error_code error;
    trace_ = files().create(options_.perfetto, error);
    io::require_written(options_.perfetto, error);
  }
  io::require_written(options_.perfetto, trace_->write(bytes_of(packets_.packets(run))));
  io::require_written(options_.perfetto, trace_->start_sync());
}

CROCHET_INLINE void RunWriter::keep_earlier_trace() {
  const std::filesystem::path& path = options_.perfetto;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none) || std::filesystem::is_empty(path, none)) return;
  std::filesystem::path kept;
  for (int n = 1; kept.empty() || std::filesystem::exists(kept, none); ++n) {
    kept = path.parent_path() / (path.stem().string() + "." + std::to_string(n) + path.extension().string());
  }
  io::require_written(kept, files().rename(path, kept));
}

CROCHET_INLINE void RunWriter::complain(Kind kind, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(said_[kind], true)) return;
  }
  if (options_.report && (kind == slow || options_.on_write_error == io::OnWriteError::go_on)) {
    options_.report(why + "; training goes on, and this is said once");
  }
}

CROCHET_INLINE void RunWriter::keep(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
}

CROCHET_INLINE void RunWriter::rethrow() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace crochet::trace
