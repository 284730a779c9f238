#pragma once

#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {

// While it lives, a test run by root is nobody: file modes count.
class NoRights {
 public:
  NoRights() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0) STOKER_CHECK(seteuid(kNobody) == 0);
  }
  ~NoRights() {
    if (user_ == 0) STOKER_CHECK(seteuid(0) == 0);
  }
  NoRights(const NoRights&) = delete;
  NoRights& operator=(const NoRights&) = delete;

 private:
  const uid_t user_;
};

}  // namespace stoker
