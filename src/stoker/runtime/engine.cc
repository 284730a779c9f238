#include "stoker/runtime/engine.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "stoker/batch/slab.h"
#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/task.h"

namespace stoker {
namespace {

// A run is as long as makes some 100 µs of work.
constexpr double kRunNs = 100'000;
constexpr int64_t kMostRunRows = 4096;
constexpr double kSmallRun = 256 << 10;  // bytes
// No single run holds more than this share of the budget, unless it is one row.
constexpr double kRunShare = 64;
constexpr size_t kMostTickets = 4096;
constexpr int64_t kSpinNs = 30'000;
constexpr int64_t kTuneEvery = 50'000'000;
constexpr int64_t kSlowToShrink = 10'000'000'000;

struct MessageSink {
  std::mutex mutex;
  std::function<void(const std::string&)> sink;
};
MessageSink& message_sink() {
  static auto* sink = new MessageSink;
  return *sink;
}

// The rows of one ticket in the slab of its batch.
class SlabRows final : public RowTarget {
 public:
  SlabRows(Slab& slab, int64_t first, int64_t rows) : slab_(slab), first_(first), rows_(rows) {}
  std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) override {
    std::optional<Array> block = slab_.block(leaf, first_ + row, 1, dims, type);
    if (!block) return std::nullopt;
    return block->reshaped(dims);
  }
  std::optional<Array> block_of(size_t leaf, Dims dims, DType type) override {
    if (dims.empty() || dims[0] != rows_) return std::nullopt;
    return slab_.block(leaf, first_, rows_, dims.subspan(1), type);
  }

  // Copies into their rows what the last stage did not write there itself.
  void settle(Run& run) {
    if (!run.failed.empty() || run.size != rows_) return;
    for (size_t leaf = 0; leaf < run.columns.size(); ++leaf) settle(run.columns[leaf], leaf);
  }

 private:
  void settle(Column& column, size_t leaf) {
    const Array first = column.row(0);
    if (first.type() == DType::kBytes) return;
    std::optional<Array> block = slab_.block(leaf, first_, rows_, first.dims(), first.type());
    if (!block) return;
    if (column.dense() && column.block().raw() == block->raw()) return;
    if (!column.dense())
      for (const Array& row : column.rows())
        if (row.type() != first.type() || !std::ranges::equal(row.dims(), first.dims())) return;
    const auto bytes = static_cast<size_t>(first.byte_size());
    auto* to = static_cast<std::byte*>(block->raw());
    if (column.dense()) {
      std::memcpy(to, column.block().raw(), bytes * static_cast<size_t>(rows_));
    } else {
      for (int64_t i = 0; i < rows_; ++i) {
        const Array& row = column.rows()[static_cast<size_t>(i)];
        std::byte* at = to + bytes * static_cast<size_t>(i);
        if (row.raw() != at) std::memcpy(at, row.raw(), bytes);
      }
    }
    column = Column(*std::move(block));
  }

  Slab& slab_;
  const int64_t first_;
  const int64_t rows_;
};

// Names come from lines, and once in a while from a damaged checkpoint.
Run fetch(const ListPlan& list, const Run& names, const MakeContext& context) {
  const int64_t n = list.length();
  const bool inside =
      std::ranges::all_of(names.positions, [&](int64_t position) { return position >= 0 && position < n; });
  if (inside) return list.make(names.positions, names.passes, context);
  RunBuilder lost;
  for (int64_t position : names.positions)
    lost.add_failure(Error::corrupt("position ", position, " of a list of ", n, ": the checkpoint is damaged"),
                     Origin{0, 0, position, nullptr, nullptr}, false);
  return lost.take();
}

// The stage that a line waits for: the source at its end, where that is its own.
Meter* line_meter(const SegmentPlan& segment) {
  const LinePlan* at = segment.line.get();
  while (!at->inputs.empty() && at->inputs[0]->meter) at = at->inputs[0].get();
  return at->meter ? at->meter : segment.meter;
}

std::string written_at(const Meter& meter) {
  return meter.location.empty() ? "" : " (written at " + meter.location + ")";
}

void hand_over(const Run& run) {
  for (const Column& column : run.columns) {
    if (column.dense()) {
      if (column.block().owner()) column.block().owner()->hand_over();
      continue;
    }
    for (const Array& row : column.rows())
      if (row.owner()) row.owner()->hand_over();
  }
}

}  // namespace

void set_message_sink(std::function<void(const std::string&)> sink) {
  std::lock_guard lock(message_sink().mutex);
  message_sink().sink = std::move(sink);
}

void tell(const std::string& message) {
  std::lock_guard lock(message_sink().mutex);
  if (message_sink().sink)
    message_sink().sink(message);
  else
    std::fprintf(stderr, "%s\n", message.c_str());
}

Segment::Segment(Engine& engine_in, Instance& instance_in, const SegmentPlan& plan_in, int rank_in)
    : engine(engine_in), instance(instance_in), plan(plan_in), rank(rank_in) {
  const auto workers = static_cast<size_t>(std::max(1, Pool::process().workers()));
  // A window with steps behind it keeps all workers busy; one without holds
  // what is ready for the consumer.
  capacity = plan.steps.empty() ? 2 : 2 * workers + 2;
  capacity = std::max(capacity, static_cast<size_t>(std::clamp<int64_t>(plan.at_least, 0, 1 << 20)));
  if (plan.filters) marks.push_back({0, 0});
  likes.resize(plan.steps.size());
  if (const size_t tuned = plan.meter->tuned_capacity.load()) capacity = std::max(capacity, tuned);
  if (const int64_t rows = plan.meter->tuned_run_rows.load()) run_rows = rows;
  ns_per_row = plan.meter->tuned_ns_per_row.load();
  bytes_per_row = plan.meter->tuned_bytes_per_row.load();
}

