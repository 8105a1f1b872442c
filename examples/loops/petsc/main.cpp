// SPDX-License-Identifier: Apache-2.0
// A loop of PETSc TS under crochet's hooks: a front that travels along a line (Fisher's equation), with a Rosenbrock
// method of adaptive step size.
//
// The step is TSStep. A method of one step has no history: state are the vector's elements, the time and the step size
// that TS has chosen. resume() passes the last two to TS; the elements are restored in place.
#include <petscts.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../program.hpp"

using namespace crochet::literals;

/// u_t = u_xx + u (1 - u) at points with distance 1; u = 1 at the left end, no flow at the right one.
class Front {
 public:
  static constexpr PetscInt n = 200;
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 1e-3;

  Front() {
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, field.data(), &vector_));
    check(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, nullptr, &matrix_));
    check(TSCreate(PETSC_COMM_SELF, &ts_));
    check(TSSetType(ts_, TSROSW));
    check(TSSetRHSFunction(ts_, nullptr, slope, nullptr));
    check(TSSetRHSJacobian(ts_, matrix_, matrix_, jacobian, nullptr));
    check(TSSetMaxTime(ts_, 1e300)), check(TSSetMaxSteps(ts_, PETSC_MAX_INT));
    check(TSSetExactFinalTime(ts_, TS_EXACTFINALTIME_STEPOVER));
    check(TSSetTolerances(ts_, 1e-6, nullptr, 1e-6, nullptr));
    TSAdapt adapt = nullptr;
    check(TSGetAdapt(ts_, &adapt)), check(TSAdaptSetStepLimits(adapt, 1e-9, 0.08));
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = std::exp(-0.5 * static_cast<double>(i));
    resume();
  }
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  ~Front() { TSDestroy(&ts_), MatDestroy(&matrix_), VecDestroy(&vector_); }

  static void check(PetscErrorCode status) {
    if (status != 0) throw crochet::Error("PETSc failed: " + std::to_string(status));
  }
  static PetscErrorCode slope(TS /*ts*/, PetscReal /*time*/, Vec values, Vec slopes, void* /*user*/) {
    const PetscScalar* u = nullptr;
    PetscScalar* out = nullptr;
    check(VecGetArrayRead(values, &u)), check(VecGetArray(slopes, &out));
    for (PetscInt i = 0; i < n; ++i) {
      const double left = i == 0 ? 1 : u[i - 1], right = i + 1 < n ? u[i + 1] : u[i];
      out[i] = left - 2 * u[i] + right + u[i] * (1 - u[i]);
    }
    check(VecRestoreArrayRead(values, &u)), check(VecRestoreArray(slopes, &out));
    return 0;
  }
  static PetscErrorCode jacobian(TS /*ts*/, PetscReal /*time*/, Vec values, Mat matrix, Mat /*same*/, void* /*user*/) {
    const PetscScalar* u = nullptr;
    check(VecGetArrayRead(values, &u));
    for (PetscInt i = 0; i < n; ++i) {
      const PetscInt columns[]{i - 1, i, i + 1 < n ? i + 1 : -1};  // negative ones are left out
      const PetscScalar row[]{1, (i + 1 < n ? -2 : -1) + 1 - 2 * u[i], 1};
      check(MatSetValues(matrix, 1, &i, 3, columns, row, INSERT_VALUES));
    }
    check(VecRestoreArrayRead(values, &u));
    check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY)), check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    return 0;
  }

  void resume() {
    PetscScalar* elements = nullptr;  // the pair marks them as changed
    check(VecGetArray(vector_, &elements)), check(VecRestoreArray(vector_, &elements));
    check(TSSetSolution(ts_, vector_));
    check(TSSetTime(ts_, time)), check(TSSetTimeStep(ts_, dt));
  }
  void advance() {
    check(TSStep(ts_));
    check(TSGetTime(ts_, &time)), check(TSGetTimeStep(ts_, &dt));
  }
  /// The part of the line that the front has not reached.
  double loss() const {
    double sum = 0;
    for (const double value : field) sum += 1 - value;
    return sum / static_cast<double>(n);
  }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">, crochet::variable<"u">(field),
                                 crochet::variable<"time">(time), crochet::variable<"dt">(dt)};
  }

  PetscReal time = 0, dt = 1e-3;
  std::vector<PetscScalar> field = std::vector<PetscScalar>(n);  // the memory of vector_

 private:
  TS ts_ = nullptr;
  Mat matrix_ = nullptr;
  Vec vector_ = nullptr;
};

int main(int argc, char** argv) {
  if (PetscInitializeNoArguments() != 0) return 1;
  const int status = loops::program<Front>(argc, argv);
  PetscFinalize();
  return status;
}
