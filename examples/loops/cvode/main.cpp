// SPDX-License-Identifier: Apache-2.0
// A loop of SUNDIALS CVODE under crochet's hooks: a front that travels along a line (Fisher's equation), with BDF.
//
// The step is one internal step of CVODE (CV_ONE_STEP). Its history of earlier steps can be neither read nor set, so it
// is not in a checkpoint. Instead the method begins anew every `period` steps, and the state is that of its last
// beginning and the number of steps since: resume() makes these again. They give the same bits.
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../program.hpp"

using namespace crochet::literals;

/// u_t = u_xx + u (1 - u) at points with distance 1; u = 1 at the left end, no flow at the right one.
struct Front {
  static constexpr sunindextype n = 200;
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 1e-3;
  static constexpr std::int64_t period = 200;
  static constexpr double longest = 0.08;  // of a step, so that the steps are many

  Front() : u0(n) {
    for (std::size_t i = 0; i < u0.size(); ++i) u0[i] = std::exp(-0.5 * static_cast<double>(i));
    resume();
  }

  static int slope(double /*time*/, N_Vector values, N_Vector slopes, void* /*user*/) {
    const std::span<const double> u(N_VGetArrayPointer(values), n);
    double* out = N_VGetArrayPointer(slopes);
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double left = i == 0 ? 1 : u[i - 1], right = i + 1 < u.size() ? u[i + 1] : u[i];
      out[i] = left - 2 * u[i] + right + u[i] * (1 - u[i]);
    }
    return 0;
  }
  static void check(int status, const char* call) {
    if (status < 0) throw crochet::Error(std::string(call) + " failed: " + std::to_string(status));
  }

  /// Begins at (t0, u0) and makes the steps since.
  void resume() {
    begin();
    for (std::int64_t i = 0; i < since; ++i) internal_step();
  }
  void begin() {
    std::copy(u0.begin(), u0.end(), N_VGetArrayPointer(u.get()));
    check(CVodeReInit(cvode.get(), time = t0, u.get()), "CVodeReInit");
  }
  void internal_step() { check(CVode(cvode.get(), time + 1, u.get(), &time, CV_ONE_STEP), "CVode"); }
  void advance() {
    if (since == period) {
      const std::span<const double> now = field();
      u0.assign(now.begin(), now.end()), t0 = time, since = 0;
      begin();
    }
    internal_step();
    ++since;
  }
  std::span<const double> field() const { return {N_VGetArrayPointer(u.get()), n}; }
  /// The part of the line that the front has not reached.
  double loss() const {
    double sum = 0;
    for (const double value : field()) sum += 1 - value;
    return sum / static_cast<double>(n);
  }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">, crochet::variable<"u0">(u0),
                                 crochet::variable<"t0">(t0), crochet::variable<"since">(since)};
  }

  std::vector<double> u0;
  double t0 = 0, time = 0;
  std::int64_t since = 0;
  sundials::Context context{};
  std::unique_ptr<_generic_N_Vector, void (*)(N_Vector)> u{N_VNew_Serial(n, context), N_VDestroy};
  std::unique_ptr<_generic_SUNMatrix, void (*)(SUNMatrix)> matrix{SUNBandMatrix(n, 1, 1, context), SUNMatDestroy};
  std::unique_ptr<_generic_SUNLinearSolver, int (*)(SUNLinearSolver)> solver{
      SUNLinSol_Band(u.get(), matrix.get(), context), SUNLinSolFree};
  std::unique_ptr<void, void (*)(void*)> cvode{create(), [](void* memory) { CVodeFree(&memory); }};

 private:
  void* create() {
    void* memory = CVodeCreate(CV_BDF, context);
    check(memory == nullptr ? -1 : CVodeInit(memory, slope, 0, u.get()), "CVodeInit");
    check(CVodeSStolerances(memory, 1e-6, 1e-9), "CVodeSStolerances");
    check(CVodeSetLinearSolver(memory, solver.get(), matrix.get()), "CVodeSetLinearSolver");
    check(CVodeSetMaxStep(memory, longest), "CVodeSetMaxStep");
    return memory;
  }
};

int main(int argc, char** argv) { return loops::program<Front>(argc, argv); }