void Segment::keep_tuning() const {
  plan.meter->tuned_capacity = capacity;
  plan.meter->tuned_run_rows = run_rows;
  plan.meter->tuned_ns_per_row = ns_per_row;
  plan.meter->tuned_bytes_per_row = bytes_per_row;
}

Result<Json> Segment::cut(int64_t cursor) const {
  Json json = Json::dict();
  int64_t line_cursor = cursor;
  if (plan.filters) {
    auto mark = std::ranges::find_if(marks.rbegin(), marks.rend(), [&](const Mark& m) { return m.out <= cursor; });
    STOKER_CHECK(mark != marks.rend());
    line_cursor = mark->line;
    json.set("skip", cursor - mark->out);
  }
  STOKER_TRY(Json below, line->cut(line_cursor));
  json.set("line", std::move(below));
  return json;
}

Result<void> Segment::restore(const Json& json) {
  const Json* below = json.find("line");
  if (!below) return Error::invalid("the checkpoint is damaged: a line is missing");
  STOKER_TRY(line->restore(*below));
  if (const Json* skip = json.find("skip"); skip && skip->as<int64_t>()) {
    to_skip = *skip->as<int64_t>();
    if (to_skip < 0) return Error::invalid("the checkpoint is damaged: skip ", to_skip);
    marks = {{-to_skip, 0}};
  }
  return {};
}

void Segment::prune(int64_t cursor, LineNode::Dropped& dropped) {
  if (!plan.filters) return line->prune(cursor, dropped);
  while (marks.size() > 1 && marks[1].out <= cursor) marks.pop_front();
  line->prune(marks.front().line, dropped);
}

Segment& Instance::add_segment(const SegmentPlan& segment_plan, int rank) {
  auto segment = std::make_unique<Segment>(*engine, *this, segment_plan, rank);
  Segment& added = *segment;
  segments.push_back(std::move(segment));
  const int outer = std::exchange(rank_in_making, rank);
  added.line = make_line(*segment_plan.line, *this, pass);
  rank_in_making = outer;
  return added;
}

// ---- making and ending

Engine::Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options)
    : plan_(std::move(plan)),
      meters_(std::move(meters)),
      options_(options),
      account_(std::make_shared<EngineAccount>()) {
  begun_ns_ = last_tuned_ns_ = now_ns();
  last_pass_.resize(plan_->sources.size(), -1);
}

std::shared_ptr<Engine> Engine::make(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters,
                                     EngineOptions options, Passes passes) {
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), std::move(meters), options));
  auto root = std::make_shared<Instance>();
  root->engine = engine.get();
  root->plan = engine->plan_;
  root->passes = std::move(passes);
  root->make = {&root->passes, nullptr, &engine->plan_->sources, &engine->stopped_};
  root->root = &root->add_segment(*engine->plan_->root, 0);
  engine->root_ = root;
  engine->add_to_order(*root);
  return engine;
}

// Lines close their children in the engine: they go while all of it is there.
Engine::~Engine() {
  root_.reset();
  Budget::process().reserve(-reserved_);
}

void Engine::begin() {
  if (begun_.exchange(true)) return;
  Pool::process().add(shared_from_this());
}

void Engine::stop() {
  stopped_ = true;
  Pool::process().remove(this);
  std::lock_guard lock(mutex_);
  for (Segment* segment : order_) {
    segment->queued.clear();
    segment->keep_tuning();
  }
  consumer_wakes_.notify_all();
}

void Engine::release_by(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  piece_done_.wait_until(lock, deadline, [&] { return running_ == 0; });
  if (running_ == 0)
    release(lock);
  else
    abandon(lock);
}

// A call does not return: all that it has no hold of goes now, the rest when
// it ends.
void Engine::abandon(std::unique_lock<std::mutex>& lock) {
  std::vector<std::unique_ptr<Ticket>> tickets;
  std::vector<std::unique_ptr<LineNode>> lines;
  std::vector<std::shared_ptr<Slab>> slabs;
  for (Segment* segment : order_) {
    for (auto& ticket : segment->window)
      if (ticket->state != Ticket::State::kRunning) tickets.push_back(std::move(ticket));
    std::erase_if(segment->window, [](const auto& ticket) { return !ticket; });
    slabs.push_back(std::move(segment->slab));
    if (!segment->line_busy) lines.push_back(std::move(segment->line));
  }
  lock.unlock();
  lines.clear();  // which close their children, under the lock
  if (const std::unique_lock consumer(consumer_mutex_, std::try_to_lock); consumer.owns_lock()) current_ = Run();
}

void Engine::release_when_done() {
  std::unique_lock lock(mutex_);
  piece_done_.wait(lock, [&] { return running_ == 0; });
  release(lock);
}

// Frees what the windows hold; children go with the lines that opened them.
void Engine::release(std::unique_lock<std::mutex>& lock) {
  if (released_) return;
  released_ = true;
  std::shared_ptr<Instance> root = std::move(root_);
  order_.clear();
  lock.unlock();
  root.reset();
  current_ = Run();
}

std::shared_ptr<Instance> Engine::open(const SegmentPlan& root_plan, std::shared_ptr<const Plan> plan,
                                       const Instance& outer, int64_t pass, std::shared_ptr<const Origin> parent,
                                       std::string path, int rank) {
  auto child = std::make_shared<Instance>();
  child->engine = this;
  child->path = std::move(path);
  // A pass of a repeat shares its outer graph's bases; a nested graph counts
  // from 0 and takes its cache's.
  child->passes = plan == outer.plan ? outer.passes : Passes();
  if (plan == outer.plan) {
    std::lock_guard lock(mutex_);
    child->begun = outer.begun;
  }
  child->pass = pass;
  child->plan = std::move(plan);
  child->make = {&child->passes, std::move(parent), &plan_->sources, &stopped_};
  child->root = &child->add_segment(root_plan, rank);
  std::lock_guard lock(mutex_);
  add_to_order(*child);
  return child;
}

