// The program stoker-bench NAME [FLAGS], which runs one benchmark of this folder.
#include "bench/pipelines/report.h"

int main(int argc, char** argv) {
  using namespace stoker::bench;
  const std::map<std::string, RunBenchmark>& all = benchmarks();
  const auto found = argc > 1 ? all.find(argv[1]) : all.end();
  if (found == all.end()) {
    std::fprintf(stderr, "stoker-bench NAME [--quick] [--json FILE] [--workers 2,8,15]; the names:\n");
    for (const auto& [name, run] : all) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
  }
  Report report(argc, argv, found->first);
  return found->second(report);
}
