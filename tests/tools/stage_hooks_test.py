"""Optional functions of a stage: one with another signature, or one that its form does not call, does not compile."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"

PROGRAM = """
#include "stoker/graph/stage_of.h"

namespace stoker {

struct Named {
  static constexpr std::string_view kName = "name", kDoc = "A stage.";
  void describe(Fields&) {}
};
struct Map : Named {
  Result<Element> apply(Element element, Context&) const { return element; }
};
struct Selection : Named {
  int64_t step = 1;  // a field may have the name of a function of another form
  int64_t length(int64_t n) const { return n; }
  int64_t at(int64_t i) const { return i; }
};
struct Sequence : Named {
  struct State {};
  Result<Flow> step(State&, Element, Emit&, Context&) const { return Flow::kMore; }
};

%s

}  // namespace stoker
"""

# Each struct, and what the message of the compiler must name.
WRONG = {
    "NotConst": ("struct NotConst : Map { Result<void> check() { return {}; } };", "Result<void> check() const"),
    "OtherResult": ("struct OtherResult : Map { int by_item() const { return 1; } };", "bool by_item() const"),
    "OtherArguments": ("struct OtherArguments : Selection { Result<Spec> spec(const Spec& s) const { return s; } };",
                       "Result<Spec> spec(std::span<const Spec> inputs) const"),
    "Private": ("class Private : public Map { bool calls_user() const { return true; } };", "bool calls_user() const"),
    "Finish": ("struct Finish : Sequence { Result<Flow> finish(State&, Emit&) const { return Flow::kDone; } };",
               "Result<Flow> finish(State& state, Emit& out, Context& context) const"),
    "Length": ("struct Length : Map { int cardinality() const { return 0; } };", "int64_t cardinality("),
    "NoForm": ("struct NoForm : Named { Element apply(Element element) { return element; } };",
               "Result<Element> apply(Element, Context&) const"),
    "FinishOfMap": ("""struct FinishOfMap : Map {
                         struct State {};
                         Result<Flow> finish(State&, Emit&, Context&) const { return Flow::kDone; }
                       };""",
                    "`finish` is a function of sequences, and this stage has another form"),
    "NextOfSelection": ("""struct NextOfSelection : Selection {
                             struct State {};
                             Result<std::optional<Element>> next(State&) const { return std::optional<Element>(); }
                           };""",
                        "`next` is a function of streams, and this stage has another form"),
    "ConstantOfMap": ("struct ConstantOfMap : Map { static constexpr bool kUnbatches = true; };",
                      "`kUnbatches` is a constant of sequences, and this stage has another form"),
    "Final": ("struct Final final : Map {};", "the struct of a stage must not be final"),
    "ForgetfulState": ("""struct ForgetfulState : Named {
                            struct State { int64_t seen = 0; };
                            Result<Flow> step(State&, Element, Emit&, Context&) const { return Flow::kMore; }
                          };""",
                       "the State of a sequence must have: void describe(Fields& f)"),
    "LoadOfSelection": ("""struct LoadOfSelection : Selection {
                             Result<Element> load(Element element, Context&) const { return element; }
                           };""",
                        "`load` is a function of lists and streams, and this stage has another form"),
}


def compiled(structs, names):
    """Return the exit code and the messages of the compiler for a program that makes stages of the structs."""
    calls = "\n".join(f"auto make_{name}() {{ return make_stage({name}{{}}); }}" for name in names)
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(PROGRAM % "\n".join([*structs, calls]))
        file.flush()
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", f"-I{SOURCE}", file.name],
                              capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class StageHooks(unittest.TestCase):
    def test_structs_with_the_right_signatures_compile(self):
        status, messages = compiled([], ["Map", "Selection", "Sequence"])
        self.assertEqual(status, 0, messages)

    def test_a_wrong_function_does_not_compile_and_the_message_names_it(self):
        status, messages = compiled([struct for struct, _ in WRONG.values()], list(WRONG))
        self.assertNotEqual(status, 0)
        for name, (_, expected) in WRONG.items():
            with self.subTest(name):
                self.assertIn(expected, messages)


if __name__ == "__main__":
    unittest.main()