void Engine::add_to_order(const Instance& instance) {
  for (const auto& segment : instance.segments) {
    auto at = std::ranges::upper_bound(order_, segment->rank, {}, &Segment::rank);
    order_.insert(at, segment.get());
  }
}

void Engine::close(Instance& instance) {
  std::vector<std::unique_ptr<Ticket>> dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  if (std::exchange(instance.closed, true)) return;
  for (const auto& segment : instance.segments) {
    segment->closed = true;
    segment->keep_tuning();
    segment->queued.clear();
    std::erase(order_, segment.get());
    // A ticket that runs still belongs to its thread, which drops it.
    for (auto& ticket : segment->window)
      if (ticket->state != Ticket::State::kRunning) dropped.push_back(std::move(ticket));
    std::erase_if(segment->window, [](const auto& ticket) { return !ticket; });
  }
}

bool Engine::line_ended(const Segment& segment) {
  std::lock_guard lock(mutex_);
  return segment.line_ended;
}

// ---- choosing work

bool Engine::may_run(const Segment& segment, const Ticket& ticket, ThreadKind kind) const {
  const StepPlan& step = segment.plan.steps[ticket.step];
  const bool waits = step.meter->waits.load(std::memory_order_relaxed);
  const bool alone = Pool::process().workers() == 0;
  if (kind == ThreadKind::kWaiter && !waits) return false;
  if (kind == ThreadKind::kWorker && waits) return false;
  if (kind == ThreadKind::kConsumer && !alone && (waits || calls_user(segment, ticket.step))) return false;
  return step.parallel == 0 || step.meter->calls.load(std::memory_order_relaxed) < step.parallel;
}

bool Engine::calls_user(const Segment& segment, size_t from) const {
  for (size_t i = from; i < segment.plan.steps.size(); ++i)
    if (segment.plan.steps[i].user) return true;
  return false;
}

bool Engine::line_may_run(const Segment& segment, ThreadKind kind) const {
  if (Pool::process().workers() == 0) return true;
  if (kind == ThreadKind::kConsumer && segment.plan.line_user) return false;
  return segment.plan.line_waits == (kind == ThreadKind::kWaiter);
}

bool Engine::line_ready(const Segment& segment) {
  if (segment.closed || segment.line_busy || segment.line_ended) return false;
  const Segment* on = segment.blocked_on;
  return !on || on->head_ready() || on->at_end();
}

int64_t Engine::rows_for(const Segment& segment) const {
  // What has no steps behind it takes no time: small elements go together.
  int64_t rows = segment.run_rows;
  if (segment.plan.steps.empty() && segment.bytes_per_row > 0)
    rows = std::clamp<int64_t>(static_cast<int64_t>(kSmallRun / segment.bytes_per_row), 1, kMostRunRows);
  // A call that sleeps holds up nothing but its own row, and where the user
  // gave a number, so many calls can be in progress.
  for (const StepPlan& step : segment.plan.steps)
    if (step.user && (step.parallel > 0 || step.meter->sleeps.load(std::memory_order_relaxed))) rows = 1;
  if (segment.bytes_per_row > 0) {
    const auto fit =
        static_cast<int64_t>(static_cast<double>(Budget::process().limit()) / kRunShare / segment.bytes_per_row);
    rows = std::clamp<int64_t>(rows, 1, std::max<int64_t>(fit, 1));
  }
  const int64_t batch = segment.plan.rows;
  if (batch <= 0) return rows;
  // A run ends where a batch ends: its own, or the last of several small ones.
  const int64_t in_batch = std::max<int64_t>(0, (segment.issued - segment.lost) % batch);
  return in_batch == 0 && rows > batch ? rows / batch * batch : std::min(rows, batch - in_batch);
}

// Tickets of small work are made several at a time.
int64_t Engine::tickets_for(const Segment& segment) const {
  if (!segment.plan.names || segment.ns_per_row == 0) return 1;
  const double each = segment.ns_per_row * static_cast<double>(rows_for(segment));
  const auto room = static_cast<int64_t>(capacity_of(segment)) - static_cast<int64_t>(segment.window.size());
  return std::clamp<int64_t>(static_cast<int64_t>(kRunNs / 2 / each), 1, std::max<int64_t>(1, room));
}

bool Engine::admit(Segment& segment, Ticket& ticket) {
  if (ticket.prepaid > 0) return true;
  const auto guess = static_cast<int64_t>(segment.bytes_per_row * ticket.rows);
  const int64_t bytes = std::max(guess, ticket.bytes);
  if (bytes == 0)  // sizes are not known yet: one at a time, but calls of the user's may need one another
    return segment.bytes_per_row > 0 || segment.running == 0 || segment.popped > 0 || calls_user(segment, ticket.step);
  if (!Budget::process().ask(bytes)) return false;
  ticket.prepaid = bytes;
  return true;
}

bool Engine::admit_line(const Segment& segment) {
  if (segment.plan.names) return true;
  // What lines make cannot be dropped and made again: half the budget is theirs.
  const Budget& budget = Budget::process();
  const auto guess = static_cast<int64_t>(segment.bytes_per_row * static_cast<double>(rows_for(segment)));
  if (budget.used() + guess <= budget.limit() / 2) return true;
  Budget::process().note_refusal();
  return false;
}

void Engine::start(Piece& piece) {
  ++running_;
  piece.alive = piece.segment->instance.shared_from_this();
  if (!piece.ticket) {
    piece.segment->line_busy = true;
    piece.most = rows_for(*piece.segment) * tickets_for(*piece.segment);
    return;
  }
  Ticket& ticket = *piece.ticket;
  ticket.state = Ticket::State::kRunning;
  if (piece.demand) ticket.demand = true;
  if (ticket.step == 0) ticket.likes = piece.segment->likes;
  ++piece.segment->running;
  piece.segment->queued.erase(ticket.first);
  ++piece.segment->plan.steps[ticket.step].meter->calls;
}

