#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

class StreamLine final : public LineNode {
 public:
  StreamLine(const StreamLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        plan_(plan),
        stage_(as_form<StreamStage>(*plan.node->stage)),
        pass_(pass_after(instance.passes.base(*plan.node, plan.place), pass)),
        state_(stage_.start(Pass{pass_, instance.make.parent})) {}

 protected:
  struct Saved {
    std::shared_ptr<const State> state;
    int64_t ordinal;
    bool ended;
  };

  Pulled produce(int64_t most) override {
    if (ended_) return Pulled::end();
    if (stage_.resumable()) log_if_due();
    const bool measure_cpu = plan_.meter->user && plan_.meter->is_measured();
    const ThreadTime time_begun = measure_cpu ? thread_time() : ThreadTime{};
    const int64_t begun = now_ns();
    Context context(0, 0, instance_.make.stopped);
    RunBuilder rows;
    // About 100 µs of reading is one run. A slow source returns single elements.
    while (rows.size() < most && (rows.empty() || now_ns() - begun < 100'000) && !context.stopped()) {
      Result<bool> added = add_rows(rows, most - rows.size(), context);
      if (added && *added) continue;
      Result<std::optional<Element>> next = added ? stage_.next(state_, context) : std::move(added).error();
      Origin origin{.source = plan_.source, .pass = pass_, .position = ordinal_, .parent = instance_.make.parent};
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
      ended_ = error.is_last() || !stage_.type().continues_after_error;
      if (ended_) error.set_last();
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

  Entry snapshot() const override {
    return {out(), Saved{std::make_shared<const State>(state_), ordinal_, ended_}, {}};
  }
  Result<Json> entry_json(const Entry& entry, DeferredParts& deferred) const STOKER_REQUIRES(engine_lock) override {
    if (!stage_.repeatable())
      return Error::precondition(plan_.node->name,
                                 " is not repeatable, so the position of the iterator cannot be saved");
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    json.set("state",
             deferred.add([node = plan_.node, &stage = stage_, state = saved.state] { return stage.save(*state); }));
    json.set("ordinal", saved.ordinal);
    json.set("ended", saved.ended);
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, stage_.restore(saved_part(json, "state")));
    ordinal_ = saved_count(json, "ordinal");
    ended_ = saved_part(json, "ended") == Json(true);
    if (ordinal_ < 0) return Error::invalid("the checkpoint is damaged: row ", ordinal_, " of ", plan_.node->name);
    return {};
  }

 private:
  // Adds many rows at once. Returns false if next() must be called.
  Result<bool> add_rows(RunBuilder& rows, int64_t most, Context& context) {
    if (!stage_.type().returns_rows) return false;
    Column column;
    try {
      column = stage_.next_rows(state_, most, context);
    } catch (...) {
      return error_of_exception();
    }
    const int64_t n = column.size();
    if (n == 0) return false;
    Run run;
    run.nest = Nest::leaf();
    run.size = run_size(n);
    run.origins = Origins(plan_.source, pass_, ordinal_, n);
    if (instance_.make.parent) run.origins.set_parent(instance_.make.parent);
    run.columns.push_back(std::move(column));
    rows.add(std::move(run));
    ordinal_ += n;
    return true;
  }

  const StreamLinePlan& plan_;
  const StreamStage& stage_;
  const int64_t pass_;
  State state_;
  int64_t ordinal_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineNode> StreamLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<StreamLine>(*this, instance, pass);
}

}  // namespace stoker
