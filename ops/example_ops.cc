// Specs of the ops that parse Example messages, and builders. The builders emit the ops of TensorFlow 1,
// which readers of any age know.
#include "ops/example_ops.h"

#include <cctype>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

// Shapes of dense features, of which only the first dimension may differ from example to example.
const std::vector<Shape>& dense_shapes(const ShapeContext& c) {
  const auto& shapes = *c.node().attr("dense_shapes")->if_is<std::vector<Shape>>();
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    bool good = shapes[k].has_rank();
    for (int i = 1; good && i < shapes[k].rank(); ++i) good = shapes[k][i] >= 0;
    if (!good) c.refuse(cat("dense_shapes[", k, "] is ", shapes[k], ", known but for the first dimension"));
  }
  return shapes;
}

bool is_sequence(const Shape& shape) { return shape.rank() > 0 && shape[0] < 0; }

// A default is none, a feature's whole value, or for a sequence the one value that rows are filled up with.
void check_defaults(const ShapeContext& c, const std::vector<Shape>& shapes) {
  if (shapes.size() != static_cast<std::size_t>(c.count("dense_defaults")))
    c.refuse(cat(shapes.size(), " dense_shapes for ", c.count("dense_defaults"), " defaults"));
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Shape given = c.input("dense_defaults", static_cast<int>(k));
    if (!given.is_known()) continue;
    const bool good = is_sequence(shapes[k]) ? given.elements() == 1
                                             : given.elements() == 0 || given.compatible_with(shapes[k]);
    if (!good) c.refuse(cat("default ", k, " does not fit the feature's shape ", shapes[k]));
  }
}

void require_count(const ShapeContext& c, std::string_view list, std::size_t has, std::size_t wanted) {
  if (has != wanted) c.refuse(cat(list, " has ", has, " entries, not ", wanted));
}

// `batch` is [n], [] or unknown; indices have one number more than it has dimensions.
Shapes parsed_shapes(const ShapeContext& c, const Shape& batch) {
  std::vector<Shape> out;
  const std::vector<Shape>& dense = dense_shapes(c);
  check_defaults(c, dense);
  const std::size_t sparse = c.node().types("sparse_types").size();
  const std::int64_t rank = batch.has_rank() ? batch.rank() + 1 : kUnknown;
  out.insert(out.end(), sparse, Shape{kUnknown, rank});
  out.insert(out.end(), sparse, Shape{kUnknown});
  out.insert(out.end(), sparse, Shape{rank});
  for (const Shape& shape : dense) {
    Shape whole = batch;
    for (const std::int64_t dim : shape.dims())
      if (batch.has_rank()) whole.push_back(dim);
    out.push_back(whole);
  }
  return out;
}

constexpr const char* kSparseTypes = "sparse_types: list({float, int64, string}) >= 0";
constexpr const char* kDenseTypes = "Tdense: list({float, int64, string}) >= 0";
constexpr const char* kDenseShapes = "dense_shapes: list(shape) >= 0";

const OpRegistration kParseExample{{
    .name = "ParseExample",
    .inputs = {"serialized: string", "names: string", "sparse_keys: Nsparse * string",
               "dense_keys: Ndense * string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: Nsparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: Nsparse * int64", "dense_values: Tdense"},
    .attrs = {"Nsparse: int >= 0", "Ndense: int >= 0", kSparseTypes, kDenseTypes, kDenseShapes},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape batch = c.input("serialized", Rank{1});
      const Shape names = c.input("names", Rank{1});
      if (names[0] != 0) (void)c.require_equal(batch[0], names[0], "numbers of examples and names");
      require_count(c, "sparse_types", c.node().types("sparse_types").size(),
                    static_cast<std::size_t>(c.count("sparse_keys")));
      require_count(c, "dense_keys", static_cast<std::size_t>(c.count("dense_keys")),
                    c.node().types("Tdense").size());
      return parsed_shapes(c, batch);
    },
    .gradient = Gradient::none("reads messages"),
    .traits = {.bind_values = {"sparse_keys", "dense_keys"}},
}};

