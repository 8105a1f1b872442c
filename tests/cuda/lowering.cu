// SPDX-License-Identifier: Apache-2.0
// One lowering for both devices: a plan's programs are types, and here the same types become CUDA kernels. Without a
// GPU the kernels are only compiled, and lowering.cmake checks their code. The programs also run on the host, element
// by element as the threads of a GPU would, and must agree with the CPU executor.
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/step_memory.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "models.hpp"

using namespace crochet;  // NOLINT(google-build-using-namespace)

namespace {

// The kernels.

/// An elementwise step: a thread for each element.
template <class P, class R>
__global__ void loop_kernel(R refs, std::int64_t rows, std::int64_t columns) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < rows * columns) kernel::element(P{}, refs, at / columns, at % columns);
}

/// The same type without aliases: nvcc 13 writes aliases in mangled form into the host code, which then does not
/// compile.
template <class T>
struct Plain;
template <class... I>
struct Plain<kernel::Program<I...>> {
  using type = kernel::Program<I...>;
};
template <class Indices, class... R>
struct Plain<kernel::RefSlots<Indices, R...>> {
  using type = kernel::RefSlots<Indices, R...>;
};
template <class T, class P, class R>
struct Plain<kernel::Epilogue<T, P, R>> {
  using type = kernel::Epilogue<T, typename Plain<P>::type, typename Plain<R>::type>;
};
template <class P, class R>
void launch_loop(R refs, std::int64_t rows, std::int64_t columns) {
  const auto blocks = static_cast<unsigned>((rows * columns + 127) / 128);
  loop_kernel<typename Plain<P>::type, typename Plain<R>::type><<<blocks, 128>>>(refs, rows, columns);
}

/// The only accumulation of a loop that ends in a reduction.
template <class P>
struct Accumulation;
template <class First, class... Rest>
struct Accumulation<kernel::Program<First, Rest...>> : Accumulation<kernel::Program<Rest...>> {};
template <class T, const Op* O, int A, int From, class... Rest>
struct Accumulation<kernel::Program<kernel::Accumulate<T, O, A, From>, Rest...>> {
  using type = T;
  using Reduction = kernel::Reduction<O>;
  using How = typename Reduction::How;
  using Total = kernel::sum_t<How, T>;
  static constexpr int access = A;
};

/// The accumulator of one thread.
template <class A>
struct Sink {
  typename A::Total total = A::How::template nothing<typename A::Total>;

  template <int Access, class V>
  CROCHET_HOST_DEVICE void add(const V (&v)[1]) {
    static_assert(Access == A::access, "one accumulation a loop");
    total = A::How::join(total, static_cast<typename A::Total>(v[0]));
  }
};

/// The accumulated elements first, first + stride, ... of a loop.
template <class P, class R>
CROCHET_HOST_DEVICE auto total_of(const R& refs, std::int64_t rows, std::int64_t columns, std::int64_t first,
                                  std::int64_t stride) {
  constexpr const char* no_root = nullptr;
  Sink<Accumulation<P>> sink;
  for (std::int64_t at = first; at < rows * columns; at += stride) {
    kernel::evaluate<1, 1>(P{}, refs, at / columns, at % columns, no_root, sink);
  }
  return sink.total;
}
template <class P, class R, class Total>
CROCHET_HOST_DEVICE void finish_total(const R& refs, std::int64_t n, Total total) {
  using A = Accumulation<P>;
  *kernel::ref<A::access>(refs).data = A::Reduction::template finish<typename A::type>(total, n);
}

