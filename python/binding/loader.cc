#include "python/binding/loader.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <map>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "python/binding/errors.h"
#include "python/binding/interruptible.h"
#include "python/binding/watch.h"
#include "stoker/stoker.h"

namespace stoker::python {
namespace {

// A loader for Python. All members release the GIL, because they may wait for functions
// that need it.
class PyLoader {
 public:
  PyLoader(const Dataset& dataset, nb::handle raised, bool skip, double at_most, double stall_warning, std::string file,
           int line)
      : raised_(raised_in(raised)),
        loader_(std::make_shared<Loader>(dataset,
                                         LoaderOptions{.on_error = skip ? std::optional(OnError::kSkip) : std::nullopt,
                                                       .skip_at_most = at_most,
                                                       .stall_warning_seconds = stall_warning,
                                                       .prefetch_next_epoch = false,
                                                       .interrupted = &signals_pending,
                                                       .owner = raised_},
                                         Location{std::move(file), line})) {
    alive().emplace(this, loader_);
  }
  ~PyLoader() {
    alive().erase(this);
    const EngineCall call;
    loader_.reset();
  }
  PyLoader(const PyLoader&) = delete;
  PyLoader& operator=(const PyLoader&) = delete;

  // Returns (element,), or None at the end. If a signal handler raises an exception while the call waits, the element
  // or its error is returned by the next call.
  nb::object next() {
    if (withdrawn_) return redelivered();
    Result<std::optional<Element>> element = without_gil([&] { return loader_->next(); }, kElements);
    throw_if_interrupted();
    const bool ended = element && !*element;
    if (ended || (!element && element.error().code() == Code::kCancelled)) EngineCall::stop_if_closing();
    if (ended) return nb::none();
    if (!element) {
      if (element.error().ends_program()) without_gil([&] { loader_->close(kPatience); }, kElements);
      keep_if_interrupted({nb::object(), element.error()});
      raise(element.error());
    }
    const PythonCall converting;
    nb::object delivered = nb::make_tuple(to_python(**std::move(element), Ownership::kDelivered));
    keep_if_interrupted({delivered, std::nullopt});
    return delivered;
  }
  void begin_epoch(nb::handle raised, std::string file, int line) {
    withdrawn_.reset();
    *raised_ = *raised_in(raised);
    try {
      without_gil([&] { loader_->begin_epoch({std::move(file), line}); }, kElements);
    } catch (const Error&) {
      throw_if_interrupted();
      throw;
    }
  }
  void watched_by(const PyRecorder& recorder) {
    without_gil([&] { recorder.look_while_waiting_in(*loader_); });
  }
  nb::bytes save() {
    Result<std::string> saved = without_gil([&] { return loader_->save(); });
    throw_if_interrupted();
    if (!saved) EngineCall::stop_if_closing();
    const std::string text = value_of(std::move(saved));
    return nb::bytes(text.data(), text.size());
  }
  void restore(const nb::bytes& checkpoint) {
    const std::string text(checkpoint.c_str(), checkpoint.size());
    Result<void> restored = without_gil([&] { return loader_->restore(text); }, kElements);
    throw_if_interrupted();
    value_of(std::move(restored));
    withdrawn_.reset();
  }
  LoaderStats stats() {
    return without_gil([&] { return loader_->stats(); });
  }
  nb::list skipped() {
    nb::list all;
    for (const Skipped& one : without_gil([&] { return loader_->skipped(); }))
      all.append(nb::make_tuple(one.origin, std::string(name_of(one.error.code())), readable(one.error.describe()),
                                path_or_none(one.error.place().path)));
    return all;
  }
  double wait_seconds() const {
    return without_gil([&] { return loader_->wait_seconds(); });
  }
  // Stops the work of a dropped iterator, and keeps the loader, with the measured speeds, for the dataset's next pass.
  // `dataset` is a weak reference. Runs no Python code after it has waited.
  static void give_back(nb::handle_t<PyLoader> self, nb::handle dataset, nb::handle /*iterator*/) {
    auto& loader = nb::cast<PyLoader&>(self);
    try {
      loader.release();
    } catch (const Error&) {
      return;  // the interpreter is shutting down, and has closed all loaders
    }
    const nb::object alive = dataset();
    // With a hook between passes, the loader would start the next pass early.
    if (alive.is_none() || nb::len(nb::object(alive.attr("_hooks"))) > 0) return;
    const nb::object lock = alive.attr("_lock");
    if (!nb::cast<bool>(lock.attr("acquire")(false))) return;
    if (alive.attr("_idle").is_none()) alive.attr("_idle") = self;
    lock.attr("release")();
  }
  void close() {
    withdrawn_.reset();
    without_gil([&] { loader_->close(); }, kElements);
    throw_if_interrupted();
  }

