#include <cstdio>

#include "stoker/stoker.h"

int main() {
  stoker::Loader loader(stoker::Dataset::range({.stop = 10}).batch({.batch_size = 3}));
  int batches = 0;
  for ([[maybe_unused]] auto& batch : loader) ++batches;
  std::printf("%d batches\n", batches);
  return batches == 4 ? 0 : 1;
}