Engine::Piece Engine::pick(ThreadKind kind) {
  if (stopped_) return {};
  if (consumer_waiting_)
    if (Piece piece = pick_demand(kind)) return piece;
  for (Segment* segment : order_) {
    for (const auto& [first, ticket] : segment->queued)
      if (may_run(*segment, *ticket, kind)) {
        if (!admit(*segment, *ticket)) break;
        Piece piece{segment, ticket, 1, false, nullptr};
        start(piece);
        return piece;
      }
    if (!line_ready(*segment) || !line_may_run(*segment, kind)) continue;
    if (segment->window.size() >= capacity_of(*segment)) {
      segment->was_full = true;
      continue;
    }
    if (!admit_line(*segment)) continue;
    Piece piece{segment, nullptr, 1, false, nullptr};
    start(piece);
    return piece;
  }
  return {};
}

// The one path that the consumer waits for, from the end upward.
Engine::Piece Engine::pick_demand(ThreadKind kind) {
  Segment* segment = root_->root;
  while (true) {
    if (!segment->window.empty()) {
      Ticket& head = *segment->window.front();
      if (head.state == Ticket::State::kDone) return {};  // whoever takes it is on the way
      head.demand = true;
      if (head.state == Ticket::State::kRunning || !may_run(*segment, head, kind)) return {};
      Piece piece{segment, &head, 1, true, nullptr};
      start(piece);
      return piece;
    }
    if (segment->line_busy || segment->line_ended || segment->closed) return {};
    if (!line_ready(*segment)) {
      segment = segment->blocked_on;
      continue;
    }
    if (!line_may_run(*segment, kind)) return {};
    Piece piece{segment, nullptr, 1, true, nullptr};
    start(piece);
    return piece;
  }
}

int Engine::waiter_work(int most) {
  std::lock_guard lock(mutex_);
  return count_waiter_work(most);
}

int Engine::count_waiter_work(int most) const {
  if (stopped_ || Pool::process().workers() == 0) return 0;
  int found = 0;
  for (const Segment* segment : order_) {
    if (segment->plan.line_waits && line_ready(*segment) && segment->window.size() < capacity_of(*segment)) ++found;
    if (segment->queued.empty()) continue;
    // A bounded step admits only so many more calls.
    std::map<const Meter*, int64_t> calls;
    for (const auto& [first, ticket] : segment->queued) {
      if (found >= most) return most;
      const StepPlan& step = segment->plan.steps[ticket->step];
      if (!step.meter->waits.load(std::memory_order_relaxed)) continue;
      const int64_t more = ++calls[step.meter];
      if (step.parallel == 0 || step.meter->calls.load(std::memory_order_relaxed) + more <= step.parallel) ++found;
    }
  }
  return std::min(found, most);
}

// Nobody idles behind a slow head while there is room; and calls that wait need
// tickets to wait with: as many as may be in progress, and as many again.
size_t Engine::capacity_of(const Segment& segment) {
  const bool held_up = !segment.plan.steps.empty() && !segment.window.empty() && !segment.head_ready();
  size_t most = held_up ? std::min(kMostTickets, segment.capacity * 32) : segment.capacity;
  for (const StepPlan& step : segment.plan.steps)
    if (step.meter->waits.load(std::memory_order_relaxed))
      most = std::max(most, static_cast<size_t>(step.parallel > 0 ? 2 * std::min<int64_t>(step.parallel, 1024) : 32));
  return most;
}

// Something that a worker could do, as far as can be said without asking for
// memory.
bool Engine::has_work() const {
  return !stopped_ && std::ranges::any_of(order_, [](const Segment* segment) {
    return !segment->queued.empty() || (line_ready(*segment) && segment->window.size() < capacity_of(*segment));
  });
}

bool Engine::run_one(ThreadKind kind) {
  Piece piece;
  int waiting = 0;
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    piece = pick(kind);
    if (piece && kind == ThreadKind::kWaiter) waiting = count_waiter_work(1);
    more = piece && has_work();
  }
  if (!piece) return false;
  if (waiting > 0) Pool::process().want_waiters(1);
  if (more) Pool::process().wake();
  run(piece, kind);
  return true;
}

// ---- doing it

void Engine::run(Piece piece, ThreadKind kind) {
  const std::shared_ptr<Engine> alive = shared_from_this();
  if (piece.ticket)
    run_ticket(*piece.segment, *piece.ticket, kind);
  else
    run_line(piece, kind);
  {
    std::lock_guard lock(mutex_);
    --running_;
    if (running_ == 0) piece_done_.notify_all();
  }
  if (all_issued_ && !piece.ticket && on_all_issued_ && !told_all_issued_.exchange(true)) on_all_issued_();
  // What it made ready may be work for another kind of thread than this one.
  if (kind != ThreadKind::kWorker) Pool::process().wake();
}

void Engine::run_line(Piece piece, ThreadKind kind) {
  Segment& segment = *piece.segment;
  Task task;
  task.always = true;  // a line takes what it needs; whether it runs ahead was asked before
  Pulled pulled;
  {
    TaskScope scope(task);
    AccountScope account(account_);
    std::optional<CallScope> call;
    if (segment.plan.line_waits || segment.plan.line_user)
      call.emplace(Call{line_meter(segment.plan), now_ns(), segment.issued, nullptr, tell_after_ns()});
    pulled = segment.line->pull(piece.most);
  }

  Ticket* mine = nullptr;
  int waiting = 0;
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    segment.line_busy = false;
    segment.blocked_on = nullptr;
    if (pulled.kind == Pulled::Kind::kRun) {
      mine = issue_all(segment, std::move(pulled.run));
      if (mine && may_run(segment, *mine, kind) && !stopped_ && (piece.demand || admit(segment, *mine))) {
        Piece next{&segment, mine, 1, piece.demand, nullptr};
        start(next);
        --running_;  // one piece, two parts
      } else {
        mine = nullptr;
        waiting = count_waiter_work(1);
      }
    } else if (pulled.kind == Pulled::Kind::kEnd) {
      segment.line_ended = true;
      if (&segment == root_->root) all_issued_ = true;
    } else {
      segment.blocked_on = pulled.on;
    }
    wake_consumer();
    more = has_work();
  }
  if (waiting > 0) Pool::process().want_waiters(1);
  if (more) Pool::process().wake();
  if (mine) run_ticket(segment, *mine, kind);
}

