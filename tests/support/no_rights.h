#pragma once

#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {

// Drops root privileges during its lifetime, so that file modes apply to a test that
// runs as root.
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
