// SPDX-License-Identifier: Apache-2.0
// The compiled half of executor/cuda, hooks/cuda and ranks/nccl.
#include <crochet/executor/cuda/cubin_cache.ipp>
#include <crochet/executor/cuda/device_headers.ipp>
#include <crochet/executor/cuda/driver.ipp>
#include <crochet/executor/cuda/nvrtc.ipp>
#include <crochet/executor/cuda/plan_compiler.ipp>
#include <crochet/executor/cuda/plan_text.ipp>
#include <crochet/executor/cuda/shared_library.ipp>
#include <crochet/executor/cuda/timing_events.ipp>
#include <crochet/hooks/cuda/nvml.ipp>
#include <crochet/hooks/cuda/nvtx.ipp>
#include <crochet/ranks/nccl/device_ranks.ipp>