// Cuts what a line gave into tickets; the first, when it has steps to go.
Ticket* Engine::issue_all(Segment& segment, Run run) {
  if (run.size <= rows_for(segment)) return issue(segment, std::move(run));
  Ticket* first = nullptr;
  for (int32_t at = 0; at < run.size;) {
    const auto rows = static_cast<int32_t>(std::min<int64_t>(run.size - at, rows_for(segment)));
    Ticket* issued = issue(segment, run.slice(at, rows));
    if (at == 0) first = issued;
    at += rows;
  }
  return first;
}

Ticket* Engine::issue(Segment& segment, Run run) {
  if (segment.closed || stopped_) return nullptr;
  auto ticket = std::make_unique<Ticket>();
  ticket->first = segment.issued;
  ticket->rows = run.size;
  set_slab(segment, *ticket);
  segment.issued += run.size;
  Ticket* issued = ticket.get();
  if (segment.plan.steps.empty()) {
    ticket->state = Ticket::State::kDone;
    if (!run.names()) segment.bytes_per_row = static_cast<double>(run.byte_size()) / run.size;
    ticket->run = std::move(run);
    issued = nullptr;
  } else {
    ticket->input = std::move(run);
    segment.queued[ticket->first] = issued;
  }
  segment.window.push_back(std::move(ticket));
  return issued;
}

void Engine::set_slab(Segment& segment, Ticket& ticket) {
  const int64_t batch = segment.plan.rows;
  if (batch <= 0) return;
  const int64_t row = segment.issued - segment.lost;
  if (row >= 0 && row % batch == 0 && ticket.rows % batch == 0) {
    ticket.slab = std::make_shared<Slab>(ticket.rows);
    return;
  }
  if (row < 0 || row % batch + ticket.rows > batch) return;
  if (!segment.slab || segment.slab_number != row / batch) {
    segment.slab = std::make_shared<Slab>(batch);
    segment.slab_number = row / batch;
  }
  ticket.slab = segment.slab;
  ticket.slab_row = row % batch;
}

void Engine::run_ticket(Segment& segment, Ticket& ticket, ThreadKind kind) {
  Task task;
  task.demand = &ticket.demand;
  task.prepaid = ticket.prepaid;
  const std::vector<StepPlan>& steps = segment.plan.steps;
  if (ticket.step == 0 && steps[0].kind != StepPlan::Kind::kFetch) ticket.run = ticket.input;
  std::optional<SlabRows> target;
  if (ticket.slab) target.emplace(*ticket.slab, ticket.slab_row, ticket.rows);
  int64_t ns = 0;
  int64_t begun = now_ns();
  bool handed_on = false;
  while (true) {
    const StepPlan& step = steps[ticket.step];
    const bool last = ticket.step + 1 == steps.size();
    const bool measure_cpu = step.user && step.meter->runs.load(std::memory_order_relaxed) < 1000;
    const ThreadTime time_begun = measure_cpu ? thread_time() : ThreadTime{};
    const int32_t rows = step.kind == StepPlan::Kind::kFetch ? ticket.rows : ticket.run.size;
    {
      TaskScope scope(task);
      AccountScope account(account_);
      std::optional<CallScope> call;
      if (step.user) call.emplace(Call{step.meter, begun, ticket.first, &ticket.row, tell_after_ns()});
      ticket.row.store(0, std::memory_order_relaxed);
      if (step.kind == StepPlan::Kind::kFetch)
        ticket.run = fetch(*step.list, ticket.input, segment.instance.make);
      else
        run_step(
            step, ticket.run, segment.instance.make,
            {.target = last && target ? &*target : nullptr, .row = &ticket.row, .like = &ticket.likes[ticket.step]});
      if (last && target) target->settle(ticket.run);
    }
    const int64_t ended = now_ns();
    const int64_t took = ended - std::exchange(begun, ended);
    ns += took;
    step.meter->add(rows, took, ticket.run.byte_size());
    if (measure_cpu) note_waiting(*step.meter, time_begun, took);
    --step.meter->calls;
    if (last || task.no_room || stopped_ || ticket.run.size == 0) break;
    std::lock_guard lock(mutex_);
    ++ticket.step;
    if (!may_run(segment, ticket, kind)) {  // for another kind of thread, or a free call
      handed_on = true;
      break;
    }
    ++steps[ticket.step].meter->calls;
  }
  Budget::process().give_back(task.prepaid);
  end_part(segment, ticket, task, ns, handed_on);
}

// Off the CPU half of the time, of its own will, over at least 10 ms of calls:
// a function that waits. One that was merely preempted is not.
void Engine::note_waiting(Meter& meter, const ThreadTime& begun, int64_t took) {
  const ThreadTime ended = thread_time();
  if (ended.gave_way > begun.gave_way) meter.sleeps = true;
  const int64_t cpu = ended.gave_way > begun.gave_way ? ended.cpu_ns - begun.cpu_ns : took;
  const int64_t total = meter.cpu_ns.fetch_add(cpu) + cpu;
  const int64_t busy = meter.busy_ns.load();
  if (busy > 10'000'000 && total < busy / 2) meter.waits = true;
}

