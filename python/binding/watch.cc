#include "python/binding/watch.h"

#include <cxxabi.h>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <atomic>

#include "python/binding/calls.h"
#include "python/binding/convert.h"
#include "stoker/runtime/messages.h"

namespace stoker::python {
namespace {

// A clock for tests, which set its time.
struct Clock {
  std::shared_ptr<std::atomic<int64_t>> now = std::make_shared<std::atomic<int64_t>>(0);
};

// Returns a function that passes text to a Python function. It may be called from any thread.
std::function<void(const std::string&)> message_sink_of(nb::object function) {
  return [kept = keep(std::move(function))](const std::string& text) {
    const PythonCall entered;
    if (!entered) return;
    const nb::gil_scoped_acquire held;
    try {
      (*kept)(text);
    } catch (abi::__forced_unwind&) {
      PythonCall::stop();
    } catch (nb::python_error& thrown) {
      thrown.discard_as_unraisable("reporting a message");
    }
  };
}

// ---- values

std::optional<DType> float_type(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) { return type.code == static_cast<uint8_t>(code) && type.bits == bits; };
  if (type.lanes != 1) return std::nullopt;
  if (is(Code::Float, 16)) return DType::kFloat16;
  if (is(Code::Float, 32)) return DType::kFloat32;
  if (is(Code::Float, 64)) return DType::kFloat64;
  if (is(Code::Bfloat, 16)) return DType::kBfloat16;
  return std::nullopt;
}

// Values on a device are not examined: reading them would make the loop wait for the device.
bool lies_on_a_device(nb::handle value) {
  if (!nb::hasattr(value, "device")) return false;
  const nb::object device = value.attr("device");
  return nb::hasattr(device, "type") && nb::cast<std::string>(nb::str(device.attr("type"))) != "cpu";
}

void look_at_array(nb::handle value, const std::string& path, std::vector<NonFinite>& found) {
  if (lies_on_a_device(value)) return;
  nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(value, array)) return;
  const std::optional<DType> type = float_type(array.dtype());
  if (!type) return;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  // Does not outlive `array`.
  Buffer* borrowed = Buffer::wrap(array.data(), array.nbytes(), [] {});
  if (std::optional<NonFinite> bad = non_finite_in(Array::over(array.data(), dims, *type, borrowed), path))
    found.push_back(*std::move(bad));
}

// A batch consists of a few arrays in tuples, lists and dicts. Structures that are nested
// deeper or have more parts are not examined.
constexpr size_t kMostParts = 64;
constexpr int kDeepest = 8;

void look_at(nb::handle value, const std::string& path, int depth, std::vector<NonFinite>& found) {
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + "/" + name; };
  if (depth > kDeepest) return;
  if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
    if (nb::len(value) > kMostParts) return;
    size_t i = 0;
    for (nb::handle part : value) look_at(part, below(std::to_string(i++)), depth + 1, found);
  } else if (PyDict_Check(value.ptr())) {
    if (nb::len(value) > kMostParts) return;
    for (auto [key, part] : nb::borrow<nb::dict>(value))
      look_at(part, below(nb::cast<std::string>(nb::str(key))), depth + 1, found);
  } else if (nb::ndarray_check(value)) {
    look_at_array(value, path, found);
  }
}

// ---- the recorder

using Window = std::optional<std::pair<double, int64_t>>;

WatchOptions options_of(Window window, std::optional<int64_t> steps, std::optional<double> stall, nb::object on_message,
                        const Clock* clock) {
  WatchOptions options{.steps = steps, .python = true, .on_message = message_sink_of(std::move(on_message))};
  if (window) std::tie(options.window_seconds, options.window_steps) = *window;
  if (stall) options.silence_seconds = *stall;
  if (clock) options.clock = [now = clock->now] { return now->load(); };
  return options;
}

// Records that a batch was delivered. Returns whether an interval has ended.
bool give(PyRecorder& self, int64_t asked, nb::handle batch) {
  self->give(asked);
  if (self->wants_values()) {
    const int64_t looked_since = self->now();
    std::vector<NonFinite> found;
    look_at(batch, "", 0, found);
    self->note_values(found, looked_since);
  }
  return self->is_due();
}

}  // namespace

void PyRecorder::look_while_waiting_in(Loader& loader) const {
  loader.on_waiting([recorder = std::weak_ptr(recorder_)](const LoaderStats& stats) {
    if (const std::shared_ptr<Recorder> alive = recorder.lock()) alive->look_while_waiting(stats);
  });
}

void define_watch(nb::module_& m) {
  nb::class_<LoaderStats>(m, "LoaderStats")
      .def(nb::init<>())
      .def_ro("skipped", &LoaderStats::skipped)
      .def("to_json", [](const LoaderStats& self) { return to_json(self).text(); });
  nb::class_<Clock>(m, "Clock").def(nb::init<>()).def("set", [](Clock& self, double seconds) {
    *self.now = static_cast<int64_t>(seconds * 1e9);
  });
  nb::class_<PyRecorder>(m, "Recorder")
      .def(
          "__init__",
          [](PyRecorder* self, const Dataset* dataset, std::string source, std::optional<int64_t> batches,
             std::optional<int> workers, Window window, std::optional<int64_t> steps, std::optional<double> stall,
             nb::object on_message, const Clock* clock) {
            Supply supply = dataset ? Supply::of(*dataset)
                                    : Supply{.source = std::move(source), .batches = batches, .workers = workers};
            new (self) PyRecorder(options_of(window, steps, stall, std::move(on_message), clock), std::move(supply));
          },
          nb::arg("dataset").none(), nb::arg("source"), nb::arg("batches").none(), nb::arg("workers").none(),
          nb::arg("window").none(), nb::arg("steps").none(), nb::arg("stall").none(), nb::arg("on_message"),
          nb::arg("clock").none())
      .def("begin_epoch", [](PyRecorder& self, std::string at) { self->begin_epoch(std::move(at)); })
      .def("ask", [](PyRecorder& self) { return self->ask(); })
      .def("give", &give, nb::arg("asked"), nb::arg("batch").none())
      .def("end", [](PyRecorder& self) { self->end(); })
      .def("fail", [](PyRecorder& self, std::string message,
                      std::string path) { self->fail(std::move(message), std::move(path)); })
      .def("look", [](PyRecorder& self, const LoaderStats& stats) { self->look(stats); })
      .def("note_stats", [](PyRecorder& self, const LoaderStats& stats) { self->note_stats(stats); })
      .def("note_silence",
           [](PyRecorder& self, std::optional<double> on_cpu, std::string where) {
             self->look_while_waiting({}, {.on_cpu = on_cpu, .where = std::move(where)});
           })
      .def("note_skipped", [](PyRecorder& self, int64_t skipped, std::string first,
                              std::string path) { self->note_skipped(skipped, std::move(first), std::move(path)); })
      .def("wants_probe", [](PyRecorder& self) { return self->wants_probe(); })
      .def("note_probe", [](PyRecorder& self, double seconds) { self->note_probe(seconds); })
      .def("report", [](PyRecorder& self, const LoaderStats& stats) { return self->report(stats); })
      .def("to_json", [](PyRecorder& self, const LoaderStats& stats) { return self->to_json(stats).text(); });
  m.def(
      "send_messages_to",
      [](nb::object function) {
        std::function<void(const std::string&)> sink;
        if (!function.is_none()) sink = message_sink_of(std::move(function));
        const nb::gil_scoped_release released;  // a thread that is sending a message needs the GIL
        set_message_sink(std::move(sink));
      },
      nb::arg("function").none());
}

}  // namespace stoker::python
