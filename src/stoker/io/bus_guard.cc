#include "stoker/io/bus_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace stoker {

// A guarded range. The handler reads it without a lock. Places are reused and never freed.
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
  std::vector<std::unique_ptr<const struct sigaction>> replaced;  // never freed: a handler may be reading any of them
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

// Another thread may take or release the range at the same time. The address then belongs to
// another range.
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

// The disposition before this handler was first installed, and the one that it replaced last. They
// differ if another handler was installed after this one. That handler may call this one, which
// must not call it again.
std::atomic<const struct sigaction*> first_action{nullptr};
std::atomic<const struct sigaction*> latest_action{nullptr};

// A signal that a thread has passed on to a handler: one for each handler. No
// thread-local storage: that of a shared library may call malloc at its first use.
struct PassedOn {
  std::atomic<pid_t> thread{0};       // 0: not in use
  std::atomic<uint64_t> returned{0};  // 0: the handler is running; else the fault that it returned from
};
constexpr size_t kMostPassedOn = 256;
PassedOn passed_on[kMostPassedOn];

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// To how many handlers in turn the thread has passed this signal on. A handler that
// returned counts if the thread faults in the same state again: it fixed nothing.
// Forgets those that returned from another fault.
int times_passed_on(pid_t thread, uint64_t fault) {
  int times = 0;
  for (PassedOn& one : passed_on) {
    if (one.thread.load(std::memory_order_relaxed) != thread) continue;
    const uint64_t returned = one.returned.load(std::memory_order_relaxed);
    if (returned == 0 || returned == fault)
      ++times;
    else
      one.thread.store(0, std::memory_order_relaxed);
  }
  return times;
}

// Where all places are in use, by threads that have ended, one of them goes.
void note_passed_on(pid_t thread) {
  PassedOn* mine = &passed_on[static_cast<size_t>(thread) % kMostPassedOn];
  for (PassedOn& one : passed_on)
    if (pid_t none = 0; one.thread.compare_exchange_strong(none, thread, std::memory_order_relaxed)) {
      mine = &one;
      break;
    }
  mine->returned.store(0, std::memory_order_relaxed);
  mine->thread.store(thread, std::memory_order_relaxed);
}

// The handlers have returned from the fault, or from a signal that was sent: 0.
void note_returned(pid_t thread, uint64_t fault) {
  for (PassedOn& one : passed_on) {
    if (one.thread.load(std::memory_order_relaxed) != thread) continue;
    one.returned.store(fault, std::memory_order_relaxed);
    if (fault == 0) one.thread.store(0, std::memory_order_relaxed);
  }
}

// Whether the faulting instruction runs again when the handler returns.
bool is_repeated(const siginfo_t& info) {
  return info.si_code == BUS_ADRALN || info.si_code == BUS_ADRERR || info.si_code == BUS_OBJERR ||
         info.si_code == BUS_MCEERR_AR;
}

// Identifies a fault by its address and by the registers of the thread. They are the
// same again if the instruction runs again and nothing was fixed. 0 for a signal
// that was sent.
uint64_t fault_of(const siginfo_t& info, const void* context) {
  if (!is_repeated(info)) return 0;
  uint64_t hash = reinterpret_cast<uintptr_t>(info.si_addr);
  const mcontext_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&registers);
  for (size_t i = 0; i < sizeof(registers); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash | 1;
}

// Does what the kernel does without a handler. A signal that was sent, and not caused by an
// instruction that runs again, is raised again; it is delivered when the handler returns.
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
  const uint64_t fault = fault_of(*info, context);
  const int level = times_passed_on(thread, fault);
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
  // If a handler restores the previous disposition and raises the signal again, as Python's
  // faulthandler does, the raised signal goes to the previous handler.
  if (!is_pending(signal)) note_returned(thread, fault);
}

// Returns false if the missing page is not in a guarded range.
bool fill_hole(const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  Place* place = info.si_code == BUS_ADRERR ? place_of(address) : nullptr;
  if (!place) return false;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* hole = static_cast<char*>(info.si_addr) - address % page;
  // A system call, not mmap(): the thread sanitizer counts that as a write, which races with the
  // threads that read the page. They may; what they read is discarded (MappedFile::was_cut).
  if (syscall(SYS_mmap, hole, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1) return false;
  place->hole.store(true, std::memory_order_release);
  return true;
}

// Calls only async-signal-safe functions and takes no lock.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int number = errno;
  if (!fill_hole(*info)) pass_on(signal, info, context);
  errno = number;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_bus_error;
}

// Installs this handler, also if another one has replaced it.
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

void BusGuard::reinstall() {
  struct sigaction now = {};
  if (sigaction(SIGBUS, nullptr, &now) != 0 || is_ours(now)) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  install(all);
}

bool BusGuard::met_a_hole() const { return place_->hole.load(std::memory_order_acquire); }

}  // namespace stoker