void Engine::end_part(Segment& segment, Ticket& ticket, Task& task, int64_t ns, bool handed_on) {
  Run dropped;  // freed outside the lock
  bool waiter = false;
  {
    std::lock_guard lock(mutex_);
    --segment.running;
    ticket.prepaid = 0;
    if (segment.closed || stopped_) {
      forget(segment, ticket);
      return;
    }
    if (task.no_room) {
      dropped = std::exchange(ticket.run, Run());
      ticket.step = 0;
      ticket.bytes = std::max(ticket.bytes, task.taken);
      ticket.state = Ticket::State::kQueued;
      segment.queued[ticket.first] = &ticket;
      wake_consumer();
      return;
    }
    segment.bytes_per_row = std::max(segment.bytes_per_row * 0.99, static_cast<double>(task.taken) / ticket.rows);
    reserve(task.taken / ticket.rows);
    if (handed_on) {
      ticket.state = Ticket::State::kQueued;
      segment.queued[ticket.first] = &ticket;
      waiter = segment.plan.steps[ticket.step].meter->waits.load();
    } else {
      ticket.state = Ticket::State::kDone;
      learn(segment, ns, ticket.rows);
      if (&ticket == segment.window.front().get()) settle_head(segment, dropped);
    }
    wake_consumer();
  }
  if (waiter) Pool::process().want_waiters(1);
}

// The first to be given out says what functions give. What was made before that
// was known, and is of another kind, is made again: which element fails must
// not depend on who was first. Until then the input is kept.
void Engine::settle_head(Segment& segment, Run& dropped) {
  if (!segment.head_ready() || segment.window.front()->taken > 0 || segment.plan.steps.empty()) return;
  Ticket& head = *segment.window.front();
  bool again = false;
  for (size_t i = 0; i < head.likes.size(); ++i) {
    if (!segment.likes[i].nest) segment.likes[i] = head.likes[i];
    again |= head.likes[i].nest && !(head.likes[i] == segment.likes[i]);
  }
  if (!again) {
    if (!segment.plan.names) dropped = std::exchange(head.input, Run());
    return;
  }
  dropped = std::exchange(head.run, Run());
  head.slab.reset();
  head.step = 0;
  head.state = Ticket::State::kQueued;
  segment.queued[head.first] = &head;
}

void Engine::forget(Segment& segment, Ticket& ticket) {
  std::erase_if(segment.window, [&](const auto& one) { return one.get() == &ticket; });
}

void Engine::learn(Segment& segment, int64_t ns, int32_t rows) {
  const double each = static_cast<double>(std::max<int64_t>(ns, 1)) / rows;
  segment.ns_per_row = segment.ns_per_row == 0 ? each : segment.ns_per_row * 0.8 + each * 0.2;
  const auto fit = static_cast<int64_t>(kRunNs / segment.ns_per_row);
  segment.run_rows = std::clamp<int64_t>(std::min(fit, segment.run_rows * 8), 1, kMostRunRows);
}

// Only for what it waits for: workers take the pieces on its path themselves.
// Without workers a piece may still end on another thread, one that was a
// worker a moment ago, and nobody but the consumer takes the next.
void Engine::wake_consumer() {
  if (!consumer_waiting_ || !root_) return;
  const Segment& root = *root_->root;
  if (!root.head_ready() && !root.at_end() && Pool::process().workers() > 0) return;
  result_ready_.store(true, std::memory_order_release);
  if (consumer_asleep_) consumer_wakes_.notify_all();
}

Pulled Engine::take(Segment& segment, int64_t most) {
  std::unique_ptr<Ticket> emptied;  // freed outside the lock
  Run dropped;
  std::lock_guard lock(mutex_);
  while (segment.head_ready()) {
    Ticket& head = *segment.window.front();
    if (head.taken == 0 && segment.plan.filters)
      segment.marks.push_back({segment.popped - segment.to_skip, head.first});
    const auto skipped = std::min<int64_t>(segment.to_skip, head.run.size - head.taken);
    head.taken += skipped;
    segment.to_skip -= skipped;
    const auto n = static_cast<int32_t>(std::min<int64_t>(most, head.run.size - head.taken));
    Run part;
    const bool whole = n == head.run.size;
    if (n > 0) part = whole ? std::move(head.run) : head.run.slice(static_cast<int32_t>(head.taken), n);
    head.taken += n;
    segment.popped += n;
    if (whole || head.taken >= head.run.size) {
      emptied = std::move(segment.window.front());
      segment.window.pop_front();
      settle_head(segment, dropped);
    }
    if (n > 0) return Pulled::of(std::move(part));
  }
  if (segment.at_end()) return Pulled::end();
  segment.note_empty();
  return Pulled::blocked(&segment);
}

int64_t Engine::reclaim(int64_t bytes) {
  std::vector<Run> dropped;
  int64_t freed = 0;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  // Furthest from delivery first: the last segment's last ticket.
  for (auto at = order_.rbegin(); at != order_.rend() && freed < bytes; ++at) {
    Segment& segment = **at;
    if (!segment.plan.names || segment.plan.steps.empty()) continue;
    for (size_t i = segment.window.size(); i-- > 1 && freed < bytes;) {
      Ticket& ticket = *segment.window[i];
      if (ticket.state != Ticket::State::kDone || ticket.taken > 0) continue;
      freed += ticket.run.byte_size();
      dropped.push_back(std::exchange(ticket.run, Run()));
      ticket.slab.reset();
      ticket.step = 0;
      ticket.state = Ticket::State::kQueued;
      segment.queued[ticket.first] = &ticket;
    }
    if (segment.slab) segment.slab.reset(), segment.slab_number = -1;
  }
  lock.unlock();
  return freed;
}

// ---- the consumer

