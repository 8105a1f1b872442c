// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "cat.hpp"
#include "diff.hpp"
#include "events.hpp"
#include "find.hpp"
#include "list.hpp"
#include "plot.hpp"
#include "stats.hpp"

namespace crochet_dump {

int run_list(const Selection& selection, std::ostream& out, std::ostream& err) { return list(selection, out, err); }
int run_cat(const CatOptions& options, std::ostream& out, std::ostream& err) { return cat(options, out, err); }
int run_find(const FindOptions& options, std::ostream& out, std::ostream& err) { return find(options, out, err); }
int run_diff(const DiffOptions& options, std::ostream& out, std::ostream& err) { return diff(options, out, err); }
int run_events(const EventsOptions& options, std::ostream& out, std::ostream& err) { return events(options, out, err); }
int run_plot(const PlotOptions& options, std::ostream& out, std::ostream& err) { return plot(options, out, err); }
int run_stats(const StatsOptions& options, std::ostream& out, std::ostream& err) { return stats(options, out, err); }

}  // namespace crochet_dump