const OpRegistration kParseSingleExample{{
    .name = "ParseSingleExample",
    .inputs = {"serialized: string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: num_sparse * int64", "dense_values: Tdense"},
    .attrs = {"num_sparse: int >= 0", "sparse_keys: list(string) >= 0", "dense_keys: list(string) >= 0",
              kSparseTypes, kDenseTypes, kDenseShapes},
    .shape = [](const ShapeContext& c) -> Shapes {
      const std::size_t sparse = c.node().types("sparse_types").size();
      require_count(c, "num_sparse", static_cast<std::size_t>(c.integer("num_sparse")), sparse);
      require_count(c, "sparse_keys", c.node().attr("sparse_keys")->if_is<std::vector<std::string>>()->size(),
                    sparse);
      require_count(c, "dense_keys", c.node().attr("dense_keys")->if_is<std::vector<std::string>>()->size(),
                    c.node().types("Tdense").size());
      return parsed_shapes(c, c.input("serialized", Rank{0}));
    },
    .gradient = Gradient::none("reads messages"),
}};

const OpRegistration kParseExampleV2{{
    .name = "ParseExampleV2",
    .inputs = {"serialized: string", "names: string", "sparse_keys: string", "dense_keys: string",
               "ragged_keys: string", "dense_defaults: Tdense"},
    .outputs = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
                "sparse_shapes: num_sparse * int64", "dense_values: Tdense",
                "ragged_values: ragged_value_types", "ragged_row_splits: ragged_split_types"},
    .attrs = {kDenseTypes, "num_sparse: int >= 0", kSparseTypes,
              "ragged_value_types: list({float, int64, string}) >= 0",
              "ragged_split_types: list({int32, int64}) >= 0", kDenseShapes},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape batch = c.input("serialized"), names = c.input("names");
      if (batch.rank() > 1) c.refuse("serialized is neither one example nor a vector of them");
      if (names.rank() > 1) c.refuse("names is neither one name nor a vector of them");
      const bool unnamed = names.rank() == 1 && names[0] == 0;
      if (names.is_known() && !unnamed && !names.compatible_with(batch))
        c.refuse("numbers of examples and names differ");
      const std::size_t ragged = c.node().types("ragged_value_types").size();
      require_count(c, "num_sparse", static_cast<std::size_t>(c.integer("num_sparse")),
                    c.node().types("sparse_types").size());
      require_count(c, "ragged_split_types", c.node().types("ragged_split_types").size(), ragged);
      std::vector<Shape> out = parsed_shapes(c, batch).list();
      out.insert(out.end(), 2 * ragged, Shape{kUnknown});
      return out;
    },
    .gradient = Gradient::none("reads messages"),
    .traits = {.bind_values = {"sparse_keys", "dense_keys", "ragged_keys"}},
}};

// "key_" and the feature's name as far as it may stand in a node's.
std::string constant_name(const std::string& key) {
  std::string out = "key_" + key;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("_.-/").find(c) == std::string::npos)
      c = '_';
  return out;
}

// The features as the ops take them: sparse and dense ones, each in the order of their names.
struct Request {
  std::vector<std::string> sparse_keys, dense_keys;
  std::vector<DType> sparse_types, dense_types;
  std::vector<Shape> shapes;
  Outputs defaults;

  Request(Graph& graph, const FeatureSpecs& features, Location where) {
    if (features.empty()) throw InvalidArgument("parse_example: there is no feature to look for", where);
    for (const auto& [key, feature] : features) {
      if (const auto* variable = std::get_if<VarLenFeature>(&feature)) {
        sparse_keys.push_back(key);
        sparse_types.push_back(variable->dtype);
      } else if (const auto* fixed = std::get_if<FixedLenFeature>(&feature)) {
        add(graph, key, fixed->shape, fixed->dtype, fixed->default_value, where);
      } else {
        const auto& sequence = std::get<FixedLenSequenceFeature>(feature);
        Shape shape{kUnknown};
        for (const std::int64_t dim : sequence.shape.dims()) shape.push_back(dim);
        const Tensor filling =
            sequence.default_value ? sequence.default_value : Tensor::zeros(sequence.dtype, {});
        add(graph, key, shape, sequence.dtype, filling, where);
      }
    }
  }

