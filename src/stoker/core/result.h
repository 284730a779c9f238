#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "stoker/core/error.h"

namespace stoker {

// A value, or the error that occurred instead. value() requires ok(), error() requires !ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  template <typename U>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error> && !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  // Returns by value: a reference into a temporary would dangle.
  T value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// STOKER_TRY(expression) and STOKER_TRY(declaration, expression): continues with the value, or
// returns the error from the enclosing function.
#define STOKER_TRY(...) \
  STOKER_TRY_CHOOSE(__VA_ARGS__, STOKER_TRY_VALUE, STOKER_TRY_VALUE, STOKER_TRY_VALUE, STOKER_TRY_VOID, )(__VA_ARGS__)
#define STOKER_TRY_CHOOSE(a, b, c, d, chosen, ...) chosen
#define STOKER_TRY_VOID(expression)                          \
  do {                                                       \
    if (auto tried = (expression); !tried.ok()) [[unlikely]] \
      return std::move(tried).error();                       \
  } while (false)
#define STOKER_TRY_VALUE(declaration, ...) STOKER_TRY_NAMED(declaration, STOKER_TRY_NAME(__LINE__), (__VA_ARGS__))
#define STOKER_TRY_NAMED(declaration, name, expression) STOKER_TRY_ASSIGN(declaration, name, expression)
#define STOKER_TRY_ASSIGN(declaration, name, expression) \
  auto name = expression;                                \
  if (!name.ok()) [[unlikely]]                           \
    return std::move(name).error();                      \
  declaration = std::move(name).value()
#define STOKER_TRY_NAME(line) STOKER_TRY_JOIN(stoker_tried_, line)
#define STOKER_TRY_JOIN(a, b) a##b

}  // namespace stoker
