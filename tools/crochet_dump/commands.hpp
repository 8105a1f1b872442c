// SPDX-License-Identifier: Apache-2.0
// The commands, compiled once.
#pragma once

#include <ostream>

#include "options.hpp"

namespace crochet_dump {

/// Each prints to `out`, reports errors to `err` and returns an ExitStatus. Throws UsageError, and IoError if nothing
/// can be read at all.
int run_list(const Selection& selection, std::ostream& out, std::ostream& err);
int run_cat(const CatOptions& options, std::ostream& out, std::ostream& err);
int run_find(const FindOptions& options, std::ostream& out, std::ostream& err);
int run_diff(const DiffOptions& options, std::ostream& out, std::ostream& err);
int run_events(const EventsOptions& options, std::ostream& out, std::ostream& err);
int run_plot(const PlotOptions& options, std::ostream& out, std::ostream& err);
int run_stats(const StatsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace crochet_dump
