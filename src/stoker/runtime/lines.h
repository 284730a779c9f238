#pragma once

#include <memory>
#include <string_view>

#include "stoker/runtime/line.h"

namespace stoker {

// The kinds of places a line is made of, one file each.
std::unique_ptr<LineNode> make_list_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_stream_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_select_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_shuffle_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_repeat_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_cache_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_zip_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_concatenate_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_enumerate_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_sequence_line(const LinePlan& plan, Instance& instance, int64_t pass);
std::unique_ptr<LineNode> make_port_line(const LinePlan& plan, Instance& instance);

// Reading what was saved. A count or position that is none comes back as -1;
// a part that is missing, as null.
int64_t saved_count(const Json& json, std::string_view key, int64_t standard = 0);
const Json& saved_part(const Json& json, std::string_view key);

constexpr int64_t kMostRows = 4096;  // in one pull of a line's own

// A pull that finds nothing to give for so long is broken off as blocked, and goes
// on when it is pulled again: whoever waits for its thread, or interrupts it, does
// not wait for long.
constexpr int64_t kLongestPullNs = 20'000'000;

}  // namespace stoker