Result<std::optional<Element>> Engine::next() {
  std::lock_guard one_at_a_time(consumer_mutex_);
  begin();
  while (true) {
    if (too_many_skipped_) return std::optional<Element>();
    if (current_row_ < current_.size) {
      const int32_t row = current_row_++;
      ++delivered_rows_;
      note_pass(current_.origins.at(row));
      if (const Failure* failure = current_.failed.empty() ? nullptr : current_.failure_of(row)) {
        STOKER_TRY(handle(*failure, current_.origins.at(row)));
        continue;
      }
      delivered_elements_.fetch_add(1, std::memory_order_relaxed);
      return std::optional<Element>(current_.element(row));
    }
    STOKER_TRY(bool more, refill());
    if (!more) return std::optional<Element>();
  }
}

Result<void> Engine::handle(const Failure& failure, const Origin& origin) {
  ++failures_;
  if (!options_.skip_errors) return failure.error;
  std::lock_guard lock(mutex_);
  ++skipped_count_;
  if (skipped_.size() < 1000)
    skipped_.push_back(
        {failure.error.place().origin.empty() ? origin.words() : failure.error.place().origin, failure.error});
  const int64_t seen = delivered_elements_ + skipped_count_;
  // Judged after enough elements, and at the end.
  if (seen < 100 || static_cast<double>(skipped_count_) <= options_.skip_at_most * static_cast<double>(seen)) return {};
  too_many_skipped_ = true;
  Error error =
      Error::precondition(skipped_count_, " of ", seen, " elements failed, more than the share of ",
                          options_.skip_at_most, " that on_error allows; the last one: ", failure.error.message());
  error.at() = failure.error.place();
  return error;
}

// Counts the passes that the consumer has begun, for the iterators after it.
void Engine::note_pass(const Origin& origin) {
  if (origin.parent) return note_pass(*origin.parent);
  if (origin.members) {
    for (const Origin& member : *origin.members) note_pass(member);
    return;
  }
  const auto source = static_cast<size_t>(origin.source);
  if (source >= last_pass_.size() || last_pass_[source] == origin.pass || !root_) return;
  last_pass_[source] = origin.pass;
  raise_passes(*plan_, root_->passes, origin.source, origin.pass);
}

Result<bool> Engine::refill() {
  LineNode::Dropped dropped;  // freed outside the lock
  {
    std::unique_lock lock(mutex_);
    const int64_t begun = now_ns();
    bool waited = false;
    while (true) {
      if (stopped_ || !root_) return false;
      Segment& root = *root_->root;
      if (root.head_ready()) break;
      if (root.at_end()) return false;
      waited = true;
      consumer_waiting_ = true;
      waiting_since_ = waiting_since_ == 0 ? begun : waiting_since_;
      if (Piece piece = pick_demand(ThreadKind::kConsumer)) {
        lock.unlock();
        run(std::move(piece), ThreadKind::kConsumer);  // it may be the last to hold a child, which needs the lock to go
        lock.lock();
        continue;
      }
      root.note_empty();
      result_ready_.store(false, std::memory_order_relaxed);
      lock.unlock();
      Pool::process().wake_all();
      const bool ready = spin();
      lock.lock();
      if (ready || result_ready_.load(std::memory_order_relaxed) || stopped_) continue;
      if (root_->root->head_ready() || root_->root->at_end()) continue;
      consumer_asleep_ = true;
      consumer_wakes_.wait(lock);
      consumer_asleep_ = false;
    }
    consumer_waiting_ = false;
    waiting_since_ = 0;
    stall_told_ = false;
    if (waited) {
      const int64_t took = now_ns() - begun;
      wait_ns_.fetch_add(took, std::memory_order_relaxed);
      usual_wait_ns_ = (usual_wait_ns_ * 7 + took) / 8;
    }
    if (++pops_ % 16 == 0) root_->root->prune(delivered_rows_, dropped);
  }
  Segment& root = *root_->root;
  Pulled pulled = take(root, kMostRunRows);
  if (pulled.kind == Pulled::Kind::kRun) {
    current_ = std::move(pulled.run);
    current_row_ = 0;
    hand_over(current_);
  }
  bool refill_now = false;
  {
    std::lock_guard lock(mutex_);
    refill_now = root.wants_refill();
  }
  if (refill_now) Pool::process().wake();
  return true;
}

