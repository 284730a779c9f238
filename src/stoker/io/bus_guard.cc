#include "stoker/io/bus_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace stoker {

// A guarded range. The handler reads it without a lock; places are reused and
// never freed.
struct BusGuard::Place {
  std::atomic<uintptr_t> begin{0};  // 0: not in use
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> hole{false};
};

namespace {

using Place = BusGuard::Place;

// ---- the guarded ranges

struct Block {
  static constexpr size_t kPlaces = 256;
  Place places[kPlaces];
  Block* next = nullptr;  // constant once the block is published
};
std::atomic<Block*> blocks{nullptr};

struct Registry {
  std::mutex mutex;          // guards what follows and the installation of the handler
  std::vector<Place*> free;  // places not in use
  std::vector<std::unique_ptr<const struct sigaction>> replaced;  // a handler may be reading any of them
};

// Never destroyed: a mapping may outlive every static object.
Registry& registry() {
  static auto* one = new Registry;
  return *one;
}

void add_block(Registry& all) {
  auto block = std::make_unique<Block>();
  all.free.reserve(all.free.size() + Block::kPlaces);
  for (Place& place : block->places) all.free.push_back(&place);
  block->next = blocks.load(std::memory_order_relaxed);
  blocks.store(block.release(), std::memory_order_release);
}

// A range that another thread takes or gives up meanwhile is not the one that holds the address.
bool holds(const Place& place, uintptr_t address) {
  const uintptr_t begin = place.begin.load(std::memory_order_acquire);
  if (begin == 0 || address < begin) return false;
  const bool inside = address < place.end.load(std::memory_order_acquire);
  return inside && place.begin.load(std::memory_order_acquire) == begin;
}

Place* place_of(uintptr_t address) {
  for (Block* block = blocks.load(std::memory_order_acquire); block; block = block->next)
    for (Place& place : block->places)
      if (holds(place, address)) return &place;
  return nullptr;
}

// ---- the signal

// The disposition before ours was first installed, and the one that ours
// replaced last. They differ when another handler was installed after ours; that
// one may pass signals on to ours, which must not send them back to it.
std::atomic<const struct sigaction*> first_action{nullptr};
std::atomic<const struct sigaction*> latest_action{nullptr};

// Threads that pass a signal on, once for each handler they have passed it to. No
// thread-local storage: that of a shared library may call malloc at its first use.
constexpr size_t kMostPassing = 256;
std::atomic<pid_t> passing[kMostPassing];

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

int times_passed_on(pid_t thread) {
  int times = 0;
  for (const std::atomic<pid_t>& one : passing) times += one.load(std::memory_order_relaxed) == thread;
  return times;
}

void note_passed_on(pid_t thread) {
  for (std::atomic<pid_t>& one : passing)
    if (pid_t none = 0; one.compare_exchange_strong(none, thread, std::memory_order_relaxed)) return;
}

void forget_passed_on(pid_t thread) {
  for (std::atomic<pid_t>& one : passing)
    if (one.load(std::memory_order_relaxed) == thread) one.store(0, std::memory_order_relaxed);
}

// Whether the faulting instruction runs again when the handler returns.
bool is_repeated(const siginfo_t& info) {
  return info.si_code == BUS_ADRALN || info.si_code == BUS_ADRERR || info.si_code == BUS_OBJERR ||
         info.si_code == BUS_MCEERR_AR;
}

// What the kernel does without any handler. A signal that was sent, and not caused
// by an instruction that runs again, is sent again; it is delivered on return.
void act_by_default(int signal, const siginfo_t& info, bool ignored) {
  if (ignored && !is_repeated(info)) return;
  std::signal(signal, SIG_DFL);
  if (!is_repeated(info)) raise(signal);
}

bool is_pending(int signal) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const pid_t thread = this_thread();
  const int level = times_passed_on(thread);
  const struct sigaction* to = level == 0   ? latest_action.load(std::memory_order_acquire)
                               : level == 1 ? first_action.load(std::memory_order_acquire)
                                            : nullptr;
  const bool by_default =
      !to || (!(to->sa_flags & SA_SIGINFO) && (to->sa_handler == SIG_DFL || to->sa_handler == SIG_IGN));
  if (by_default) return act_by_default(signal, *info, to && to->sa_handler == SIG_IGN);
  note_passed_on(thread);
  if (to->sa_flags & SA_SIGINFO)
    to->sa_sigaction(signal, info, context);
  else
    to->sa_handler(signal);
  // A handler that restores the disposition before it and raises the signal again, as Python's faulthandler does,
  // is done with it: what it raised goes to the one before.
  if (!is_pending(signal)) forget_passed_on(thread);
}

// False where the missing page is not of a guarded range.
bool fill_hole(const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  Place* place = info.si_code == BUS_ADRERR ? place_of(address) : nullptr;
  if (!place) return false;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* hole = static_cast<char*>(info.si_addr) - address % page;
  if (mmap(hole, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  place->hole.store(true, std::memory_order_release);
  return true;
}

// Calls nothing that is not async-signal-safe, and takes no lock.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int number = errno;
  if (!fill_hole(*info)) pass_on(signal, info, context);
  errno = number;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_bus_error;
}

// Puts our handler in front, also where another one has replaced it since.
void install(Registry& all) {
  struct sigaction now = {};
  if (sigaction(SIGBUS, nullptr, &now) != 0 || is_ours(now)) return;
  const auto& before = all.replaced.emplace_back(std::make_unique<const struct sigaction>(now));
  latest_action.store(before.get(), std::memory_order_release);
  if (!first_action.load(std::memory_order_relaxed)) first_action.store(before.get(), std::memory_order_release);
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

BusGuard::BusGuard(const void* begin, size_t bytes) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  install(all);
  if (all.free.empty()) add_block(all);
  place_ = all.free.back();
  all.free.pop_back();
  const auto first = reinterpret_cast<uintptr_t>(begin);
  place_->hole.store(false, std::memory_order_relaxed);
  place_->end.store(first + bytes, std::memory_order_release);
  place_->begin.store(first, std::memory_order_release);
}

BusGuard::~BusGuard() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  place_->begin.store(0, std::memory_order_release);
  all.free.push_back(place_);
}

bool BusGuard::met_a_hole() const { return place_->hole.load(std::memory_order_acquire); }

}  // namespace stoker
