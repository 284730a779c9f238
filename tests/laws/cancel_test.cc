// A loader that is dropped at any element releases its memory.

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Cancel);

// Waits until no memory is held; the law's watch ends an infinite wait.
void expect_nothing_held() {
  while (memory_use().held > 0) std::this_thread::yield();
  EXPECT_EQ(memory_use().held, 0);
}

TEST_P(Cancel, HoldsNoMemoryWhereverTheLoaderIsDropped) {
  for (const Resources& place : {places()[0], places()[3], places()[4]}) {
    WithResources here(place);
    expect_nothing_held();
    for (int64_t k = 0; k < 12; ++k) {
      Loader loader(made());
      (void)text_of_rest(loader, k);
      if (k % 2 == 0) loader.close();
    }
    expect_nothing_held();
  }
}

TEST_P(Cancel, AClosedLoaderIsAtItsEnd) {
  Loader loader(made());
  (void)loader.next();
  loader.close();
  Result<std::optional<Element>> next = loader.next();
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(next->has_value());
  EXPECT_FALSE(loader.save().ok());
}

}  // namespace
}  // namespace stoker
