// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 for tests: the ranks are threads of one process, the memory is the host's, and a sum is made at once.
// The environment variable CROCHET_FAKE_NCCL chooses what fails: join, sum. crochet_fake_nccl_aborts() counts the ranks
// that have given up.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace {

constexpr int invalid_usage = 5, remote_error = 6, float64 = 8;

bool fails(std::string_view what) {
  const char* const wrong = std::getenv("CROCHET_FAKE_NCCL");
  return wrong != nullptr && what == wrong;
}

/// One rank's part of a sum.
struct Part {
  const void* from;
  void* to;
  double factor;
};

/// The ranks of one id.
struct Group {
  explicit Group(int size) : parts(static_cast<std::size_t>(size)) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Part> parts;
  std::size_t come = 0;  ///< to the current sum
  int done = 0;          ///< sums
  bool aborted = false;
};

struct Rank {
  std::shared_ptr<Group> group;
  std::size_t number;
  std::map<int, double> factors;  ///< by operation
  int next_operation = 100;
};

std::mutex mutex;
std::map<int, std::shared_ptr<Group>> groups;
int ids = 0;
std::atomic<int> aborts = 0;

template <class T>
void sum(std::vector<Part>& parts, std::size_t n) {
  std::vector<T> result(n);
  for (const Part& p : parts) {
    for (std::size_t i = 0; i < n; ++i) result[i] += static_cast<T>(p.factor) * static_cast<const T*>(p.from)[i];
  }
  for (const Part& p : parts) std::memcpy(p.to, result.data(), n * sizeof(T));
}

}  // namespace

extern "C" {

struct Id {
  char internal[128];
};

const char* ncclGetErrorString(int code) { return code == invalid_usage ? "invalid usage" : "remote process exited"; }
int ncclGetUniqueId(Id* id) {
  const std::lock_guard lock(mutex);
  ++ids;
  std::memset(id->internal, 0x55, sizeof id->internal);
  std::memcpy(id->internal + sizeof id->internal - sizeof ids, &ids, sizeof ids);  // all bytes have to arrive
  return 0;
}
int ncclCommInitRank(void** rank, int size, Id id, int number) {
  if (fails("join")) return invalid_usage;
  int key = 0;
  std::memcpy(&key, id.internal + sizeof id.internal - sizeof key, sizeof key);
  const std::lock_guard lock(mutex);
  std::shared_ptr<Group>& group = groups[key];
  if (group == nullptr) group = std::make_shared<Group>(size);
  *rank = new Rank{group, static_cast<std::size_t>(number), {}};
  return 0;
}
int ncclCommDestroy(void* rank) {
  delete static_cast<Rank*>(rank);
  return 0;
}
int ncclCommAbort(void* rank) {
  ++aborts;
  auto* const mine = static_cast<Rank*>(rank);
  {
    const std::lock_guard lock(mine->group->mutex);
    mine->group->aborted = true;
    mine->group->changed.notify_all();
  }
  return ncclCommDestroy(rank);
}
int ncclRedOpCreatePreMulSum(int* operation, void* factor, int type, int /*residence*/, void* rank) {
  auto* const mine = static_cast<Rank*>(rank);
  *operation = mine->next_operation++;
  mine->factors[*operation] = type == float64 ? *static_cast<double*>(factor) : double{*static_cast<float*>(factor)};
  return 0;
}
int ncclRedOpDestroy(int operation, void* rank) {
  return static_cast<Rank*>(rank)->factors.erase(operation) == 1 ? 0 : 4;
}
int ncclAllReduce(const void* from, void* to, std::size_t n, int type, int operation, void* rank, void* /*stream*/) {
  if (fails("sum")) return remote_error;
  auto* const mine = static_cast<Rank*>(rank);
  Group& group = *mine->group;
  std::unique_lock lock(group.mutex);
  group.parts[mine->number] = {from, to, operation == 0 ? 1 : mine->factors.at(operation)};
  const int now = group.done;
  if (++group.come == group.parts.size()) {
    type == float64 ? sum<double>(group.parts, n) : sum<float>(group.parts, n);
    group.come = 0;
    ++group.done;
    group.changed.notify_all();
  }
  group.changed.wait(lock, [&] { return group.done != now || group.aborted; });
  return 0;
}
int crochet_fake_nccl_aborts() { return aborts; }

}  // extern "C"
