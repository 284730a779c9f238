#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "stoker/graph/expr.h"
#include "stoker/graph/stage.h"

namespace stoker {

namespace traits {

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename R, typename... A>
struct Signature<R (*)(A...)> {
  using Return = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <typename R, typename... A>
struct Signature<R(A...)> : Signature<R (*)(A...)> {};

// Has one signature: a function, or an object with one operator().
template <typename F>
concept Callable = std::is_function_v<std::remove_pointer_t<F>> || requires { &F::operator(); };

template <typename T>
constexpr bool is_plain = ArrayType<T> || std::is_same_v<T, std::string> || std::is_same_v<T, Array>;

template <typename Tuple>
struct Arguments;
template <typename... A>
struct Arguments<std::tuple<A...>> {
  static constexpr size_t count = sizeof...(A);
  static constexpr bool symbolic = count > 0 && (std::is_same_v<A, Value> && ...);
  static constexpr bool plain = count > 0 && (is_plain<A> && ...);
};

template <typename T>
struct IsResult : std::false_type {};
template <typename T>
struct IsResult<Result<T>> : std::true_type {};
template <typename T>
struct IsTuple : std::false_type {};
template <typename... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};

}  // namespace traits

// Returns the error for an exception that user code threw. Call it in a catch block.
Error error_of_exception();

// Converts a C++ value to a component of an element.
template <typename T>
Array to_array(T&& value) {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, Array>)
    return std::forward<T>(value);
  else if constexpr (std::is_convertible_v<Plain, Bytes>)
    return Array::of_bytes(value);
  else
    return Array::of<Plain>(value);
}

template <typename T>
Element to_element(T&& value) {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Plain, Element>) {
    return std::forward<T>(value);
  } else if constexpr (traits::IsTuple<Plain>::value) {
    return std::apply(
        [](auto&&... parts) {
          InlineVector<Array, 2> leaves;
          (leaves.push_back(to_array(std::forward<decltype(parts)>(parts))), ...);
          return Element(Nest::tuple_of_leaves(sizeof...(parts)), std::move(leaves));
        },
        std::forward<T>(value));
  } else {
    return Element(to_array(std::forward<T>(value)));
  }
}

// A function of `map`, `filter` and others: an expression, which is saved with the graph, or a C++ callable, which is
// not.
class Function {
 public:
  class Callable {
   public:
    virtual ~Callable() = default;
    virtual Result<void> apply(Run& run, Context& context) const = 0;
    virtual std::string describe() const = 0;
    // Equal in every process that runs the same program, and different for another function, as far as this can be
    // determined. Checkpoints compare it.
    virtual std::string identity() const { return describe(); }
    // The maximum number of concurrent calls; 0: no limit.
    virtual int64_t most_calls() const { return 0; }
    // Must be called for each element of the input, in order: no other stage moves across it.
    virtual bool is_sequence() const { return false; }
    // Whether it may use the random numbers of its element (Context::rng).
    virtual bool draws() const { return true; }
  };

  Function() = default;
  explicit Function(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  explicit Function(std::shared_ptr<const Callable> callable) : callable_(std::move(callable)) {}

  // Traces a callable on symbolic values, once. A callable on plain types becomes a loop over columns. A callable on
  // elements is called row by row.
  template <typename F>
    requires traits::Callable<F>
  Function(F f);

  bool empty() const { return !program_ && !callable_; }
  const Program* program() const { return program_.get(); }
  bool calls_user() const { return callable_ != nullptr; }
  PassUse pass_use() const {
    return (callable_ ? callable_->draws() : program_->random()) ? PassUse::kDraws : PassUse::kNone;
  }
  int64_t most_calls() const { return callable_ ? callable_->most_calls() : 0; }
  bool is_sequence() const { return callable_ && callable_->is_sequence(); }
  bool waits() const { return program_ && program_->waits(); }
  Result<Spec> spec(const Spec& input) const;
  Result<void> apply(Run& run, Context& context) const;
  std::string describe() const;
  std::string identity() const { return callable_ ? callable_->identity() : describe(); }

 private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Callable> callable_;
  std::optional<Error> broken_;  // the error of tracing, which check() returns
 public:
  Result<void> check() const {
    if (broken_) return *broken_;
    if (empty()) return Error::invalid("expected a function, got none");
    return {};
  }
};
template <>
const Codec& plain_codec<Function>();

// Returns the dataset that an element opens: a C++ callable, or stages as JSON, in which {"element": path} refers to a
// component of the element.
class GraphFunction {
 public:
  GraphFunction() = default;
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, GraphFunction> && std::is_invocable_v<F, const Element&>)
  GraphFunction(F f)
      : call_(std::make_shared<const Call>([f = std::move(f)](const Element& element) -> Result<Graph> {
          try {
            if constexpr (traits::IsResult<std::invoke_result_t<F, const Element&>>::value) {
              auto made = f(element);
              if (!made) return std::move(made).error();
              return as_graph(*std::move(made));
            } else {
              return as_graph(f(element));
            }
          } catch (...) {
            return error_of_exception();
          }
        })) {}
  // Files that the stages name are in `folder`.
  GraphFunction(Json stages, const Registry* registry, std::string folder);
  // Returns the same function with an identity, which checkpoints compare (Function::Callable::identity), and the
  // datasets that it captures (Stage::captured). `draws`: whether the datasets that it returns may have random numbers
  // or an order of their own.
  GraphFunction identified(std::string identity, std::vector<Graph> captured, bool draws = true) const;

