// SPDX-License-Identifier: Apache-2.0
// Runs a plan at run time, step by step on simulated memory, and checks the invariants of every plan: a step reads the
// values written for it, slots are large enough, and threads have the barriers that they need.
#pragma once
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include <crochet/graph/frozen.hpp>
#include <crochet/graph/passes/arena.hpp>
#include <crochet/testing/oracle_rules.hpp>

namespace crochet {

/// A demand on a graph after each pass.
struct Stages {
  Subgraph simplified, repeated;
  Schedule schedule;
  Plan plan;

  Stages(const Graph& g, const ConstexprVector<int>& fetched, const ConstexprVector<int>& targets)
      : simplified(simplify(g, fetched, targets)),
        repeated(add_copies(simplified)),
        schedule(make_schedule(repeated)),
        plan(make_plan(simplified)) {}
};

class PlanMachine {
 public:
  using Place = std::pair<AddressSpace, int>;

  PlanMachine(const Stages& stages, const Dims& dims)
      : s_(stages), plan_(stages.plan), dims_(dims), arena_(placed_slots(plan_, dims)) {}

  /// The elements of a variable or a placeholder, by its node in the model's graph.
  std::vector<double>& source(AddressSpace space, int node) { return memory_[{space, node}].data; }

  void run() {
    for (const Step& step : plan_.steps) {
      check_threads(step);
      check_panels(step);
      run(step);
    }
  }
  /// The i-th fetched value.
  std::vector<double> fetched(std::size_t i) { return read(plan_.fetched[i]); }

 private:
  struct Cell {
    std::vector<double> data;
    int owner = -1;  ///< slots: the node that the contents belong to
  };
  struct Touched {
    Place place;
    bool written;
    int region;  ///< the item region of the step
    bool items;  ///< an item of the step touches only its own part
  };

  static void demand(bool holds, const std::string& what) {
    if (!holds) throw std::logic_error("plan: " + what);
  }
  const Value& value(int v) const { return plan_.values[static_cast<std::size_t>(v)]; }
  Place place(int v) const { return {value(v).space, value(v).index}; }
  int base(int v) const { return s_.schedule.base[static_cast<std::size_t>(v)]; }
  std::size_t size(int v) const { return static_cast<std::size_t>(value(v).shape.size().at(dims_)); }

  /// Whether several values share places of this region, one after the other.
  static bool is_shared(AddressSpace r) { return r == AddressSpace::arena || r == AddressSpace::tile; }

  Cell& cell(int v) {
    demand(value(v).space != AddressSpace::none, "a value has no place");
    Cell& c = memory_[place(v)];
    if (is_shared(value(v).space)) {
      demand(c.owner == base(v), "a slot holds another value than the one that is read");
    }
    demand(c.data.size() >= size(v), "a value is smaller than what is read of it");
    return c;
  }
  Cell& cell_to_write(int v) {
    Cell& c = memory_[place(v)];
    if (is_shared(value(v).space) && c.owner != base(v)) {
      if (value(v).space == AddressSpace::arena) {
        const Extent bytes = plan_.slots[static_cast<std::size_t>(value(v).index)].bytes;
        demand(static_cast<std::int64_t>(size(v) * size_of(value(v).dtype)) <= bytes.at(dims_), "a slot is too small");
      }
      if (value(v).space == AddressSpace::arena) claim(value(v).index);
      c.owner = base(v);
      c.data.assign(size(v), std::numeric_limits<double>::quiet_NaN());
    }
    return c;
  }
  /// Marks the contents of all slots that overlap this one as lost.
  void claim(int slot) {
    for (int k = 0; k < static_cast<int>(arena_.size()); ++k) {
      if (k != slot && overlap_in_bytes(k, slot)) memory_[{AddressSpace::arena, k}].owner = -1;
    }
  }
  bool overlap_in_bytes(int a, int b) const {
    const PlacedSlot &x = arena_[static_cast<std::size_t>(a)], &y = arena_[static_cast<std::size_t>(b)];
    return x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
  }
  bool same_place(const Place& a, const Place& b) const {
    if (a.first == AddressSpace::arena && b.first == AddressSpace::arena)
      return a == b || overlap_in_bytes(a.second, b.second);
    return a == b;
  }
  std::vector<double> read(int v) {
    const Cell& c = cell(v);
    return {c.data.begin(), c.data.begin() + static_cast<std::ptrdiff_t>(size(v))};
  }

  testing::Array array(int v) const {
    testing::Array a;
    for (std::size_t i = 0; i < value(v).shape.rank; ++i) a.shape.push_back(value(v).shape[i].at(dims_));
    a.data.assign(size(v), 0);
    return a;
  }