/// A loop that reduces all elements to one: a single block, in a fixed order.
template <class P, class R>
__global__ void gather_kernel(R refs, std::int64_t rows, std::int64_t columns) {
  using How = typename Accumulation<P>::How;
  __shared__ typename Accumulation<P>::Total part[256];
  part[threadIdx.x] = total_of<P>(refs, rows, columns, threadIdx.x, blockDim.x);
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = How::join(part[threadIdx.x], part[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) finish_total<P>(refs, rows * columns, part[0]);
}

/// A reduction of [outer, n] with the step's epilogue: one block per result. Sums are accumulated in a fixed order.
template <class How, class T, class Epilogue>
__global__ void reduce_kernel(const T* in, std::int64_t n, double scale, Epilogue epilogue) {
  using Total = kernel::total_t<T>;
  __shared__ Total part[256];
  Total mine = How::template nothing<Total>;
  const T* const row = in + blockIdx.x * n;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) mine = How::join(mine, static_cast<Total>(row[i]));
  part[threadIdx.x] = mine;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = How::join(part[threadIdx.x], part[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) epilogue.element(0, blockIdx.x, static_cast<T>(part[0] * scale));
}

template <class P, class R>
void launch_gather(R refs, std::int64_t rows, std::int64_t columns) {
  gather_kernel<typename Plain<P>::type, typename Plain<R>::type><<<1, 256>>>(refs, rows, columns);
}

template <class How, class T, class Epilogue>
void launch_reduce(const T* in, std::int64_t results, std::int64_t n, double scale, Epilogue epilogue) {
  const auto blocks = static_cast<unsigned>(results);
  reduce_kernel<How, T, typename Plain<Epilogue>::type><<<blocks, 256>>>(in, n, scale, epilogue);
}

// A plan, step by step, on either device.

bool there_is_a_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// Zeroed memory that both devices can access; host memory if there is no GPU.
std::byte* memory(std::size_t bytes) {
  void* p = nullptr;
  bytes = (bytes + 63) / 64 * 64 + 64;
  if (!there_is_a_gpu() || cudaMallocManaged(&p, bytes) != cudaSuccess) p = std::malloc(bytes);
  return static_cast<std::byte*>(std::memset(p, 0, bytes));  // never freed: the program is short
}
template <class T>
T* memory(const std::vector<T>& from) {
  return static_cast<T*>(std::memcpy(memory(from.size() * sizeof(T)), from.data(), from.size() * sizeof(T)));
}

template <class Model, class D>
class StepByStep {
  using T = cpu::Tables<cpu::DeviceTraits{}, Model>;
  using Planned = cpu::Planned<T, D>;
  using Lowering = cpu::Lowering<T, Planned, void>;  // no policy for products: these models have none
  using Memory = cpu::StepMemory<T, Planned>;
  static constexpr const auto& plan = Planned::plan;

 public:
  explicit StepByStep(std::int64_t batch) {
    frame_.dims.fill(batch);
    frame_.variables = memory(T::offsets.back());
    for (std::size_t s = 0; s < plan.slot_count; ++s) {
      frame_.slots[s] = memory(static_cast<std::size_t>(plan.slots[s].bytes.at(frame_.dims)));
    }
  }
  template <class N>
  void feed(const std::vector<float>& numbers) {
    frame_.placeholders[static_cast<std::size_t>(T::template node_id<N>)] = memory(numbers);
  }
  template <class N, class E>
  E* variable() {
    return reinterpret_cast<E*>(frame_.variables + T::offsets[static_cast<std::size_t>(T::template node_id<N>)]);
  }
  template <std::size_t I>
  const float* fetched() const {
    return static_cast<const float*>(Memory::template address<plan.fetched[I]>(frame_));
  }

  void run_on_host() {
    each_step([this]<std::size_t S>() { on_host<S>(); });
  }
  /// False if there is no GPU. The kernels are compiled in any case.
  bool run_on_gpu() {
    if (!there_is_a_gpu()) return false;
    each_step([this]<std::size_t S>() { on_gpu<S>(); });
    return cudaDeviceSynchronize() == cudaSuccess;
  }

 private:
  template <std::size_t S>
  using Program = typename cpu::StepTypes<Planned>::template program_of<S>;

  template <class F>
  static void each_step(F f) {
    [&]<std::size_t... S>(std::index_sequence<S...>) { (f.template operator()<S>(), ...); }
    (std::make_index_sequence<plan.step_count>{});
  }

  /// A reduction of trailing axes: the number of results, the elements per result, and the scale.
  struct Reduction {
    const float* in;
    std::int64_t results, n;
    double scale;
  };
  template <std::size_t S>
  Reduction reduction() const {
    static constexpr Step s = plan.steps[S];
    static_assert(s.root == &op::reduce_sum || s.root == &op::reduce_mean, "a model of this test has another kernel");
    static constexpr Shape in = plan.values[s.operands[0]].shape, out = plan.values[s.root_value].shape;
    const std::int64_t results = out.size().at(frame_.dims), n = in.size().at(frame_.dims) / results;
    const auto* from = static_cast<const float*>(Memory::template address<s.operands[0]>(frame_));
    return {from, results, n, s.root == &op::reduce_mean ? 1.0 / static_cast<double>(n) : 1.0};
  }
  template <std::size_t S>
  auto epilogue() const {
    const auto refs = Memory::template refs_of<S>(frame_);
    return kernel::Epilogue<float, Program<S>, std::remove_const_t<decltype(refs)>>(refs);
  }

  template <std::size_t S>
  void on_host() {
    static constexpr Step s = plan.steps[S];
    static constexpr Extent rows_of = s.rows, columns_of = s.columns;
    if constexpr (s.reduction_buffer >= 0) {
      const std::int64_t rows = rows_of.at(frame_.dims), columns = columns_of.at(frame_.dims);
      const auto refs = Memory::template refs_of<S>(frame_);
      finish_total<Program<S>>(refs, rows * columns, total_of<Program<S>>(refs, rows, columns, 0, 1));
    } else if constexpr (s.root == nullptr) {
      const auto refs = Memory::template refs_of<S>(frame_);
      for (std::int64_t i = 0; i < rows_of.at(frame_.dims); ++i) {
        for (std::int64_t j = 0; j < columns_of.at(frame_.dims); ++j) kernel::element(Program<S>{}, refs, i, j);
      }
    } else {
      const Reduction r = reduction<S>();
      for (std::int64_t k = 0; k < r.results; ++k) {
        double sum = 0;
        for (std::int64_t i = 0; i < r.n; ++i) sum = kernel::Sum::join(sum, static_cast<double>(r.in[k * r.n + i]));
        epilogue<S>().element(0, k, static_cast<float>(sum * r.scale));
      }
    }
  }
  template <std::size_t S>
  void on_gpu() {
    static constexpr Step s = plan.steps[S];
    static constexpr Extent rows_of = s.rows, columns_of = s.columns;
    if constexpr (s.reduction_buffer >= 0) {
      launch_gather<Program<S>>(Memory::template refs_of<S>(frame_), rows_of.at(frame_.dims),
                                columns_of.at(frame_.dims));
    } else if constexpr (s.root == nullptr) {
      const std::int64_t rows = rows_of.at(frame_.dims), columns = columns_of.at(frame_.dims);
      launch_loop<Program<S>>(Memory::template refs_of<S>(frame_), rows, columns);
    } else {
      const Reduction r = reduction<S>();
      launch_reduce<kernel::Sum>(r.in, r.results, r.n, r.scale, epilogue<S>());
    }
  }

  typename Lowering::FrameType frame_{};
};

// The checks.

int failures = 0;

void expect_near(const char* what, const char* where, const std::vector<float>& expected, const float* given) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(expected[i] - given[i]) <= 1e-5F * std::fmax(1.F, std::abs(expected[i]))) continue;
    std::printf("%s on %s: element %zu is %g instead of %g\n", what, where, i, double(given[i]), double(expected[i]));
    ++failures;
    return;
  }
  std::printf("%s on %s: %zu elements agree\n", what, where, expected.size());
}