  // Closes all loaders before the interpreter shuts down. No thread may call into it afterward.
  static void close_all() {
    refuse_calls();
    std::vector<std::shared_ptr<Loader>> loaders;
    for (const auto& [owner, loader] : alive())
      if (std::shared_ptr<Loader> still = loader.lock()) loaders.push_back(std::move(still));
    const nb::gil_scoped_release released;
    for (const std::shared_ptr<Loader>& loader : loaders) loader->close(kPatience);
    close_calls();
  }

 private:
  // Calls that wait for user functions, or for their end.
  static constexpr EngineCall::Kind kElements = EngineCall::Kind::kElements;
  // How long a program that is ending waits for a function that does not return.
  static constexpr std::chrono::milliseconds kPatience{30};

  // Also detaches the watch: the next pass of the loader may belong to an iterator that is not watched.
  void release() {
    withdrawn_.reset();
    without_gil(
        [&] {
          loader_->on_waiting({});
          loader_->release();
        },
        kElements);
  }

  static std::map<PyLoader*, std::weak_ptr<Loader>>& alive() {  // under the GIL
    static auto* all = new std::map<PyLoader*, std::weak_ptr<Loader>>;
    return *all;
  }

  // What next() could not return because of a signal: an element as a tuple, or its error. Used under the GIL.
  struct Withdrawn {
    nb::object element;
    std::optional<Error> error;
  };

  // Runs pending signal handlers. If one raises an exception, keeps the row for the next call and throws the exception.
  // It must be the last step: Python code that runs after it could be interrupted and lose the row.
  void keep_if_interrupted(Withdrawn row) {
    if (PyErr_CheckSignals() == 0) return;
    nb::python_error raised;
    loader_->withdraw();
    withdrawn_ = std::move(row);
    throw raised;
  }
  nb::object redelivered() {
    const Withdrawn row = *std::exchange(withdrawn_, std::nullopt);
    loader_->redeliver();
    if (row.error) raise(*row.error);
    return row.element;
  }

  std::optional<Withdrawn> withdrawn_;
  // Contains the exceptions that were raised for elements that are not delivered yet.
  // The iterator owns the dict; a loader that is used again gets another one.
  const std::shared_ptr<nb::object> raised_;
  std::shared_ptr<Loader> loader_;
};

}  // namespace

void define_loader(nb::module_& m) {
  nb::class_<PyLoader>(m, "Loader")
      .def(nb::init<const Dataset&, nb::handle, bool, double, double, std::string, int>(), nb::arg("dataset"),
           nb::arg("raised"), nb::arg("skip") = false, nb::arg("at_most") = 1.0,
           nb::arg("stall_warning_seconds") = 30.0, nb::arg("file") = "", nb::arg("line") = 0)
      .def("next", &PyLoader::next)
      .def("begin_epoch", &PyLoader::begin_epoch)
      .def("watched_by", &PyLoader::watched_by)
      .def("save", &PyLoader::save)
      .def("restore", &PyLoader::restore)
      .def("stats", &PyLoader::stats)
      .def("skipped", &PyLoader::skipped)
      .def("wait_seconds", &PyLoader::wait_seconds)
      .def("give_back", &PyLoader::give_back)
      .def("close", &PyLoader::close);
  m.def("close_all", &PyLoader::close_all);
}

}  // namespace stoker::python
