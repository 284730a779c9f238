#include "stoker/io/bus_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <mutex>

namespace stoker {
namespace {

// What the handler may look at: it takes no lock.
struct Place {
  std::atomic<uintptr_t> begin{0};  // 0: free
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> hole{false};
};
constexpr int kPlaces = 4096;
Place places[kPlaces];
std::atomic<int> used{0};  // places beyond were never taken
struct sigaction before;

Place* place_of(uintptr_t address) {
  for (int i = 0; i < used.load(std::memory_order_acquire); ++i) {
    Place& place = places[i];
    const uintptr_t begin = place.begin.load(std::memory_order_acquire);
    if (begin != 0 && begin <= address && address < place.end.load(std::memory_order_relaxed)) return &place;
  }
  return nullptr;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // The access is made again and ends the process, as it would have.
  std::signal(SIGBUS, SIG_DFL);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Place* place = info->si_code == BUS_ADRERR ? place_of(address) : nullptr;
  if (!place) return pass_on(signal, info, context);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* hole = static_cast<char*>(info->si_addr) - address % page;
  if (mmap(hole, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return pass_on(signal, info, context);
  place->hole.store(true, std::memory_order_release);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

std::mutex& places_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

BusGuard::BusGuard(const void* begin, size_t bytes) {
  static const bool installed = (install(), true);
  (void)installed;
  const std::lock_guard lock(places_mutex());
  for (int i = 0; i < kPlaces; ++i) {
    if (places[i].begin.load(std::memory_order_relaxed) != 0) continue;
    const auto first = reinterpret_cast<uintptr_t>(begin);
    places[i].hole.store(false, std::memory_order_relaxed);
    places[i].end.store(first + bytes, std::memory_order_relaxed);
    places[i].begin.store(first, std::memory_order_release);
    if (used.load(std::memory_order_relaxed) <= i) used.store(i + 1, std::memory_order_release);
    place_ = i;
    return;
  }
}

BusGuard::~BusGuard() {
  if (place_ < 0) return;
  const std::lock_guard lock(places_mutex());
  places[place_].begin.store(0, std::memory_order_release);
}

bool BusGuard::met_a_hole() const { return place_ >= 0 && places[place_].hole.load(std::memory_order_acquire); }

}  // namespace stoker
