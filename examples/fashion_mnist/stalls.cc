#include "examples/fashion_mnist/stalls.h"

#include <chrono>
#include <cmath>
#include <ctime>

#include "examples/fashion_mnist/images.h"
#include "stoker/codecs/png.h"
#include "stoker/stoker.h"
#include "stoker/watch/watch.h"

namespace fashion_mnist {
namespace {

using namespace stoker;
using Clock = std::chrono::steady_clock;
using Next = std::function<Result<std::optional<Element>>()>;

constexpr int64_t kStartUp = 3;  // steps that are not counted

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

template <typename T>
T or_throw(Result<T> result) {
  if (!result) throw result.error();
  return *std::move(result);
}

WatchOptions options(const Effort& effort, std::optional<int64_t> steps = {}) {
  return {.window_seconds = effort.window_seconds,
          .window_steps = 20,
          .steps = steps,
          .on_message = [](const std::string&) {}};
}

// Trains on the batches that `next` returns, until the time, the steps or the data
// end.
Form trained(const Train& train, Watch& watch, const Next& next, const Effort& effort) {
  Form form;
  const Clock::time_point begun = Clock::now();
  Clock::time_point counted_from = begun;
  while (form.steps < effort.steps && seconds_since(begun) < effort.seconds) {
    const std::optional<Element> batch = or_throw(next());
    if (!batch) break;
    train(*batch);
    if (++form.steps == kStartUp) counted_from = Clock::now();
  }
  form.step_seconds = seconds_since(counted_from) / static_cast<double>(std::max<int64_t>(1, form.steps - kStartUp));
  form.verdicts = watch.verdicts();
  return form;
}

// `asked` is the number of steps per epoch that is passed to the watch.
Form trained(const Train& train, const Dataset& dataset, const Effort& effort, std::optional<int64_t> asked = {}) {
  Loader loader(dataset);
  Watch watch(loader, options(effort, asked));
  return trained(train, watch, [&] { return watch.next(); }, effort);
}

// ---- the loop decodes its own images

// The decoding time as a share of the network's time: large enough to matter, and
// small enough for one other core to keep up.
constexpr double kDecodeShare = 0.6;
constexpr int64_t kTrialSide = 128;

// PNGs of side x side, enlarged from the small images, with their labels.
Dataset large_images(const std::string& folder, int64_t side, const Effort& effort) {
  const Dataset enlarged =
      decoded(records(folder, "train").take({.count = effort.large_images}))
          .map({.map_func = [side](Value image, Value label) {
            const Value large = image::resize(reshape(image, {.shape = {28, 28, 1}}), {.height = side, .width = side});
            return tuple(cast(large * 255.0f, kUint8), label);
          }});
  std::vector<std::string> pngs;
  std::vector<int64_t> labels;
  Loader loader(enlarged);
  for (auto& one : loader) {
    pngs.push_back(or_throw(
        encode_png({.height = side, .width = side, .channels = 1}, static_cast<const std::byte*>(one[0].raw()))));
    labels.push_back(one[1].scalar<int64_t>());
  }
  return Dataset::from_tensor_slices({.tensors = tuple_of({Element(Array::from(pngs)), Element(Array::from(labels))})});
}

Dataset shrunk(const Dataset& large) {
  return large.map({.map_func = [](Value png, Value label) {
    const Value image = image::resize(io::decode_png(png, {.channels = 1}), {.height = 28, .width = 28});
    return tuple(reshape(image, {.shape = {1, 28, 28}}) / 255.0f, label);
  }});
}

// Produces a batch on the calling thread, one image at a time.
Result<Element> batch_by_hand(const Dataset& images, int64_t& position, const Effort& effort) {
  std::vector<Array> pixels, labels;
  for (int64_t i = 0; i < effort.batch; ++i) {
    STOKER_TRY(Element one, images.at(position++ % effort.large_images));
    pixels.push_back(one[0]);
    labels.push_back(one[1]);
  }
  STOKER_TRY(Array all_images, stacked(pixels));
  STOKER_TRY(Array all_labels, stacked(labels));
  return tuple_of({Element(std::move(all_images)), Element(std::move(all_labels))});
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU time, so that other programs on the machine do not matter.
template <typename Work>
double cpu_seconds(Work work) {
  constexpr int kTimes = 5;
  work();  // start-up is not counted
  const double begun = thread_cpu_seconds();
  for (int i = 0; i < kTimes; ++i) work();
  return (thread_cpu_seconds() - begun) / kTimes;
}

// The side of images whose decoding takes kDecodeShare on this machine.
int64_t fitting_side(const Train& train, const std::string& folder, const Effort& effort) {
  const Dataset trial = shrunk(large_images(folder, kTrialSide, effort));
  int64_t position = 0;
  Element batch;
  const double decode = cpu_seconds([&] { batch = or_throw(batch_by_hand(trial, position, effort)); });
  const double compute = cpu_seconds([&] { train(batch); });
  return std::lround(static_cast<double>(kTrialSide) * std::sqrt(kDecodeShare * compute / decode));
}

}  // namespace

DecodeInTheLoop decode_in_the_loop(const Train& train, const std::string& folder, const Effort& effort) {
  DecodeInTheLoop result;
  result.side = fitting_side(train, folder, effort);
  const Dataset images = shrunk(large_images(folder, result.side, effort));
  int64_t position = 0;
  double decoding = 0;
  const auto make = [&]() -> Result<std::optional<Element>> {
    const Clock::time_point begun = Clock::now();
    STOKER_TRY(Element batch, batch_by_hand(images, position, effort));
    decoding += seconds_since(begun);
    return batch;
  };
  Watch watch(make, options(effort));
  result.stalled = trained(train, watch, [&] { return watch.next(); }, effort);
  result.good = trained(train, images.repeat({}).batch({.batch_size = effort.batch}), effort);
  result.decode_seconds = decoding / static_cast<double>(result.stalled.steps);
  return result;
}

Mended new_iterator_each_step(const Train& train, const std::string& folder, const Effort& effort) {
  const auto batches = [&] {
    return decoded(records(folder, "train").shuffle({.buffer_size = 10'000, .seed = 1}))
        .batch({.batch_size = effort.batch});
  };
  Loader loader(batches());
  Watch watch(loader, options(effort));
  Mended result;
  result.stalled = trained(train, watch, [&] { return std::optional(*watch.begin()); }, effort);
  result.good = trained(train, batches(), effort);
  return result;
}

Mended steps_beyond_the_data(const Train& train, const std::string& folder, Effort effort) {
  effort.steps = kStepsAsked;
  const Dataset images = decoded(records(folder, "train").take({.count = kBatchesThere * effort.batch}));
  Mended result;
  result.stalled = trained(train, images.batch({.batch_size = effort.batch}), effort, kStepsAsked);
  result.good = trained(train, images.repeat({}).batch({.batch_size = effort.batch}), effort, kStepsAsked);
  return result;
}

}  // namespace fashion_mnist