  bool empty() const { return !call_; }
  Result<Graph> open(const Element& element) const { return (*call_)(element); }
  // The stages as JSON; null for a callable.
  const Json* written() const { return written_.get(); }
  std::string identity() const { return facts_ ? facts_->identity : "a C++ function"; }
  std::vector<Graph> captured() const { return facts_ ? facts_->captured : std::vector<Graph>(); }
  PassUse pass_use() const { return !facts_ || facts_->draws ? PassUse::kDraws : PassUse::kNone; }

 private:
  using Call = std::function<Result<Graph>(const Element&)>;
  struct Facts {
    std::string identity;
    std::vector<Graph> captured;
    bool draws = true;
  };

  template <typename Made>
  static Result<Graph> as_graph(const Made& made) {
    if constexpr (requires { made.error(); })
      if (made.error()) return *made.error();
    Graph graph = made;
    if (!graph.node()) return Error::invalid("the function returned no dataset");
    return graph;
  }

  std::shared_ptr<const Call> call_;
  std::shared_ptr<const Json> written_;
  std::shared_ptr<const Facts> facts_;
};
template <>
const Codec& plain_codec<GraphFunction>();

// ---- implementation: how callables are called

namespace traits {

// Calls `body` for each row that has not failed. An exception or error is the failure of its row.
template <typename Body>
void for_each_row(Run& run, Context& context, Body&& body) {
  size_t next_failed = 0;
  const size_t failed_before = run.failed.size();
  std::vector<std::pair<int32_t, Error>> found;
  int32_t row = 0;
  while (row < run.size) {
    try {
      for (; row < run.size; ++row) {
        if (next_failed < failed_before && run.failed[next_failed].row == row) {
          ++next_failed;
          continue;
        }
        context.set_row(row);
        Result<void> done = body(row);
        if (!done) found.emplace_back(row, std::move(done).error());
      }
    } catch (...) {
      found.emplace_back(row, error_of_exception());
      ++row;
    }
  }
  for (auto& [at, error] : found) run.fail(at, std::move(error));
}

Error wrong_argument(size_t argument, const Array& found, DType expected);
Result<void> check_argument_count(const Run& run, size_t expected);

template <typename T>
Result<T> argument_of(const Array& array, size_t argument) {
  if constexpr (std::is_same_v<T, Array>) {
    Array own = array;
    own.isolate(Buffer::Access::kBorrow);
    return own;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (array.type() != DType::kBytes || array.rank() != 0) return wrong_argument(argument, array, DType::kBytes);
    return std::string(array.bytes());
  } else {
    if (array.type() != dtype_of<T> || array.rank() != 0) return wrong_argument(argument, array, dtype_of<T>);
    return array.scalar<T>();
  }
}

// A callable from numbers to a number: a loop over columns.
template <typename R, typename Tuple>
constexpr bool is_kernel = false;
template <typename R, typename... A>
constexpr bool is_kernel<R, std::tuple<A...>> =
    ArrayType<R> && !std::is_same_v<R, Bytes> && ((ArrayType<A> && !std::is_same_v<A, Bytes>) && ...);

template <typename F>
class PlainCallable final : public Function::Callable {
 public:
  using R = typename Signature<F>::Return;
  using Tuple = typename Signature<F>::Arguments;
  static constexpr size_t kCount = std::tuple_size_v<Tuple>;

  explicit PlainCallable(F f) : f_(std::move(f)) {}
  std::string describe() const override { return "a C++ function on plain values"; }
  bool draws() const override { return false; }

  Result<void> apply(Run& run, Context& context) const override {
    STOKER_TRY(check_argument_count(run, kCount));
    if constexpr (is_kernel<std::decay_t<R>, Tuple>)
      if (all_dense(run, std::make_index_sequence<kCount>()))
        return kernel(run, context, std::make_index_sequence<kCount>());
    return by_row(run, context, std::make_index_sequence<kCount>());
  }

