#include "stoker/transforms/ignore_errors.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(IgnoreErrors{}, numbers(40).then(FailSome{}));

TEST(IgnoreErrors, DropsFailedElements) {
  EXPECT_EQ(values(numbers(6).then(FailSome{}).ignore_errors({})), (Values{0, 1, 2, 4, 5}));
}

}  // namespace
}  // namespace stoker