  void run(const Step& step) {
    testing::Array root;
    if (step.root != nullptr) root = run_kernel(step);
    if (step.instructions == 0) {
      cell_to_write(step.root_value).data = root.data;
      return;
    }
    const std::int64_t rows = step.rows.at(dims_), columns = step.columns.at(dims_);
    if (step.root != nullptr)
      demand(static_cast<std::int64_t>(root.data.size()) == rows * columns, "an epilogue's size");
    if (rows * columns == 0) open_empty(step);
    begin_totals(step);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        run_program(step, i, j, step.root == nullptr ? 0 : root.data[static_cast<std::size_t>(i * columns + j)],
                    columns);
      }
    }
    end_totals(step, rows, columns);
  }
  /// Calls visit(instruction, access) for each reduction in a loop.
  template <class Visit>
  void each_total(const Step& step, Visit visit) {
    for (std::int32_t k = 0; k < step.instructions; ++k) {
      const Instruction& ins = plan_.instructions[static_cast<std::size_t>(step.first_instruction + k)];
      if (ins.kind == Instruction::Kind::accumulate)
        visit(ins, plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])]);
    }
  }
  void begin_totals(const Step& step) {
    demand(step.root == nullptr || step.reduction_buffer < 0, "an epilogue reduces");
    each_total(step, [&](const Instruction& ins, const Access& a) {
      demand(step.reduction_buffer >= 0, "a step that reduces has no number");
      demand(a.mode == BroadcastMode::scalar || a.mode == BroadcastMode::row || a.mode == BroadcastMode::column,
             "a loop cannot reduce so");
      Cell& c = cell_to_write(a.value);
      c.data.assign(c.data.size(), of_nothing(*ins.op));
    });
  }
  /// The result of a reduction over no elements.
  static double of_nothing(const Op& reduction) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (&reduction == &op::reduce_max) return -infinity;
    if (&reduction == &op::reduce_min) return infinity;
    return &reduction == &op::reduce_prod ? 1 : 0;
  }
  static void join(const Instruction& ins, double& total, double x) {
    if (ins.op == &op::reduce_max) {
      total = std::isnan(x) || x > total ? x : total;
    } else if (ins.op == &op::reduce_min) {
      total = std::isnan(x) || x < total ? x : total;
    } else if (ins.op == &op::reduce_prod) {
      total *= x;
    } else {
      total += x;
    }
  }
  void end_totals(const Step& step, std::int64_t rows, std::int64_t columns) {
    each_total(step, [&](const Instruction& ins, const Access& a) {
      const std::int64_t n =
          a.mode == BroadcastMode::scalar ? rows * columns : (a.mode == BroadcastMode::row ? rows : columns);
      for (double& x : cell(a.value).data) {
        x = testing::detail::as(value(a.value).dtype, ins.op == &op::reduce_mean ? x / static_cast<double>(n) : x);
      }
    });
  }
  testing::Array run_kernel(const Step& step) {
    testing::Array out = array(step.root_value);
    std::vector<testing::Array> in;
    for (int operand : step.operands) {
      if (operand < 0) continue;
      in.push_back(array(operand));
      in.back().data = read(operand);
    }
    testing::Use use{step.attributes, {}, out, dims_, value(step.root_value).dtype};
    for (const testing::Array& a : in) use.in.push_back(&a);
    kernels_.at(step.root)(use);
    for (double& x : out.data) x = testing::detail::as(value(step.root_value).dtype, x);
    return out;
  }
  void open_empty(const Step& step) {
    for (std::int32_t i = 0; i < step.accesses; ++i) {
      cell_to_write(plan_.accesses[static_cast<std::size_t>(step.first_access + i)].value);
    }
  }

  static std::size_t index(BroadcastMode mode, std::int64_t i, std::int64_t j, std::int64_t columns) {
    demand(mode != BroadcastMode::none, "a loop cannot reach an operand");
    const std::int64_t at = mode == BroadcastMode::full
                                ? i * columns + j
                                : (mode == BroadcastMode::row ? j : (mode == BroadcastMode::column ? i : 0));
    return static_cast<std::size_t>(at);
  }
  void run_program(const Step& step, std::int64_t i, std::int64_t j, double root, std::int64_t columns) {
    std::vector<double> r;
    for (std::int32_t k = 0; k < step.instructions; ++k) {
      const Instruction& ins = plan_.instructions[static_cast<std::size_t>(step.first_instruction + k)];
      const auto arg = [&](std::size_t n) {
        return ins.args[n] < 0 ? 0.0 : r.at(static_cast<std::size_t>(ins.args[n]));
      };
      double x = 0;
      switch (ins.kind) {
        case Instruction::Kind::root:
          x = root;
          break;
        case Instruction::Kind::constant:
          x = ins.immediate;
          break;
        case Instruction::Kind::compute:
          x = elements_.at(ins.op)(arg(0), arg(1), arg(2));
          break;
        case Instruction::Kind::load: {
          const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])];
          x = cell(a.value).data.at(index(a.mode, i, j, columns));
          break;
        }
        case Instruction::Kind::accumulate: {
          const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])];
          join(ins, cell_to_write(a.value).data.at(index(a.mode, i, j, columns)), arg(1));
          break;
        }
        case Instruction::Kind::store: {
          const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])];
          cell_to_write(a.value).data.at(index(a.mode, i, j, columns)) = arg(1);
          break;
        }
      }
      r.push_back(testing::detail::as(ins.dtype, x));
    }
  }

  /// All places that a step reads and writes.
  std::vector<Touched> touched(const Step& step) const {
    std::vector<Touched> all;
    for (std::size_t k = 0; k < max_inputs; ++k) {
      const bool items = ((step.item_inputs >> k) & 1U) != 0;
      if (step.operands[k] >= 0) all.push_back({place(step.operands[k]), false, step.region, items});
    }
    if (step.root != nullptr && step.instructions == 0)
      all.push_back({place(step.root_value), true, step.region, true});
    for (std::int32_t k = 0; k < step.instructions; ++k) {
      const Instruction& ins = plan_.instructions[static_cast<std::size_t>(step.first_instruction + k)];
      const bool writes = ins.kind == Instruction::Kind::store || ins.kind == Instruction::Kind::accumulate;
      if (ins.kind != Instruction::Kind::load && !writes) continue;
      const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])];
      const bool items = a.mode == BroadcastMode::full || a.mode == BroadcastMode::column;
      all.push_back({place(a.value), writes, step.region, items});
    }
    return all;
  }

  /// Members of a team execute steps at their own pace up to a barrier. Until then no member may touch a place that
  /// another one writes, except an item's own part, in a region that processes each item on one member. Within a step
  /// the kernel must not read what the step writes, and the loop may read it only at the same element.
  void check_threads(const Step& step) {
    if (step.barrier) since_.clear();
    const std::vector<Touched> mine = touched(step);
    for (const Touched& a : mine) {
      for (const Touched& b : since_) {
        const bool one_thread = a.region >= 0 && a.region == b.region && a.items && b.items;
        demand(!(a.written || b.written) || !same_place(a.place, b.place) || one_thread ||
                   a.place.first == AddressSpace::tile,
               "two steps touch one place and nothing keeps them apart");
      }
    }
    since_.insert(since_.end(), mine.begin(), mine.end());
    check_loop(step);
  }
  /// Values in panels are variables. A loop accesses them by rows of their last dimension, and does not reduce.
  void check_panels(const Step& step) const {
    for (std::int32_t k = 0; k < step.accesses; ++k) {
      const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + k)];
      const Value& v = value(a.value);
      if (v.layout != Layout::panels) continue;
      demand(v.space == AddressSpace::variable, "a value in panels is no variable");
      demand(a.mode == BroadcastMode::full && step.columns == v.shape[v.shape.rank - 1],
             "a loop accesses panels not by their rows");
      demand(step.reduction_buffer < 0, "a loop over panels reduces");
    }
  }
  void check_loop(const Step& step) const {
    for (std::int32_t k = 0; k < step.instructions; ++k) {
      const Instruction& ins = plan_.instructions[static_cast<std::size_t>(step.first_instruction + k)];
      if (ins.kind != Instruction::Kind::store && ins.kind != Instruction::Kind::accumulate) continue;
      const Access& a = plan_.accesses[static_cast<std::size_t>(step.first_access + ins.args[0])];
      for (int operand : step.operands) {
        demand(operand < 0 || !same_place(place(operand), place(a.value)),
               "an epilogue overwrites what its kernel reads");
      }
      for (std::int32_t other = 0; other < step.accesses; ++other) {
        const Access& b = plan_.accesses[static_cast<std::size_t>(step.first_access + other)];
        demand(!same_place(place(b.value), place(a.value)) || b.mode == a.mode,
               "a loop reads elsewhere what it overwrites");
      }
    }
  }

  const Stages& s_;
  const Plan& plan_;
  Dims dims_;
  ConstexprVector<PlacedSlot> arena_;
  std::map<Place, Cell> memory_;
  std::vector<Touched> since_;
  std::map<const Op*, testing::ElementRule> elements_ = testing::element_rules();
  std::map<const Op*, testing::KernelRule> kernels_ = testing::kernel_rules();
};

}  // namespace crochet
