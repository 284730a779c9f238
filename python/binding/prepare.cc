#include "python/binding/prepare.h"

#include <cxxabi.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/binding/errors.h"
#include "python/binding/interruptible.h"
#include "stoker/prepare/index.h"
#include "stoker/prepare/inspect.h"
#include "stoker/prepare/pack.h"
#include "stoker/prepare/verify.h"

namespace stoker::python {
namespace {

using prepare::OnProgress;
using prepare::Progress;

std::string text_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

std::vector<std::string> paths_of(const nb::list& list) {
  std::vector<std::string> paths;
  for (nb::handle path : list) paths.push_back(text_of(nb::cast<nb::bytes>(path)));
  return paths;
}

// As os.fsdecode() returns it, so that Python can open it.
nb::str path_of(const std::string& path) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(path.data(), static_cast<Py_ssize_t>(path.size()), "surrogateescape"));
}

nb::str text_of(std::string_view text) { return nb::str(text.data(), text.size()); }

// Calls a Python function with the progress of a call, from the thread of the call, which does not hold the GIL. After
// the function raised, it is not called again, and the exception stays set until the call returns.
class ProgressCalls {
 public:
  explicit ProgressCalls(nb::object function) : function_(std::move(function)) {}

  OnProgress on_progress() {
    if (function_.is_none()) return {};
    return [this](const Progress& now) { send(now); };
  }
  bool raised() const { return raised_; }

 private:
  void send(const Progress& now) {
    if (raised_) return;
    PythonCall::stop_if_too_late();
    try {
      const nb::gil_scoped_acquire held;
      try {
        function_(text_of(name_of(now.phase)), now.done, now.total, text_of(name_of(now.unit)), now.items,
                  text_of(name_of(now.item_unit)), now.bytes);
      } catch (nb::python_error& thrown) {
        raised_ = true;
        thrown.restore();
      }
    } catch (abi::__forced_unwind&) {
      PythonCall::stop();
    }
  }

  const nb::object function_;
  bool raised_ = false;
};

// Calls body(on_progress) without the GIL and returns its value, or throws its error. A signal, or an exception of the
// progress function, cancels the call.
template <typename Body>
auto with_progress(nb::object progress, const Body& body) {
  ProgressCalls calls(std::move(progress));
  return value_of(interruptible([&] {
    const InterruptScope scope([&] { return calls.raised() || signals_pending(); });
    return body(calls.on_progress());
  }));
}

// ---- results

nb::list findings_of(const std::vector<prepare::Finding>& findings) {
  nb::list all;
  for (const prepare::Finding& finding : findings) {
    std::optional<int64_t> record, offset;
    if (finding.place) record = finding.place->record, offset = finding.place->offset;
    all.append(nb::make_tuple(path_of(finding.path), readable(finding.message), record, offset));
  }
  return all;
}

template <typename Key>
nb::dict counts_of(const std::map<Key, int64_t>& counts) {
  nb::dict all;
  for (const auto& [key, count] : counts)
    if constexpr (std::is_same_v<Key, std::string>)
      all[path_of(key)] = count;
    else
      all[nb::int_(key)] = count;
  return all;
}

nb::object dict_of(const prepare::Spread& spread) {
  if (spread.count == 0) return nb::none();
  nb::dict all;
  all["min"] = spread.least;
  all["mean"] = spread.mean();
  all["max"] = spread.most;
  return all;
}

nb::dict dict_of(const prepare::ImageFacts& facts) {
  nb::dict all;
  all["formats"] = counts_of(facts.formats);
  all["height"] = dict_of(facts.heights);
  all["width"] = dict_of(facts.widths);
  all["channels"] = counts_of(facts.channels);
  all["unreadable"] = facts.unreadable;
  return all;
}

nb::dict dict_of(const prepare::FeatureFacts& facts) {
  nb::dict all;
  all["kinds"] = counts_of(facts.kinds);
  all["values"] = dict_of(facts.values);
  all["bytes"] = dict_of(facts.sizes);
  all["numbers"] = dict_of(facts.numbers);
  all["images"] = facts.images.formats.empty() ? nb::none() : nb::object(dict_of(facts.images));
  return all;
}

nb::object dict_of(const std::optional<prepare::LabelFacts>& labels) {
  if (!labels) return nb::none();
  nb::list counts;
  for (const prepare::LabelCount& count : labels->counts) {
    nb::dict one;
    one["label"] = count.label;
    one["class"] = labels->named ? nb::object(path_of(count.class_name)) : nb::none();
    one["records"] = count.records;
    counts.append(one);
  }
  nb::dict all;
  all["feature"] = path_of(labels->feature);
  all["counts"] = counts;
  return all;
}

nb::object damage_of(const std::optional<prepare::DamagedPlace>& damage) {
  if (!damage) return nb::none();
  return nb::make_tuple(path_of(damage->path), readable(damage->message), damage->place.record, damage->place.offset);
}

