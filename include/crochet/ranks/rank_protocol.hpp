// SPDX-License-Identifier: Apache-2.0
// RankProtocol: one rank's end of the roll calls of all ranks: the end of the loop, failures, and moves of divided
// state.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/part_exchange.hpp>
#include <crochet/ranks/roll_call.hpp>
#include <crochet/ranks/torn_steps.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

/// The protocol: every exchange begins with a roll call, and a rank that does not come to it makes the same roll call
/// with the reason instead. So all ranks make the same sequence of roll calls until one of them says that it is over:
/// - a rank that `leaves`: all others end their loops at the same step, and all end their sessions together;
/// - a rank that is `preempted`: all create their sessions anew;
/// - a rank that has `failed`: all fail, with an error that names it.
/// A rank that reads or writes a variable of which each rank has a part (executor/step/divided_variable.hpp) states
/// that at the next roll call of the others: all move their parts, and make the roll call again.
/// One thread at a time: the one that runs the session.
template <Communicator C>
class RankProtocol {
 public:
  [[nodiscard]] int rank() { return communicator_.rank(); }
  [[nodiscard]] int size() { return communicator_.size(); }
  /// Rank 0, which writes checkpoints, event files and lines.
  [[nodiscard]] bool is_chief() { return rank() == 0; }
  [[nodiscard]] C& communicator() { return communicator_; }

  /// Collective. Comes to what `mine.kind` says and returns the statements of all ranks, valid until the next call.
  /// Throws, if a rank does not come: StopIteration if it leaves, PeerPreemptedError if it has lost its session,
  /// PeerFailedError if it has failed, RanksDisagreeError if it comes to something else.
  std::span<const Presence> meet(const Presence& mine) {
    if (over_) refuse_call();
    const auto all = statements(mine);
    if (first_in(all, RankState::leaves) >= 0) {
      note_end(all);
      throw StopIteration(detail::message({"crochet: rank ", end_rank_, " ends the loop: ", end_reason_.reason}));
    }
    check_preemption(all);
    if (const int other = first_other(all); other >= 0) refuse(other);
    return all;
  }
  /// Collective. The union of the bits of all ranks.
  std::uint64_t any_of(std::uint64_t bits) {
    std::uint64_t all = 0;
    for (const Presence& p : meet({.kind = kind_of("bits"), .bits = bits})) all |= p.bits;
    return all;
  }

  /// Collective, for executors whose state differs between ranks: the step and the hooks behind it are done on all
  /// ranks. Until then none goes on, so that what a hook on one rank reads of the others is of the same step.
  void end_step() { meet({.kind = kind_of("end of a step")}); }

  /// Ends the loops of all ranks, each at its next roll call; nothing if they are already ending. Returns when all have
  /// come. Throws PeerFailedError.
  void leave(const StopReason& why) {
    if (ending_ || over_) return;
    end_reason_ = why;
    note_end(statements({.state = RankState::leaves, .bits = in_step_ ? 1U : 0U}));
  }
  /// Collective, after leave(). Throws FailedPreconditionError on all ranks if they end at different steps: a step
  /// function has ended the loop on one of them.
  void end_at(std::int64_t step) {
    if (over_) return;
    detail::require_one_step(meet({.kind = kind_of("last step"), .rows = step}));
  }
  /// In place of the next roll call: this rank has failed. No effect if the ranks are over. Writes a diagnostic if the
  /// communicator throws.
  void fail(std::string_view what) noexcept {
    if (std::exchange(over_, true)) return;
    try {
      if constexpr (requires { communicator_.note_failure(what); }) communicator_.note_failure(what);
      const auto all = calls_.hold(communicator_, {.state = RankState::failed});
      static_cast<void>(text_of(first_in(all, RankState::failed), what));
    } catch (...) {
      note_unreported();
    }
    give_up();  // now, because until the roll call others may wait for what this rank's GPU has queued
  }
  /// In place of the next roll call: this rank has lost its session. When it returns all ranks create theirs anew.
  /// Throws PeerFailedError if one of them cannot, and LogicError if the ranks are over.
  void lose() {
    if (over_) refuse_call();
    const auto all = calls_.hold(communicator_, {.state = RankState::preempted});
    check_failures(all);
  }

