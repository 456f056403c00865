// Spec and builders of SparseToDense.
#include "ops/sparse_ops.h"

#include <utility>

#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

constexpr std::int64_t kMostRank = 254;  // TensorFlow's

// The result's shape, as far as its dimensions are known while the graph is built.
Shape dense_shape(const ShapeContext& c, std::int64_t rank) {
  if (rank > kMostRank) c.refuse(cat("output_shape has more than ", kMostRank, " dimensions"));
  if (const std::optional<Tensor> value = c.constant("output_shape")) {
    const std::vector<std::int64_t> dims = integers(*value);
    for (const std::int64_t dim : dims)
      if (dim < 0) c.refuse(cat("output_shape holds a dimension of ", dim));
    return Shape(dims);
  }
  if (const std::optional<Shape> shape = c.input_as_shape(c.position("output_shape"))) return *shape;
  return rank < 0 ? Shape::unknown()
                  : Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), kUnknown));
}

const OpRegistration kSparseToDense{{
    .name = "SparseToDense",
    .inputs = {"sparse_indices: Tindices", "output_shape: Tindices", "sparse_values: T", "default_value: T"},
    .outputs = {"dense: T"},
    .attrs = {"validate_indices: bool = true", "T: type", "Tindices: {int32, int64}"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape indices = c.input("sparse_indices"), values = c.input("sparse_values");
      const std::int64_t rank = c.input("output_shape", Rank{1})[0];
      (void)c.input("default_value", Rank{0});
      if (indices.rank() > 2) c.refuse("sparse_indices is neither one index nor a list of them");
      if (values.rank() > 1) c.refuse("sparse_values is neither one value nor a list of them");
      if (indices.has_rank()) {
        (void)c.require_equal(indices.rank() == 2 ? indices[1] : 1, rank, "numbers of dimensions");
        if (values.rank() == 1)
          (void)c.require_equal(indices.rank() == 0 ? 1 : indices[0], values[0],
                                "numbers of indices and values");
      }
      return dense_shape(c, rank);
    },
    .gradient = Gradient::unwritten("it takes elements at places, GatherNd, which is not there yet"),
}};

}  // namespace

Output sparse_to_dense(Output sparse_indices, const Integers& output_shape, Output sparse_values,
                       const Operand& default_value, SparseToDenseOptions o) {
  Graph& graph = sparse_indices.graph();
  const NameScope scope(graph, o.name.empty() ? "SparseToDense" : o.name);
  const Output shape = output_shape.in(graph, "output_shape", o.where, base_of(sparse_indices.dtype()));
  const Output filling = default_value.in(graph, base_of(sparse_values.dtype()), "default_value");
  return graph.add("SparseToDense", {sparse_indices, shape, sparse_values, filling},
                   {{"validate_indices", o.validate_indices}}, scope.name(), o.where);
}

Output sparse_tensor_to_dense(const SparseTensor& sp_input, SparseToDenseOptions options) {
  // "zeros" as TensorFlow's builder names it, beside the op.
  const DType type = base_of(sp_input.values.dtype());
  const Output none =
      constant(sp_input.values.graph(), Tensor::zeros(type, {}), {.name = "zeros", .where = options.where});
  return sparse_tensor_to_dense(sp_input, none, std::move(options));
}

Output sparse_tensor_to_dense(const SparseTensor& sp_input, const Operand& default_value,
                              SparseToDenseOptions options) {
  return sparse_to_dense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value,
                         std::move(options));
}

}  // namespace runnel
