// SPDX-License-Identifier: Apache-2.0
// The command line of crochet-dump: its arguments and its --help.
#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>

#include "commands.hpp"
#include "crochet_dump.hpp"
#include "options.hpp"
#include "printable.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace {

// Newer versions of CLI11 break lines of more than 80 characters.
constexpr const char* about =
    "Shows what the debugger dumped: DumpingDebugHook's session root or one run\n"
    "directory, crochet's or TensorFlow 1's (tfdbg). Tensors are named NODE:SLOT\n"
    "and come in step order. Shows as well what event files (TensorBoard's) hold:\n"
    "crochet-dump events, and draws their scalars: crochet-dump plot.";

constexpr const char* footer =
    "Exit status: 0 when something was found, or the dumps are equal; 1 when\n"
    "nothing was found, or they differ; 2 for a wrong command line, or when\n"
    "something could not be read. What could be read is printed all the same.\n"
    "With --json each line is a JSON object; NaN and infinities are \"nan\",\n"
    "\"inf\" and \"-inf\".";

/// Refuses a sign, `nan` and `inf`: of a number without a sign CLI11 takes -1 for the greatest one.
const CLI::Validator& not_negative() {
  static const CLI::Validator check(
      [](std::string& text) {
        const char first = text.empty() ? '-' : text.front();
        return (first >= '0' && first <= '9') || first == '.' ? std::string() : "it should be a number from 0 on";
      },
      "");
  return check;
}

/// The arguments of all commands.
void add_selection(CLI::App& app, Selection& selection, const char* root = "ROOT") {
  app.add_option("root", selection.root, "a session root, or one run directory")->required()->option_text(root);
  app.add_option("--run", selection.run, "one run only: its name, its place from 0 on (--run=-1: the last), or last")
      ->option_text("RUN");
  app.add_option("--node", selection.node, "nodes in whose name this regular expression is found; ^ and $ anchor it")
      ->option_text("REGEX");
  app.add_option("--op", selection.op,
                 "one debug op only. Without it ls shows all, the other commands the most detailed of each tensor: "
                 "DebugIdentity, then DebugNumericSummary, then DebugNanCount")
      ->option_text("OP");
  app.add_flag("--json", selection.json, "one JSON object a line");
  app.add_option("--max-files", selection.max_files, "of one run; more are reported and left out (default 1000000)")
      ->check(not_negative())
      ->option_text("N");
}

struct CommandLine {
  CLI::App app{about, "crochet-dump"};
  Selection list{};
  CatOptions cat{};
  FindOptions find{};
  DiffOptions diff{};
  StatsOptions stats{};
  EventsOptions events{};
  PlotOptions plot{};
  bool full = false;
  std::function<int(std::ostream&, std::ostream&)> command{};

  CommandLine() {
    app.require_subcommand(1);
    app.footer(footer);
    add_list(), add_cat(), add_find(), add_diff(), add_stats(), add_events(), add_plot();
  }

 private:
  template <class Run>
  CLI::App& add(const char* name, const char* what, Run run) {
    CLI::App& command_app = *app.add_subcommand(name, what);
    command_app.callback([this, run] { command = run; });
    command_app.footer("");
    return command_app;
  }