nb::dict dict_of(const prepare::InspectResult& result) {
  nb::dict features, all;
  for (const auto& [name, feature] : result.data.features) features[path_of(name)] = dict_of(feature);
  all["files"] = result.record_files + result.image_files;
  all["bytes"] = result.bytes;
  all["left_out"] = result.left_out;
  all["records"] = result.data.records.count;
  all["record_bytes"] = dict_of(result.data.records);
  all["examples"] = result.data.examples;
  all["features"] = features;
  all["labels"] = dict_of(result.labels);
  all["damaged"] = result.data.damaged;
  all["first_damage"] = damage_of(result.first_damage);
  all["images"] = result.image_files == 0 ? nb::none() : nb::object(dict_of(result.images));
  all["folders"] = counts_of(result.folders);
  return all;
}

nb::list list_of(const std::vector<std::string>& paths) {
  nb::list all;
  for (const std::string& path : paths) all.append(path_of(path));
  return all;
}

// ---- calls

nb::dict pack(const nb::bytes& source, const nb::bytes& destination, const nb::bytes& labels, const nb::bytes& name,
              std::optional<int64_t> shards, int64_t seed, const std::string& split, std::optional<int64_t> resize,
              std::optional<int> quality, const nb::bytes& image_feature, const nb::bytes& label_feature,
              bool keep_bytes, bool skip_errors, bool overwrite, nb::object progress) {
  const prepare::PackOptions options{.source = text_of(source),
                                     .destination = text_of(destination),
                                     .labels = text_of(labels),
                                     .name = text_of(name),
                                     .shards = shards,
                                     .seed = seed,
                                     .split = split,
                                     .resize = resize,
                                     .quality = quality,
                                     .image_feature = text_of(image_feature),
                                     .label_feature = text_of(label_feature),
                                     .keep_bytes = keep_bytes,
                                     .on_error = skip_errors ? OnError::kSkip : OnError::kRaise,
                                     .overwrite = overwrite};
  const prepare::PackResult result =
      with_progress(std::move(progress), [&](const OnProgress& report) { return prepare::pack(options, report); });
  nb::list skipped;
  for (const prepare::SkippedFile& file : result.skipped)
    skipped.append(nb::make_tuple(path_of(file.path), readable(file.error)));
  nb::dict all;
  all["records"] = result.records;
  all["bytes"] = result.bytes;
  all["shards"] = list_of(result.shards);
  all["classes"] = list_of(result.classes);
  all["skipped"] = skipped;
  all["left_out"] = result.left_out;
  all["resized"] = result.resized;
  all["turned"] = result.turned;
  all["continued"] = result.continued;
  return all;
}

nb::list index(const nb::list& paths, const nb::bytes& label, nb::object progress) {
  const prepare::IndexOptions options{.paths = paths_of(paths), .label = text_of(label)};
  const prepare::IndexResult result =
      with_progress(std::move(progress), [&](const OnProgress& report) { return prepare::index(options, report); });
  nb::list files;
  for (const prepare::IndexedFile& file : result.files) {
    nb::dict one;
    one["path"] = path_of(file.path);
    one["bytes"] = file.bytes;
    one["records"] = file.records;
    one["index"] = file.error ? nb::none() : nb::object(path_of(file.index));
    one["created"] = file.created && !file.error;
    one["labels"] = file.labels ? nb::object(counts_of(*file.labels)) : nb::none();
    one["error"] = file.error ? nb::object(readable(file.error->message())) : nb::none();
    files.append(one);
  }
  return files;
}

nb::dict verify(const nb::list& paths, bool images, nb::object progress) {
  const prepare::VerifyOptions options{.paths = paths_of(paths), .images = images};
  const prepare::VerifyResult result =
      with_progress(std::move(progress), [&](const OnProgress& report) { return prepare::verify(options, report); });
  nb::dict all;
  all["files"] = result.files;
  all["bytes"] = result.bytes;
  all["records"] = result.records;
  all["images"] = result.images;
  all["left_out"] = result.left_out;
  all["bad"] = findings_of(result.bad);
  all["damaged"] = findings_of(result.damaged);
  return all;
}

nb::dict inspect(const nb::list& paths, const nb::bytes& sheet, int64_t limit, nb::object progress) {
  const prepare::InspectOptions options{.paths = paths_of(paths), .sheet = text_of(sheet), .limit = limit};
  return dict_of(
      with_progress(std::move(progress), [&](const OnProgress& report) { return prepare::inspect(options, report); }));
}

}  // namespace

void define_prepare(nb::module_& m) {
  m.def("pack", &pack, nb::arg("source"), nb::arg("destination"), nb::arg("labels"), nb::arg("name"),
        nb::arg("shards").none(), nb::arg("seed"), nb::arg("split"), nb::arg("resize").none(),
        nb::arg("quality").none(), nb::arg("image_feature"), nb::arg("label_feature"), nb::arg("keep_bytes"),
        nb::arg("skip_errors"), nb::arg("overwrite"), nb::arg("progress").none());
  m.def("index", &index, nb::arg("paths"), nb::arg("label"), nb::arg("progress").none());
  m.def("verify", &verify, nb::arg("paths"), nb::arg("images"), nb::arg("progress").none());
  m.def("inspect", &inspect, nb::arg("paths"), nb::arg("sheet"), nb::arg("limit"), nb::arg("progress").none());
}

}  // namespace stoker::python
