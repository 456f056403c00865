// The notation of op specs, and what the registry promises of every op (cases D2; house rules 22 to 24).
#include "graph/op_spec.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/kernel.h"
#include "ops/array_ops.h"

using namespace runnel;

TEST_CASE("arguments are read from OpDef's notation") {
  const ArgSpec plain("x: T"), fixed("axis: int32"), many("values: N * T"), ref("ref: Ref(float)");
  CHECK(plain.type_attr == "T");
  CHECK(fixed.type == DType::kInt32);
  CHECK((many.number_attr == "N" && many.type_attr == "T" && many.is_list()));
  CHECK((ref.is_ref && ref.type == DType::kFloat));
  CHECK_THROWS_AS(ArgSpec("x T"), Internal);
}

TEST_CASE("attributes are read with types, limits and defaults") {
  const AttrSpec types("T: {float, double} = DT_DOUBLE"), number("N: int >= 2"), text("s: {'a', 'b'} = 'b'");
  CHECK(types.allowed_types == std::vector{DType::kFloat, DType::kDouble});
  CHECK(*types.default_value == AttrValue(DType::kDouble));
  CHECK(number.minimum == 2);
  CHECK(*text.default_value == AttrValue("b"));
  CHECK(AttrSpec("l: list(int) = [1, 2]").default_value->text() == "[1, 2]");
  CHECK_THROWS_AS(AttrSpec("T: {floaty}"), Internal);
}

TEST_CASE("every op has a gradient or says why not, and every kernel belongs to an op") {
  for (const auto& op : all_ops()) {
    const std::string& name = op.first;
    const OpSpec& spec = op.second;
    CAPTURE(name);
    CHECK((spec.gradient.kind() == Gradient::Kind::kFunction || !spec.gradient.reason().empty()));
    // Tests of this program register ops of their own, some only to be imported.
    const bool needs_kernel =
        !name.starts_with("Test") && spec.traits.role == Role::kPlain && !spec.traits.view;
    CHECK((!needs_kernel || !kernels_of(name).empty()));
  }
}

TEST_CASE("attributes out of their range are refused by name") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  CHECK_THROWS_WITH_AS(g.add("Cast", {x}, {{"DstT", 3}}, "c"),
                       "Cast 'c': attr DstT must be of type type, not 3", InvalidArgument);
  CHECK_THROWS_WITH_AS(g.add("Cast", {x}, {}, "c"), "Cast 'c': attr DstT (type) is missing", InvalidArgument);
  CHECK_THROWS_WITH_AS(g.add("Nonsense", {x}, {}, "n"),
                       "Nonsense 'n': no op of this name is known; `runnel ops` lists them", NotFound);
  CHECK_THROWS_WITH_AS(g.add("Cast", {}, {{"DstT", DType::kFloat}}, "c"), "Cast 'c': takes 1 inputs, not 0",
                       InvalidArgument);
}