  void add_list() {
    CLI::App& ls = add("ls", "runs and tensors: time since the first, debug op, type, shape, size",
                       [this](std::ostream& out, std::ostream& err) { return run_list(list, out, err); });
    add_selection(ls, list);
  }
  void add_cat() {
    CLI::App& c =
        add("cat", "the elements of tensors, as numpy prints them", [this](std::ostream& out, std::ostream& err) {
          if (full) cat.print.threshold = std::numeric_limits<std::size_t>::max();
          return run_cat(cat, out, err);
        });
    add_selection(c, cat.selection);
    c.add_option("tensor", cat.tensors, "NODE (all its outputs) or NODE:SLOT")->required()->option_text("TENSOR...");
    c.add_option("--precision", cat.print.precision, "digits behind the point, at most (default 8)")
        ->check(CLI::Range(0, 100))
        ->option_text("N");
    c.add_flag("--full", full, "all elements, also of a tensor with more than 1000");
    c.add_option("--npy", cat.npy, "write the one selected tensor to this file, which numpy.load reads")
        ->option_text("FILE");
  }
  void add_find() {
    CLI::App& f = add("find", "the first tensor in step order that meets all conditions, and its inputs",
                      [this](std::ostream& out, std::ostream& err) { return run_find(find, out, err); });
    add_selection(f, find.selection);
    f.add_flag("--nan", find.nan, "has a NaN");
    f.add_flag("--inf", find.inf, "has an infinity; with --nan: has one or the other");
    f.add_option("--shape", find.shape, "has this shape; ? stands for any size: \"(8, ?, 64)\"")->option_text("SHAPE");
    f.add_option("--dtype", find.dtype, "has this element type: float32, int64, bool, ...")->option_text("NAME");
    f.add_flag("--all", find.all, "all such tensors of all runs, not only the first");
  }
  void add_diff() {
    CLI::App& d = add("diff", "the first tensor in step order that differs between two dumps",
                      [this](std::ostream& out, std::ostream& err) { return run_diff(diff, out, err); });
    add_selection(d, diff.selection, "ROOT_A");
    d.add_option("other", diff.other, "the dump to compare with")->required()->option_text("ROOT_B");
    const CLI::Range any_size{0.0, std::numeric_limits<double>::max()};
    d.add_option("--rtol", diff.rtol, "equal up to atol + rtol * |b| (default 0)")
        ->check(not_negative())
        ->check(any_size)
        ->option_text("X");
    d.add_option("--atol", diff.atol, "(default 0)")->check(not_negative())->check(any_size)->option_text("X");
    d.add_flag("--all", diff.all, "all that differ, not only the first");
  }
  void add_stats() {
    CLI::App& s = add("stats", "a line a tensor: elements, min, max, mean, deviation, zeros, NaN, Inf",
                      [this](std::ostream& out, std::ostream& err) { return run_stats(stats, out, err); });
    add_selection(s, stats.selection);
    s.add_flag("--by-node", stats.by_node, "one line a tensor over all runs, and since when it is not finite");
  }
  void add_events() {
    CLI::App& e = add("events", "the scalars, histograms and other records of event files, a line each",
                      [this](std::ostream& out, std::ostream& err) { return run_events(events, out, err); });
    e.add_option("path", events.root, "an event file, or a folder with event files")->required()->option_text("PATH");
    e.add_option("--tag", events.tag, "tags in which this regular expression is found; ^ and $ anchor it")
        ->option_text("REGEX");
    e.add_option("--steps", events.steps, "these steps only; FIRST: and :LAST leave one end open")
        ->option_text("FIRST:LAST");
    e.add_flag("--json", events.json, "one JSON object a line, histograms with their buckets");
  }
  void add_plot() {
    CLI::App& p = add("plot", "the scalars of event files as curves of text, a plot a tag with all runs",
                      [this](std::ostream& out, std::ostream& err) { return run_plot(plot, out, err); });
    p.add_option("path", plot.root, "an event file, or a folder with event files")->required()->option_text("PATH");
    p.add_option("tag", plot.tag, "a tag; or all tags in which this regular expression is found (default: all)")
        ->option_text("TAG");
    p.add_option("--steps", plot.steps, "these steps only; FIRST: and :LAST leave one end open")
        ->option_text("FIRST:LAST");
    p.add_option("--width", plot.width, "columns (default: the terminal's, or 80)")
        ->check(CLI::Range(20, 1000))
        ->option_text("N");
    p.add_option("--height", plot.height, "rows of the curves (default 15)")
        ->check(CLI::Range(3, 200))
        ->option_text("N");
    p.add_flag("--ascii", plot.ascii, "letters in place of braille points");
  }
};

int parse_and_run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CommandLine line;
  try {
    std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // the order that CLI11 requires
    line.app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return line.app.exit(error, out, err) == 0 ? done : trouble;
  }
  return line.command(out, err);
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
#if GOOGLE_PROTOBUF_VERSION < 4022000  // older versions print names of the files unescaped
  const google::protobuf::LogSilencer quiet;
#endif
  int status = trouble;
  try {
    status = parse_and_run(arguments, out, err);
  } catch (const crochet::Error& error) {
    err << printable(error.what()) << "\n";
  } catch (const std::exception& error) {
    err << "crochet-dump: " << printable(error.what()) << "\n";
  }
  if (!out.flush()) {
    err << "crochet-dump: the results could not be written\n";
    return trouble;
  }
  return status;
}

}  // namespace crochet_dump
