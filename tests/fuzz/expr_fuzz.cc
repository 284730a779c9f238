// Any text that is a valid function runs on a small run without a crash, gives the same result for
// rows in a block and for separate rows, and is serialized so that it parses to the same function.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/graph/expr.h"
#include "tests/support/ops_registry.h"

namespace stoker {
namespace {

constexpr int32_t kRows = 3;

Array rows_of_floats() {
  return Array::from(std::vector<float>{0, -1.5f, 1e30f, 7, 8, 9}).reshaped(std::vector<int64_t>{3, 2});
}

Run small_run(int fields, bool dense) {
  Columns columns{Column(Array::from(std::vector<int64_t>{0, 7, -3})), Column(rows_of_floats()),
                  Column(Array::from(std::vector<std::string>{"", "cat", "\xff"}))};
  columns.resize(static_cast<size_t>(fields), columns[0]);
  Run run;
  run.size = kRows;
  run.nest = fields == 1 ? Nest::leaf() : Nest::tuple_of_leaves(static_cast<size_t>(fields));
  run.origins = Origins(0, 0, 0, kRows);
  for (Column& column : columns) {
    if (dense) {
      run.columns.push_back(std::move(column));
      continue;
    }
    Arrays rows;
    for (int32_t i = 0; i < kRows; ++i) rows.push_back(column.row(i));
    run.columns.emplace_back(std::move(rows));
  }
  return run;
}

// Large results are not tested here: an outer product of outer products only needs memory.
bool too_large(const Json& json) {
  if (const int64_t* i = json.as<int64_t>()) return *i > 64 || *i < -64;
  if (const Json::List* list = json.as<Json::List>()) {
    for (const Json& item : *list)
      if (too_large(item)) return true;
  } else if (const Json::Dict* dict = json.as<Json::Dict>()) {
    for (const auto& [key, item] : *dict)
      if (too_large(item)) return true;
  }
  return false;
}

void run_one(std::string_view text) {
  if (text.size() > 4096) return;
  const Result<Json> json = parse_json(text);
  if (!json || too_large(*json)) return;
  static const OpsRegistry registry;
  ReadContext context;
  context.registry = &registry;
  const auto program = Program::from_json(*json, context);
  if (!program || (*program)->arguments() > 3 || (*program)->waits()) return;
  (void)(*program)->describe();
  const int fields = (*program)->arguments();

  Run dense = small_run(fields, true), apart = small_run(fields, false);
  Spec before{dense.nest, {}};
  for (const Column& column : dense.columns) {
    const Array row = column.row(0);
    before.leaves.push_back({row.type(), std::vector<int64_t>(row.shape().begin(), row.shape().end())});
  }
  const Result<Spec> spec = (*program)->spec(before);
  Context one, other;
  const bool done = (*program)->apply(dense, one).ok();
  const bool done_apart = (*program)->apply(apart, other).ok();
  if (done && done_apart) {
    STOKER_CHECK(dense.failed.size() == apart.failed.size());
    for (int32_t i = 0; i < kRows; ++i) {
      STOKER_CHECK((dense.failure_of(i) == nullptr) == (apart.failure_of(i) == nullptr));
      if (dense.failure_of(i)) continue;
      STOKER_CHECK(dense.element(i) == apart.element(i));
      STOKER_CHECK(spec && common(*spec, dense.element(i).spec()));
    }
  }

  WriteContext write;
  const Result<Json> written = (*program)->to_json(write);
  if (!written) return;  // an array is too large to be inline
  const auto again = Program::from_json(*written, context);
  STOKER_CHECK(again.ok());
  WriteContext write_again;
  STOKER_CHECK((*again)->to_json(write_again).value().text() == written->text());
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stoker::run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