  /// Collective: all ranks have ended their sessions. Throws PeerFailedError if one could not.
  void finish() {
    meet({.kind = kind_of("finish")});
    ending_ = in_session_ = false;
    end_reason_ = {};
  }

  /// The parts of this rank, of each variable that is divided.
  void set_parts(detail::PartExchange::PartOf part_of) { parts_.set_parts(std::move(part_of)); }
  /// Of one rank, while the others are at their next roll call, or come to it: `whole` gets the parts of all ranks, in
  /// their order. Returns their shapes, valid until the next call. Throws as meet(), except StopIteration, and
  /// LogicError outside a session.
  std::span<const PartShape> read_parts(std::size_t variable, std::vector<std::byte>& whole) {
    move_parts(2 * variable, whole);
    return parts_.shapes();
  }
  /// The same in the other direction, after read_parts().
  void write_parts(std::size_t variable, std::vector<std::byte>& whole) { move_parts(2 * variable + 1, whole); }

  /// Collective. All ranks get the chief's bytes.
  void broadcast(std::span<std::byte> bytes) { communicator_.broadcast(bytes, 0); }

  /// Whether all ranks end their sessions.
  [[nodiscard]] bool ending() const { return ending_; }
  /// Whether the ranks have nothing more in common, because one has failed.
  [[nodiscard]] bool over() const { return over_; }
  /// After ending(): the rank that ended the loop, and its reason.
  [[nodiscard]] const StopReason& end_reason() const { return end_reason_; }