/// Fetches the named values on the host and on the GPU, with feeds x and b, and compares them.
template <class Model, FixedString... Text>
void check_fetches(const char* what, const std::vector<std::vector<float>>& expected) {
  StepByStep<Model, Demand<Names<Name<Text>...>, Names<>>> plan(lowering::rows);
  plan.template feed<Name<"x">>(lowering::input_x());
  plan.template feed<Name<"b">>(lowering::input_b());
  const auto compare = [&]<std::size_t... I>(const char* where, std::index_sequence<I...>) {
    (expect_near(what, where, expected[I], plan.template fetched<I>()), ...);
  };
  plan.run_on_host();
  compare("the host", std::make_index_sequence<sizeof...(Text)>{});
  if (plan.run_on_gpu()) compare("the GPU", std::make_index_sequence<sizeof...(Text)>{});
}

/// Compares the weights after three updates.
void check_update() {
  constexpr int updates = 3;
  const auto repeat = [](const char* where, auto run) {
    StepByStep<lowering::Update, Demand<Names<>, Names<Name<"train">>>> plan(lowering::rows);
    plan.template feed<Name<"x">>(lowering::input_x());
    std::fill_n(plan.template variable<Name<"w">, float>(), lowering::rows * lowering::columns, 1.F);
    *plan.template variable<Name<"beta1_power">, double>() = *plan.template variable<Name<"beta2_power">, double>() = 1;
    for (int i = 0; i < updates; ++i) {
      if (!run(plan)) return;
    }
    expect_near("update", where, lowering::weights_after(updates), plan.template variable<Name<"w">, float>());
  };
  repeat("the host", [](auto& plan) { return plan.run_on_host(), true; });
  repeat("the GPU", [](auto& plan) { return plan.run_on_gpu(); });
}

}  // namespace

int main() {
  check_fetches<lowering::Fused, "h", "y">("group", lowering::fused_on_executor());
  check_fetches<lowering::Mean, "y">("reduction", lowering::mean_on_executor());
  check_update();
  std::printf("%d failures%s\n", failures, there_is_a_gpu() ? "" : "; no GPU here: kernels compiled and not run");
  return failures == 0 ? 0 : 1;
}
