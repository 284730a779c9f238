#pragma once

#include <functional>
#include <string>

namespace stoker {

// Where messages go: the watchdog's, warnings. Standard error by default.
void set_message_sink(std::function<void(const std::string&)> sink);
void tell(const std::string& message);

}  // namespace stoker
