// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/executor/cuda/plan_text.hpp>

namespace crochet::cuda {

namespace detail {

CROCHET_INLINE std::string_view spelt(DType type) {
  switch (type) {
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::int32:
      return "std::int32_t";
    case DType::int64:
      return "std::int64_t";
    case DType::uint8:
      return "std::uint8_t";
    case DType::boolean:
      return "bool";
    case DType::bfloat16:
      return "bfloat16";
  }
  return {};
}
CROCHET_INLINE std::string_view spelt(BroadcastMode mode) {
  switch (mode) {
    case BroadcastMode::row:
      return "row";
    case BroadcastMode::column:
      return "column";
    case BroadcastMode::scalar:
      return "scalar";
    default:
      return "full";
  }
}

CROCHET_INLINE std::string_view spelt(MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::fp32:
      return "MatmulPrecision::fp32";
    case MatmulPrecision::tf32:
      return "MatmulPrecision::tf32";
    case MatmulPrecision::bf16:
      return "MatmulPrecision::bf16";
  }
  return {};
}

/// Writes the types of one plan.
class PlanWriter {
 public:
  PlanWriter(const PlanSource& plan, MatmulPrecision precision, int largest_tile)
      : plan_(plan), precision_(precision), largest_tile_(largest_tile) {}

  std::string write() {
    for (const SourceStep& s : plan_.steps) number_of_.push_back(number(code(s)));
    std::string text =
        "#include <crochet/kernels/cuda/device_block.hpp>\n"
        "#include <crochet/kernels/cuda/kernels.hpp>\n"
        "#include <crochet/kernels/cuda/step.hpp>\n"
        "#include <crochet/kernels/cuda/watch.hpp>\n"
        "using namespace crochet;\nusing namespace crochet::cuda;\nusing namespace crochet::kernel;\n";
    for (std::size_t k = 0; k < codes_.size(); ++k) {
      text += "using Code" + std::to_string(k) + " = " + codes_[k] + ";\n";
    }
    if (!plan_.steps.empty()) text += steps();
    return text + kernel();
  }

 private:
  std::string kernel() const {
    return "extern \"C\" __global__ void __launch_bounds__(256, 1) crochet_plan(const __grid_constant__ Launch launch) "
           "{\n"
           "  DeviceBlockOf<" +
           std::string(spelt(precision_)) + ", " + std::to_string(largest_tile_) +
           "> block(launch.barrier);\n"
           "  for (int run = 0; begins_run(block, launch, run); ++run) {\n" +
           (plan_.steps.empty() ? "" : loop()) + "  }\n  block.finish();\n}\n";
  }
  /// A loop over the steps with a call for each code: the compiler takes less time than for a call of each step.
  std::string loop() const {
    std::string text = "    constexpr int count = " + std::to_string(plan_.steps.size()) +
                       ";\n"
                       "#pragma unroll 1\n"
                       "    for (int s = launch.first_step; s < launch.end_step && s < count; ++s) {\n"
                       "      begin_step(block, launch, s, steps[s].barrier);\n"
                       "      switch (steps[s].code) {\n";
    for (std::size_t k = 0; k < codes_.size(); ++k) {
      const std::string number = std::to_string(k);
      text += "        case " + number + ": run_code<Code" + number + ">(block, launch, run, s); break;\n";
    }
    return text + "      }\n    }\n";
  }
  /// The number of its code and its barrier for each step.
  std::string steps() const {
    std::string text;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      text += "  {" + std::to_string(number_of_[s]) + (plan_.steps[s].barrier ? ", true},\n" : ", false},\n");
    }
    return "constexpr struct {\n  int code;\n  bool barrier;\n} steps[] = {\n" + text + "};\n";
  }
  std::size_t number(const std::string& code) {
    for (std::size_t k = 0; k < codes_.size(); ++k) {
      if (codes_[k] == code) return k;
    }
    codes_.push_back(code);
    return codes_.size() - 1;
  }

  std::string code(const SourceStep& s) const {
    const std::string programs = program(s) + ", " + refs(s);
    if (s.root.empty()) {
      return (s.reduces ? "cuda::ReducingLoop<" : s.scalar ? "cuda::Scalars<" : "cuda::Loop<") + programs + ">";
    }
    const std::string kernel = operation(s) + ", " + types(s);
    return s.epilogue ? "FusedKernel<" + kernel + ", " + programs + ">" : "StoringKernel<" + kernel + ">";
  }
  static std::string operation(const SourceStep& s) {
    std::string name = "&op::" + std::string(s.root);
    if (s.root == "batched_matmul") name += "<" + std::to_string(s.rank) + ">";
    return name;
  }
  static std::string types(const SourceStep& s) {
    std::string text = "Types<";
    for (std::int32_t k = 0; k < s.types; ++k) {
      text.append(k == 0 ? "" : ", ").append(spelt(s.dtypes[static_cast<std::size_t>(k)]));
    }
    return text + ">";
  }
  std::string refs(const SourceStep& s) const {
    std::string text = "Refs<";
    for (std::int32_t k = s.first_access; k < s.first_access + s.accesses; ++k) {
      const SourceAccess& a = plan_.accesses[static_cast<std::size_t>(k)];
      text.append(k == s.first_access ? "" : ", ").append("Ref<").append(spelt(a.dtype)).append(", BroadcastMode::");
      text.append(spelt(a.mode)).append(">");
    }
    return text + ">";
  }
  std::string program(const SourceStep& s) const {
    std::string text = "Program<";
    for (std::int32_t k = s.first_instruction; k < s.first_instruction + s.instructions; ++k) {
      text += k == s.first_instruction ? "" : ", ";
      text += instruction(plan_.instructions[static_cast<std::size_t>(k)]);
    }
    return text + ">";
  }
  static std::string instruction(const SourceInstruction& i) {
    using Kind = Instruction::Kind;
    const std::string type(spelt(i.dtype)), op = "&op::" + std::string(i.op);
    const auto arg = [&](std::size_t k) { return ", " + std::to_string(i.args[k]); };
    switch (i.kind) {
      case Kind::root:
        return "Root<" + type + ">";
      case Kind::load:
        return "Load<" + type + arg(0) + ">";
      case Kind::store:
        return "Store<" + type + arg(0) + arg(1) + ">";
      case Kind::accumulate:
        return "Accumulate<" + type + ", " + op + arg(0) + arg(1) + ">";
      case Kind::constant:
        return "Constant<" + type + ", " + std::to_string(std::bit_cast<std::uint64_t>(i.immediate)) + "ULL>";
      case Kind::compute:
        break;
    }
    return "Compute<" + type + ", " + op + arg(0) + ", " + std::string(spelt(i.operand)) + arg(1) + arg(2) + ">";
  }

  const PlanSource& plan_;
  MatmulPrecision precision_;
  int largest_tile_;
  std::vector<std::string> codes_;
  std::vector<std::size_t> number_of_;
};

}  // namespace detail

CROCHET_INLINE std::string gather_text() {
  return "#include <crochet/kernels/cuda/device_block.hpp>\n"
         "#include <crochet/kernels/cuda/gather_rows.hpp>\n"
         "using namespace crochet::cuda;\n"
         "extern \"C\" __global__ void __launch_bounds__(256) crochet_gather(const RowGather* all, int count) {\n"
         "  gather_rows(DeviceBlock(nullptr), all, count);\n"
         "}\n";
}
CROCHET_INLINE std::string plan_text(const PlanSource& plan, MatmulPrecision precision, int largest_tile) {
  return detail::PlanWriter(plan, precision, largest_tile).write();
}

}  // namespace crochet::cuda
