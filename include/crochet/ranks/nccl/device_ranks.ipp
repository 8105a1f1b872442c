// SPDX-License-Identifier: Apache-2.0
// The functions of NCCL that are used, as in nccl.h
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html), without that header.
#pragma once
#include <cstring>
#include <exception>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/shared_library.ipp>
#include <crochet/ranks/nccl/device_ranks.hpp>

namespace crochet::detail {

/// ncclUniqueId: a parameter by value.
struct NcclId {
  char internal[sizeof(NcclRanks::Id)];
};

struct NcclFunctions {
  using Result = int;
  using Ranks = void*;

  static constexpr int float32 = 7, float64 = 8;  // ncclDataType_t
  static constexpr int sum = 0;                   // ncclRedOp_t
  static constexpr int scalar_of_host = 1;        // ncclScalarHostImmediate
  static constexpr Result invalid_usage = 5;

  const cuda::SharedLibrary library{"libnccl.so.2", "libnccl.so"};
  const char* (*error_text)(Result) = nullptr;
  Result (*make_id)(NcclId*) = nullptr;
  Result (*join)(Ranks*, int size, NcclId, int rank) = nullptr;
  Result (*leave)(Ranks) = nullptr;
  Result (*abort)(Ranks) = nullptr;
  Result (*make_scaled_sum)(int* operation, void* factor, int type, int scalar, Ranks) = nullptr;
  Result (*free_operation)(int operation, Ranks) = nullptr;
  Result (*all_reduce)(const void*, void*, std::size_t, int type, int operation, Ranks, void* stream) = nullptr;
  bool complete = false;

  NcclFunctions()
      : complete(library.find("ncclGetErrorString", error_text) && library.find("ncclGetUniqueId", make_id) &&
                 library.find("ncclCommInitRank", join) && library.find("ncclCommDestroy", leave) &&
                 library.find("ncclCommAbort", abort) && library.find("ncclRedOpCreatePreMulSum", make_scaled_sum) &&
                 library.find("ncclRedOpDestroy", free_operation) && library.find("ncclAllReduce", all_reduce)) {}
};

CROCHET_INLINE const NcclFunctions& nccl() {
  static const NcclFunctions functions;
  if (functions.complete) return functions;
  throw DeviceError("crochet: this machine has no NCCL since 2.11 (" +
                    (functions.library ? std::string("libnccl.so.2 lacks a function") : functions.library.reason()) +
                    "). Install the package libnccl2 of NVIDIA, or nvidia-nccl-cu13 of PyPI and add its folder lib to "
                    "LD_LIBRARY_PATH; or give Parallel the ranks without Nccl");
}
CROCHET_INLINE void check_nccl(int code, const char* what) {
  if (code == 0) return;
  std::string text = std::string("crochet: NCCL cannot ") + what + ": " + nccl().error_text(code);
  if (code == NcclFunctions::invalid_usage)
    text += ". Give each rank a GPU of its own: Cuda{.device = ranks.local_rank()}";
  throw DeviceError(text);
}

CROCHET_INLINE void NcclRanks::require() { nccl(); }

CROCHET_INLINE NcclRanks::Id NcclRanks::make_id() {
  NcclId id{};
  check_nccl(nccl().make_id(&id), "make an id for the ranks");
  Id bytes;
  std::memcpy(bytes.data(), id.internal, bytes.size());
  return bytes;
}

CROCHET_INLINE NcclRanks::NcclRanks(const Id& id, int rank, int size) {
  NcclId of_all{};
  std::memcpy(of_all.internal, id.data(), id.size());
  check_nccl(nccl().join(&ranks_, size, of_all, rank), "connect the GPUs of the ranks");
}
// ncclCommDestroy may wait for what is queued, and then for other ranks.
CROCHET_INLINE NcclRanks::~NcclRanks() {
  if (std::uncaught_exceptions() > 0) abort();
  if (ranks_ != nullptr) nccl().leave(ranks_);
}

CROCHET_INLINE void NcclRanks::sum(const void* from, void* to, std::int64_t n, DType type, double factor,
                                   void* stream) {
  const bool is_double = type == DType::float64;
  const int of = is_double ? NcclFunctions::float64 : NcclFunctions::float32;
  float single = static_cast<float>(factor);
  int operation = NcclFunctions::sum;
  if (factor != 1) {
    void* const scalar = is_double ? static_cast<void*>(&factor) : &single;
    check_nccl(nccl().make_scaled_sum(&operation, scalar, of, NcclFunctions::scalar_of_host, ranks_), "weight a sum");
  }
  const int code = nccl().all_reduce(from, to, static_cast<std::size_t>(n), of, operation, ranks_, stream);
  if (factor != 1) nccl().free_operation(operation, ranks_);
  check_nccl(code, "sum over the GPUs of the ranks");
}

CROCHET_INLINE void NcclRanks::abort() noexcept {
  if (ranks_ != nullptr) nccl().abort(ranks_);
  ranks_ = nullptr;
}

}  // namespace crochet::detail