 private:
  template <size_t... I>
  static bool all_dense(Run& run, std::index_sequence<I...>) {
    return (dense_of<std::tuple_element_t<I, Tuple>>(run.columns[I]) && ...);
  }
  template <typename T>
  static bool dense_of(Column& column) {
    if (!column.make_dense()) return false;
    return column.block().type() == dtype_of<T> && column.block().rank() == 1;
  }
  template <size_t... I>
  Result<void> kernel(Run& run, Context& context, std::index_sequence<I...>) const {
    using Out = std::decay_t<R>;
    const auto columns = std::make_tuple(run.columns[I].block().template values<std::tuple_element_t<I, Tuple>>()...);
    const int64_t n = run.size;
    STOKER_TRY(Array out, context.output_block(0, Dims(&n, 1), dtype_of<Out>));
    Out* to = static_cast<Out*>(out.mutable_raw());
    if (run.failed.empty()) {
      // An exception is the failure of the row at which the loop stopped, so rows need no check of their own.
      for (int64_t i = 0; i < n;) {
        int64_t at = i;
        try {
          for (; at < n; ++at) {
            context.set_row(static_cast<int32_t>(at));
            to[at] = f_(std::get<I>(columns)[static_cast<size_t>(at)]...);
          }
        } catch (...) {
          run.fail(static_cast<int32_t>(at), error_of_exception());
        }
        i = at + 1;
      }
    } else {
      for_each_row(run, context, [&](int32_t i) -> Result<void> {
        to[i] = f_(std::get<I>(columns)[static_cast<size_t>(i)]...);
        return {};
      });
    }
    run.columns.clear();
    run.columns.emplace_back(std::move(out));
    run.nest = Nest::leaf();
    return {};
  }
  template <size_t... I>
  Result<void> by_row(Run& run, Context& context, std::index_sequence<I...>) const {
    ResultRows made(run.size, context.like());
    for_each_row(run, context, [&](int32_t i) -> Result<void> {
      auto arguments = std::make_tuple(argument_of<std::tuple_element_t<I, Tuple>>(run.columns[I].row(i), I)...);
      const Error* wrong = nullptr;
      ((wrong = wrong || std::get<I>(arguments).ok() ? wrong : &std::get<I>(arguments).error()), ...);
      if (wrong) return *wrong;
      if constexpr (IsResult<std::decay_t<R>>::value) {
        auto result = f_(*std::move(std::get<I>(arguments))...);
        if (!result) return std::move(result).error();
        return made.set(i, to_element(*std::move(result)));
      } else {
        return made.set(i, to_element(f_(*std::move(std::get<I>(arguments))...)));
      }
    });
    made.put_into(run);
    return {};
  }

  F f_;
};

template <typename F>
class ElementCallable final : public Function::Callable {
 public:
  explicit ElementCallable(F f) : f_(std::move(f)) {}
  std::string describe() const override { return "a C++ function on elements"; }
  bool draws() const override { return std::is_invocable_v<const F&, Element, Context&>; }

  Result<void> apply(Run& run, Context& context) const override {
    ResultRows made(run.size, context.like());
    for_each_row(run, context, [&](int32_t i) -> Result<void> {
      auto result = call(run.argument(i), context);
      if constexpr (IsResult<decltype(result)>::value) {
        if (!result) return std::move(result).error();
        return made.set(i, to_element(*std::move(result)));
      } else {
        return made.set(i, to_element(std::move(result)));
      }
    });
    made.put_into(run);
    return {};
  }

 private:
  auto call(Element element, Context& context) const {
    if constexpr (std::is_invocable_v<const F&, Element, Context&>)
      return f_(std::move(element), context);
    else
      return f_(std::move(element));
  }
  F f_;
};

template <typename F, size_t... I>
Value traced(F& f, std::index_sequence<I...>) {
  return f(Value(Expr::of_argument(static_cast<int>(I)))...);
}

}  // namespace traits

template <typename F>
  requires traits::Callable<F>
Function::Function(F f) {
  using Arguments = traits::Arguments<typename traits::Signature<F>::Arguments>;
  if constexpr (Arguments::symbolic) {
    try {
      Value result = traits::traced(f, std::make_index_sequence<Arguments::count>());
      auto program = Program::compile(result.expr(), static_cast<int>(Arguments::count));
      if (program)
        program_ = *std::move(program);
      else
        broken_ = std::move(program).error();
    } catch (...) {
      broken_ = error_of_exception();
    }
  } else if constexpr (Arguments::plain) {
    callable_ = std::make_shared<const traits::PlainCallable<F>>(std::move(f));
  } else {
    static_assert(std::is_invocable_v<F, Element> || std::is_invocable_v<F, Element, Context&>,
                  "a function takes symbolic values, plain values, or an Element");
    callable_ = std::make_shared<const traits::ElementCallable<F>>(std::move(f));
  }
}

}  // namespace stoker
