#include "stoker/runtime/loader_stats.h"

namespace stoker {
namespace {

Json to_json(const HeldStats& held) {
  Json json = Json::dict();
  json.set("stage", held.stage);
  json.set("elements", held.elements);
  json.set("bytes", held.bytes);
  json.set("elements_in_all", held.elements_in_all);
  json.set("drops_what_does_not_fit", held.drops);
  return json;
}

template <typename All>
Json list_of(const All& all) {
  Json list = Json::list();
  for (const auto& one : all) list.push(to_json(one));
  return list;
}

}  // namespace

Json to_json(const StageStats& stage) {
  Json json = Json::dict();
  json.set("stage", stage.stage);
  json.set("elements", stage.elements);
  json.set("runs", stage.runs);
  json.set("bytes", stage.bytes);
  json.set("busy_seconds", stage.busy_seconds);
  json.set("mean_ns", stage.mean_ns);
  json.set("spread_ns", stage.spread_ns);
  json.set("working", stage.working);
  json.set("starved", stage.starved);
  json.set("blocked", stage.blocked);
  json.set("waits", stage.waits);
  json.set("at_once", stage.at_once);
  json.set("user", stage.user);
  json.set("measured_seconds", stage.measured_seconds);
  json.set("on_cpu_seconds", stage.on_cpu_seconds);
  return json;
}

Json to_json(const WindowStats& window) {
  Json json = Json::dict();
  json.set("stages", window.stages);
  json.set("capacity", window.capacity);
  json.set("fill", window.fill);
  json.set("done_behind_head", window.done_behind_head);
  json.set("run_rows", window.run_rows);
  return json;
}

Json to_json(const LoaderStats& stats) {
  Json json = Json::dict();
  if (stats.empty()) return json;
  json.set("elements", stats.elements);
  json.set("seconds", stats.seconds);
  json.set("wait_seconds", stats.wait_seconds);
  json.set("skipped", stats.skipped);
  json.set("held_bytes", stats.held_bytes);
  json.set("budget_bytes", stats.budget_bytes);
  json.set("workers", stats.workers);
  json.set("stages", list_of(stats.stages));
  json.set("windows", list_of(stats.windows));
  json.set("held", list_of(stats.held));
  return json;
}

}  // namespace stoker