  /// The `kind` of something that is not a run.
  static constexpr std::uint64_t kind_of(std::string_view what) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
  }

 protected:
  explicit RankProtocol(C communicator) : communicator_(std::move(communicator)), calls_(communicator_.size()) {}
  ~RankProtocol() = default;

  /// Whether each rank has parts of variables, and those of a new session are not of one checkpoint.
  [[nodiscard]] bool parts_are_of_different_sessions() const { return parts_.exist() && !parts_are_restored_; }
  void begin_session() {
    in_session_ = true;
    in_step_ = parts_are_restored_ = false;
  }
  /// Whether this rank has begun a step and has not ended it.
  void set_in_step(bool yes) { in_step_ = yes; }
  /// The ranks have nothing more in common.
  void end_all() { over_ = true; }

 private:
  using Text = std::array<char, 480>;

  [[noreturn]] CROCHET_COLD static void refuse_call() {
    throw LogicError("crochet: the ranks of this session have ended or failed; make a new one on all ranks");
  }
  /// In a catch block of fail(). The caller has the error of this rank, the others do not.
  CROCHET_COLD void note_unreported() noexcept {
    detail::diagnose_or("crochet: the failure of a rank could not be reported to the others", [&] {
      return detail::message({"crochet: rank ", rank(), " has failed and could not report it to the others: ",
                              detail::what_of(std::current_exception())});
    });
  }
  /// A rank has failed: what the GPUs of the others have queued may not end by itself.
  void give_up() noexcept {
    over_ = true;
    if constexpr (DeviceCommunicator<C>) communicator_.give_up();
  }

  /// A roll call, repeated as long as ranks move parts.
  std::span<const Presence> statements(const Presence& mine) {
    for (;;) {
      const auto all = calls_.hold(communicator_, mine);
      check_failures(all);
      if (first_in(all, RankState::preempted) >= 0 || first_in(all, RankState::moves_parts) < 0) return all;
      if (!detail::leaves_in_a_step(all)) take_part(all, nullptr);  // else the rank that moves parts throws
    }
  }
  void move_parts(std::uint64_t what, std::vector<std::byte>& whole) {
    if (over_ || !in_session_) detail::refuse_parts();
    for (bool done = false; !done;) {
      const auto all = calls_.hold(communicator_, {.state = RankState::moves_parts, .bits = what});
      check_failures(all);
      check_preemption(all);
      if (detail::leaves_in_a_step(all)) detail::refuse_torn_step();
      done = all_move(all, what) ? take_part_together(what, whole) : take_part(all, &whole);
    }
  }
  /// Whether all ranks make the same move: a hook on every rank visits the variables.
  static bool all_move(std::span<const Presence> all, std::uint64_t what) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Presence& p) { return p.state == RankState::moves_parts && p.bits == what; });
  }
  /// What such a hook reads on each rank is the state before it writes on any.
  bool take_part_together(std::uint64_t what, std::vector<std::byte>& whole) {
    if (what % 2 == 0) {
      parts_.gather_on_all(communicator_, static_cast<std::size_t>(what / 2), whole);
    } else {
      parts_.scatter(communicator_, 0, static_cast<std::size_t>(what / 2), is_chief() ? &whole : nullptr);
      parts_are_restored_ = true;
    }
    return true;
  }
  /// In what the lowest of the ranks that move parts does. Returns whether that is this one.
  bool take_part(std::span<const Presence> all, std::vector<std::byte>* whole) {
    const int root = first_in(all, RankState::moves_parts);
    const std::uint64_t what = all[static_cast<std::size_t>(root)].bits;
    std::vector<std::byte>* const mine = root == rank() ? whole : nullptr;
    if (what % 2 == 0) {
      parts_.gather(communicator_, root, static_cast<std::size_t>(what / 2), mine);
    } else {
      parts_.scatter(communicator_, root, static_cast<std::size_t>(what / 2), mine);
      parts_are_restored_ = true;
    }
    return root == rank();
  }
  static void check_preemption(std::span<const Presence> all) {
    if (const int lost = first_in(all, RankState::preempted); lost >= 0) {
      throw PeerPreemptedError(detail::message({"crochet: rank ", lost, " has lost its session"}));
    }
  }
  /// The text of rank `root`, cut to a fixed length. Collective.
  std::string text_of(int root, std::string_view mine) {
    Text text{};
    mine.copy(text.data(), text.size() - 1);
    if (mine.size() >= text.size()) std::string_view(" ...").copy(text.data() + text.size() - 5, 4);
    communicator_.broadcast(std::as_writable_bytes(std::span{text}), root);
    text.back() = 0;
    return text.data();
  }

  /// Decides from the statements alone, and from what all ranks have in common, so all decide alike.
  void check_failures(std::span<const Presence> all) {
    if (const int failed = first_in(all, RankState::failed); failed >= 0) fail_with(failed, text_of(failed, {}));
    const int lost = first_in(all, RankState::preempted);
    if (lost >= 0 && (ending_ || first_in(all, RankState::leaves) >= 0)) {
      fail_with(lost, "it has lost its session while the ranks end");
    }
  }
  [[noreturn]] CROCHET_COLD void fail_with(int rank, std::string_view what) {
    give_up();
    throw PeerFailedError(detail::message({"crochet: rank ", rank, " failed: ", what}));
  }
  [[noreturn]] CROCHET_COLD void refuse(int other) {
    give_up();
    throw RanksDisagreeError(detail::message(
        {"crochet: ranks 0 and ", other,
         " are about to do different things; run the same targets, with the same model and chain, and make the same "
         "calls over ranks in a step function, on all ranks"}));
  }

  /// All ranks learn who ends the loop and why.
  void note_end(std::span<const Presence> all) {
    ending_ = true;
    end_rank_ = first_in(all, RankState::leaves);
    std::array<std::byte, 1> kind{static_cast<std::byte>(end_reason_.kind)};
    const std::string hook = text_of(end_rank_, end_reason_.hook), reason = text_of(end_rank_, end_reason_.reason);
    communicator_.broadcast(kind, end_rank_);
    if (end_rank_ == rank()) return;
    end_reason_.hook = detail::message({"rank ", end_rank_, ": ", hook.empty() ? "its loop returned" : hook.c_str()});
    end_reason_.reason = reason;
    end_reason_.kind = static_cast<StopKind>(kind[0]);
  }

  C communicator_;
  RollCall calls_;
  detail::PartExchange parts_;
  StopReason end_reason_;
  int end_rank_ = -1;
  bool ending_ = false, over_ = false, in_session_ = false, in_step_ = false, parts_are_restored_ = false;
};

}  // namespace crochet