  void add(Graph& graph, const std::string& key, const Shape& shape, DType dtype, const Tensor& filling,
           Location where) {
    if (filling && filling.dtype() != dtype)
      throw InvalidArgument(cat("feature '", key, "' is ", dtype, " and its default ", filling.dtype()),
                            where);
    dense_keys.push_back(key);
    dense_types.push_back(dtype);
    shapes.push_back(shape);
    defaults.push_back(filling ? constant(graph, filling, {.name = constant_name(key), .where = where})
                               : constant(graph, Tensor(dtype, {0}), {.name = "Const", .where = where}));
  }

  ParsedFeatures parsed(const Node& node) const {
    std::map<std::string, ParsedFeatures::Feature> out;
    for (std::size_t k = 0; k < sparse_keys.size(); ++k) {
      const int i = static_cast<int>(k), count = static_cast<int>(sparse_keys.size());
      out.emplace(sparse_keys[k],
                  SparseTensor{node.output(i), node.output(count + i), node.output(2 * count + i)});
    }
    for (std::size_t k = 0; k < dense_keys.size(); ++k)
      out.emplace(dense_keys[k], node.output(static_cast<int>(3 * sparse_keys.size() + k)));
    return ParsedFeatures(std::move(out));
  }
};

Outputs key_constants(Graph& graph, const std::vector<std::string>& keys, const std::string& prefix,
                      Location where) {
  Outputs out;
  for (const std::string& key : keys)
    out.push_back(constant(graph, Tensor::scalar(key), {.name = cat(prefix, out.size()), .where = where}));
  return out;
}

}  // namespace

const ParsedFeatures::Feature& ParsedFeatures::at(const std::string& name) const {
  const auto found = features_.find(name);
  if (found == features_.end()) throw NotFound(cat("no feature '", name, "' was asked for"));
  return found->second;
}

const Output& ParsedFeatures::dense(const std::string& name) const {
  if (const auto* dense = std::get_if<Output>(&at(name))) return *dense;
  throw InvalidArgument(cat("feature '", name, "' is of variable length: take sparse()"));
}

const SparseTensor& ParsedFeatures::sparse(const std::string& name) const {
  if (const auto* sparse = std::get_if<SparseTensor>(&at(name))) return *sparse;
  throw InvalidArgument(cat("feature '", name, "' is dense: take dense()"));
}

ParsedFeatures parse_example(Output serialized, const FeatureSpecs& features, ParseExampleOptions o) {
  Graph& graph = serialized.graph();
  NameScope outer(graph, o.name.empty() ? "ParseExample" : o.name);
  const Request request(graph, features, o.where);
  NameScope scope(graph, "ParseExample");
  const Output names =
      o.example_names ? o.example_names
                      : constant(graph, Tensor(DType::kString, {0}), {.name = "names", .where = o.where});
  const Outputs sparse_keys = key_constants(graph, request.sparse_keys, "sparse_keys_", o.where);
  const Outputs dense_keys = key_constants(graph, request.dense_keys, "dense_keys_", o.where);
  return request.parsed(graph.add("ParseExample",
                                  {serialized, names, sparse_keys, dense_keys, request.defaults},
                                  {{"sparse_types", request.sparse_types},
                                   {"Tdense", request.dense_types},
                                   {"dense_shapes", request.shapes}},
                                  scope.name(), o.where));
}

ParsedFeatures parse_single_example(Output serialized, const FeatureSpecs& features,
                                    ParseSingleExampleOptions o) {
  Graph& graph = serialized.graph();
  NameScope scope(graph, o.name.empty() ? "ParseSingleExample" : o.name);
  const Request request(graph, features, o.where);
  return request.parsed(graph.add("ParseSingleExample", {serialized, request.defaults},
                                  {{"num_sparse", request.sparse_keys.size()},
                                   {"sparse_keys", request.sparse_keys},
                                   {"dense_keys", request.dense_keys},
                                   {"sparse_types", request.sparse_types},
                                   {"Tdense", request.dense_types},
                                   {"dense_shapes", request.shapes}},
                                  "ParseSingleExample", o.where));
}

}  // namespace runnel
