#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

class StreamLine final : public LineNode {
 public:
  StreamLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), pass_(pass + instance.passes.base(*plan.node, plan.place)) {
    state_ = plan.node->stage->start(Pass{pass_, instance.make.parent});
  }

 protected:
  struct Saved {
    State state;
    int64_t ordinal;
    bool ended;
  };

  Pulled produce(int64_t most) override {
    if (ended_) return Pulled::end();
    if (plan_.node->stage->resumable()) log_if_due();
    const bool measure_cpu = plan_.meter->user && plan_.meter->is_measured();
    const ThreadTime time_begun = measure_cpu ? thread_time() : ThreadTime{};
    const int64_t begun = now_ns();
    Context context(0, 0, instance_.make.stopped);
    RunBuilder rows;
    // Some 100 µs of reading is one run; a slow source gives single elements.
    while (rows.size() < most && (rows.empty() || now_ns() - begun < 100'000) && !context.stopped()) {
      if (plan_.node->stage->type().in_rows && add_rows(rows, most - rows.size(), context)) continue;
      Result<std::optional<Element>> next = plan_.node->stage->next(state_, context);
      Origin origin{plan_.source, pass_, ordinal_, instance_.make.parent, nullptr};
      if (next && !*next) {
        ended_ = true;
        break;
      }
      ++ordinal_;
      if (next) {
        rows.add(**std::move(next), std::move(origin));
        continue;
      }
      Error error = std::move(next).error();
      annotate(error, *plan_.node, origin, instance_.make.sources);
      ended_ = error.is_last() || !plan_.node->stage->type().goes_on;
      rows.add_failure(std::move(error), std::move(origin), ended_);
      break;
    }
    if (rows.empty()) return ended_ ? Pulled::end() : Pulled::blocked(nullptr);
    Run run = rows.take();
    const int64_t took = now_ns() - begun;
    plan_.meter->add(run.size, took, run.byte_size());
    if (measure_cpu) plan_.meter->add_measured(time_begun, thread_time(), took);
    return Pulled::of(std::move(run));
  }

  Entry snapshot() const override { return {out(), Saved{state_, ordinal_, ended_}, {}}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const Stage& stage = *plan_.node->stage;
    if (!stage.repeatable())
      return Error::precondition(plan_.node->name, " cannot repeat what it gave, so its place cannot be saved");
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    STOKER_TRY(Json state, stage.save(saved.state));
    json.set("state", std::move(state));
    json.set("ordinal", saved.ordinal);
    json.set("ended", saved.ended);
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, plan_.node->stage->restore(saved_part(json, "state")));
    ordinal_ = saved_count(json, "ordinal");
    ended_ = saved_part(json, "ended") == Json(true);
    if (ordinal_ < 0) return Error::invalid("the checkpoint is damaged: row ", ordinal_, " of ", plan_.node->name);
    return {};
  }

 private:
  // Many at once; false where they come one by one.
  bool add_rows(RunBuilder& rows, int64_t most, Context& context) {
    Column column = plan_.node->stage->next_rows(state_, most, context);
    const int64_t n = column.size();
    if (n == 0) return false;
    Run run;
    run.nest = Nest::leaf();
    run.size = static_cast<int32_t>(n);
    run.origins = Origins(plan_.source, pass_, ordinal_, n);
    if (instance_.make.parent) run.origins.set_parent(instance_.make.parent);
    run.columns.push_back(std::move(column));
    rows.add(std::move(run));
    ordinal_ += n;
    return true;
  }

  const int64_t pass_;
  State state_;
  int64_t ordinal_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineNode> make_stream_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<StreamLine>(plan, instance, pass);
}

}  // namespace stoker