// Small batches come faster than a thread falls asleep and wakes: where waits
// have been short, looks again for a moment first.
bool Engine::spin() const {
  if (usual_wait_ns_ > kSpinNs) return false;
  const int64_t until = now_ns() + kSpinNs;
  while (!result_ready_.load(std::memory_order_acquire) && !stopped_) {
    if (now_ns() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::vector<SkippedElement> Engine::skipped() {
  std::lock_guard lock(mutex_);
  return skipped_;
}

// ---- checkpoints

Result<Json> Engine::save() {
  std::lock_guard one_at_a_time(consumer_mutex_);
  std::lock_guard lock(mutex_);
  if (!root_) return Error::precondition("a closed loader has no place to save");
  Json json = checkpoint_head(*plan_, root_->passes);
  json.set("delivered", delivered_elements_.load());
  STOKER_TRY(Json cut, root_->root->cut(delivered_rows_));
  json.set("cut", std::move(cut));
  return json;
}

Result<void> Engine::restore(const Json& json) {
  const Json* cut = json.find("cut");
  if (!cut) return Error::invalid("the checkpoint is damaged: it has no \"cut\"");
  if (const Json* delivered = json.find("delivered"); delivered && delivered->as<int64_t>())
    delivered_elements_ = *delivered->as<int64_t>();
  return root_->root->restore(*cut);
}

// ---- tuning and telling

std::string Engine::tick(int64_t now) {
  std::lock_guard lock(mutex_);
  if (stopped_ || !root_) return {};
  for (Segment* segment : order_) {
    sample(*segment);
    if (now - last_tuned_ns_ >= kTuneEvery) tune(*segment, now);
  }
  if (now - last_tuned_ns_ >= kTuneEvery) last_tuned_ns_ = now;
  if (waiting_since_ == 0 || stall_told_ || now - waiting_since_ < tell_after_ns()) return {};
  stall_told_ = true;
  return "stoker: the consumer has waited " + std::to_string((now - waiting_since_) / 1'000'000'000) + " s for " +
         awaited() + ", after " + std::to_string(delivered_elements_.load()) + " elements";
}

// What the consumer's path ends at: the stage, the element, where it was written.
std::string Engine::awaited() const {
  const Segment* segment = root_->root;
  while (segment->window.empty() && !segment->line_busy && segment->blocked_on) segment = segment->blocked_on;
  if (segment->window.empty() || segment->plan.steps.empty() || segment->head_ready()) {
    const Meter& meter = *line_meter(segment->plan);
    return meter.path + ", element " + std::to_string(segment->issued) + written_at(meter);
  }
  const Ticket& head = *segment->window.front();
  const Meter& meter = *segment->plan.steps[head.step].meter;
  return meter.path + " at " + origin_of(*segment, head) + written_at(meter);
}

// Of the row it has come to. Maps leave origins alone while they run; what is
// being fetched or filtered is told by its number.
std::string Engine::origin_of(const Segment& segment, const Ticket& ticket) const {
  const int32_t row = std::clamp(ticket.row.load(), 0, ticket.rows - 1);
  const bool fetched = ticket.step > 0;
  if (segment.plan.filters || (!fetched && ticket.input.names()))
    return "element " + std::to_string(ticket.first + row);
  Error error = Error::internal("");
  annotate(error, *plan_->node, (fetched ? ticket.run : ticket.input).origins.at(row), &plan_->sources);
  return error.place().origin;
}

void Engine::sample(Segment& segment) {
  Meter& meter = segment.plan.steps.empty() ? *segment.plan.meter : *segment.plan.steps.back().meter;
  if (segment.running > 0 || segment.line_busy)
    ++meter.working_samples;
  else if (segment.window.size() >= segment.capacity)
    ++meter.blocked_samples;
  else
    ++meter.starved_samples;
  size_t done = 0;
  for (const auto& ticket : segment.window) done += ticket->state == Ticket::State::kDone;
  segment.least_done = std::min(segment.least_done, done);
  segment.undeliverable = segment.head_ready() ? 0 : static_cast<int64_t>(done);
}

// A window that ran empty grows if it had been full: more could have been made
// ahead. One that is never full is limited by the work. It shrinks when more
// than half of it was never needed, long after the last time it ran empty: what
// makes it run empty may be rare.
void Engine::tune(Segment& segment, int64_t now) {
  const size_t least = std::max<size_t>(2, static_cast<size_t>(std::max<int64_t>(0, segment.plan.at_least)));
  if (segment.drained) {
    segment.capacity = std::min(kMostTickets, segment.capacity * 2);
    segment.was_full = segment.drained = false;
    segment.drained_ns = now;
  } else if (now - segment.drained_ns > kSlowToShrink && segment.least_done != SIZE_MAX &&
             segment.least_done > segment.capacity / 2) {
    segment.capacity = std::max(least, segment.capacity - std::max<size_t>(1, segment.capacity / 16));
  }
  segment.least_done = SIZE_MAX;
}

// Work ahead leaves room for one element on the path, the largest so far.
void Engine::reserve(int64_t element_bytes) {
  if (element_bytes <= reserved_) return;
  Budget::process().reserve(element_bytes - reserved_);
  reserved_ = element_bytes;
}

Json Engine::stats() {
  std::lock_guard lock(mutex_);
  Json json = Json::dict();
  const int64_t elapsed = now_ns() - begun_ns_;
  json.set("elements", delivered_elements_.load());
  json.set("seconds", static_cast<double>(elapsed) * 1e-9);
  json.set("wait_seconds", static_cast<double>(wait_ns_.load()) * 1e-9);
  json.set("skipped", skipped_count_);
  json.set("held_bytes", static_cast<EngineAccount&>(*account_).held());
  json.set("budget_bytes", Budget::process().limit());
  json.set("workers", int64_t{Pool::process().workers()});
  Json stages = Json::list();
  for (const Meter* meter : meters_->all()) stages.push(meter_json(*meter));
  json.set("stages", std::move(stages));
  Json windows = Json::list();
  for (const Segment* segment : order_) {
    Json window = Json::dict();
    window.set("stages", segment->plan.words);
    window.set("capacity", static_cast<int64_t>(segment->capacity));
    window.set("fill", static_cast<int64_t>(segment->window.size()));
    window.set("done_behind_head", segment->undeliverable);
    window.set("run_rows", segment->run_rows);
    windows.push(std::move(window));
  }
  json.set("windows", std::move(windows));
  return json;
}

Json Engine::meter_json(const Meter& meter) {
  Json json = Json::dict();
  json.set("stage", meter.path);
  json.set("elements", meter.rows.load());
  json.set("runs", meter.runs.load());
  json.set("bytes", meter.bytes.load());
  json.set("busy_seconds", static_cast<double>(meter.busy_ns.load()) * 1e-9);
  json.set("mean_ns", meter.mean_ns());
  json.set("spread_ns", meter.spread_ns());
  const auto working = meter.working_samples.load();
  const auto starved = meter.starved_samples.load();
  const auto blocked = meter.blocked_samples.load();
  const auto all = static_cast<double>(std::max<int64_t>(1, working + starved + blocked));
  json.set("working", static_cast<double>(working) / all);
  json.set("starved", static_cast<double>(starved) / all);
  json.set("blocked", static_cast<double>(blocked) / all);
  json.set("waits", meter.waits.load());
  return json;
}

}  // namespace stoker
