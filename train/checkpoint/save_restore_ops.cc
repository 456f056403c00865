// Specs, builders and kernels of the save and restore ops.
#include "train/checkpoint/save_restore_ops.h"

#include <cstdio>
#include <string_view>

#include "graph/kernel.h"
#include "graph/op_spec.h"
#include "ops/array_ops.h"
#include "train/checkpoint/checkpoint_merge.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_writer.h"

namespace runnel {
namespace {

// Names and slices are lists of one entry a tensor.
void require_lists(const ShapeContext& c, std::int64_t tensors) {
  (void)c.input("prefix", Rank{0});
  for (const char* list : {"tensor_names", "shape_and_slices"}) {
    const std::int64_t given = c.input(list, Rank{1})[0];
    if (given != kUnknown && given != tensors)
      c.refuse(cat(list, " has ", given, " entries for ", tensors, " tensors"));
  }
}

Shapes save_shapes(const ShapeContext& c) {
  require_lists(c, c.count("tensors"));
  return {};
}

Shapes restored_shapes(const ShapeContext& c) {
  const std::size_t count = c.node().types("dtypes").size();
  require_lists(c, static_cast<std::int64_t>(count));
  std::vector<Shape> shapes(count, Shape::unknown());
  const auto slices = c.constant("shape_and_slices");
  for (std::size_t i = 0; slices && i < count; ++i)
    if (const auto spec = parse_slice_spec(slices->values<std::string>()[i]))
      shapes[i] = spec->slice.within(spec->full).shape();
  return shapes;
}

const OpRegistration kSaveV2{{
    .name = "SaveV2",
    .inputs = {"prefix: string", "tensor_names: string", "shape_and_slices: string", "tensors: dtypes"},
    .attrs = {"dtypes: list(type) >= 1"},
    .shape = save_shapes,
    .gradient = Gradient::none("writes a file"),
    .traits = {.stateful = true},
}};

const OpRegistration kRestoreV2{{
    .name = "RestoreV2",
    .inputs = {"prefix: string", "tensor_names: string", "shape_and_slices: string"},
    .outputs = {"tensors: dtypes"},
    .attrs = {"dtypes: list(type) >= 1"},
    .shape = restored_shapes,
    .gradient = Gradient::none("reads a file"),
    .traits = {.stateful = true},
}};

const OpRegistration kShardedFilename{{
    .name = "ShardedFilename",
    .inputs = {"basename: string", "shard: int32", "num_shards: int32"},
    .outputs = {"filename: string"},
    .shape = [](const ShapeContext& c) -> Shapes {
      for (int i = 0; i < 3; ++i)
        if (!c.input(i).compatible_with(Shape{})) c.refuse("every input must be a scalar");
      return Shape{};
    },
    .gradient = Gradient::none("makes text"),
}};

const OpRegistration kMergeV2Checkpoints{{
    .name = "MergeV2Checkpoints",
    .inputs = {"checkpoint_prefixes: string", "destination_prefix: string"},
    .attrs = {"delete_old_dirs: bool = true", "allow_missing_files: bool = false"},
    .shape = [](const ShapeContext& c) -> Shapes {
      (void)c.input("checkpoint_prefixes", Rank{1});
      (void)c.input("destination_prefix", Rank{0});
      return {};
    },
    .gradient = Gradient::none("writes a file"),
    .traits = {.stateful = true},
}};

// What both kernels are told by their first three inputs.
struct ListInputs {
  explicit ListInputs(Bind& b)
      : prefix(b.in<std::string>("prefix")),
        names(b.in<std::string>("tensor_names")),
        slices(b.in<std::string>("shape_and_slices")) {}
  In<std::string> prefix, names, slices;
};

const KernelRegistration kSave{
    "SaveV2", any, [](Bind& b) {
      std::vector<int> tensors;
      for (int i = 0; i < b.count("tensors"); ++i) tensors.push_back(b.in<std::byte>("tensors", i).slot);
      b.run([in = ListInputs(b), tensors = std::move(tensors), &files = b.files()](Context& c) {
        CheckpointWriter writer(*c[in.prefix], {.file_system = &files});
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          const std::string& name = c[in.names][i];
          const Tensor value = c.tensor(tensors[i]);
          if (const auto spec = parse_slice_spec(c[in.slices][i])) {
            writer.add(name, *spec, value);
          } else {
            writer.add(name, value);
          }
        }
        writer.finish();
      });
    }};

// What RestoreV2 is asked for, if the checkpoint has it so.
TensorRequest request(const CheckpointReader& reader, const std::string& name, std::string_view slice,
                      DType wanted) {
  const VariableInfo& stored = reader.info(name);
  if (stored.dtype != wanted)
    throw InvalidArgument(
        cat("'", name, "' is stored as ", stored.dtype, " in '", reader.prefix(), "', wanted as ", wanted));
  const auto spec = parse_slice_spec(slice);
  if (!spec) return {name};
  if (!(stored.shape == spec->full))
    throw InvalidArgument(cat("'", name, "' is stored with shape ", stored.shape, " in '", reader.prefix(),
                              "', wanted as a part of ", spec->full));
  return {name, spec->slice};
}

const KernelRegistration kRestore{
    "RestoreV2", any, [](Bind& b) {
      struct Output {
        int slot;  // -1: nobody wants it
        DType dtype;
      };
      std::vector<Output> outputs;
      const std::vector<DType>& dtypes = b.node().types("dtypes");
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        const int k = static_cast<int>(i);
        outputs.push_back({b.wants("tensors", k) ? b.out<std::byte>("tensors", k).slot : -1, dtypes[i]});
      }
      b.run([in = ListInputs(b), outputs = std::move(outputs), &files = b.files()](Context& c) {
        const CheckpointReader reader(*c[in.prefix], {.file_system = &files});
        std::vector<TensorRequest> wanted;
        std::vector<int> slots;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          if (outputs[i].slot < 0) continue;
          wanted.push_back(request(reader, c[in.names][i], c[in.slices][i], outputs[i].dtype));
          slots.push_back(outputs[i].slot);
        }
        std::vector<Tensor> values =
            reader.read(wanted, [&c](std::int64_t n, const std::function<void(std::int64_t)>& body) {
              c.parallel(n, 1, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) body(i);
              });
            });
        for (std::size_t i = 0; i < slots.size(); ++i) c.set_output(slots[i], std::move(values[i]));
      });
    }};

const KernelRegistration kShard{
    "ShardedFilename", any, [](Bind& b) {
      b.run([base = b.in<std::string>("basename"), shard = b.in<std::int32_t>("shard"),
             shards = b.in<std::int32_t>("num_shards"), to = b.out<std::string>("filename")](Context& c) {
        const std::int32_t i = *c[shard], n = *c[shards];
        if (i < 0 || i >= n) throw InvalidArgument(cat("there is no shard ", i, " of ", n));
        char numbers[40];
        std::snprintf(numbers, sizeof numbers, "-%05d-of-%05d", i, n);
        *c[to] = *c[base] + numbers;
      });
    }};

const KernelRegistration kMerge{
    "MergeV2Checkpoints", any, [](Bind& b) {
      b.run([parts = b.in<std::string>("checkpoint_prefixes"), to = b.in<std::string>("destination_prefix"),
             n = static_cast<std::size_t>(b.input("checkpoint_prefixes").shape.elements()),
             o = MergeCheckpointsOptions{.delete_old_dirs = b.flag("delete_old_dirs"),
                                         .allow_missing_files = b.flag("allow_missing_files"),
                                         .file_system = &b.files()}](Context& c) {
        merge_checkpoints(std::span(c[parts], n), *c[to], o);
      });
    }};

// The two Consts that say what to save or restore, in the scope of the op.
std::vector<Argument> list_arguments(Output prefix, const std::vector<CheckpointKey>& keys, Location where) {
  std::vector<std::string> names, slices;
  for (const CheckpointKey& key : keys) {
    names.push_back(key.name);
    slices.push_back(key.shape_and_slice);
  }
  Graph& g = prefix.graph();
  const Output name_list = constant(g, Tensor::vector(names), {.name = "tensor_names", .where = where});
  return {prefix, name_list,
          constant(g, Tensor::vector(slices), {.name = "shape_and_slices", .where = where})};
}

}  // namespace

Operation save_v2(Output prefix, const std::vector<CheckpointKey>& keys, const Outputs& tensors,
                  OpOptions o) {
  const NameScope scope(prefix.graph(), o.name.empty() ? "SaveV2" : o.name);
  std::vector<Argument> inputs = list_arguments(prefix, keys, o.where);
  inputs.emplace_back(tensors);
  return prefix.graph().add("SaveV2", inputs, {}, scope.name(), o.where);
}

Outputs restore_v2(Output prefix, const std::vector<CheckpointKey>& keys, const std::vector<DType>& dtypes,
                   OpOptions o) {
  const NameScope scope(prefix.graph(), o.name.empty() ? "RestoreV2" : o.name);
  const std::vector<Argument> inputs = list_arguments(prefix, keys, o.where);
  const Node& node = prefix.graph().add("RestoreV2", inputs, {{"dtypes", dtypes}}, scope.name(), o.where);
  Outputs outputs;
  for (std::size_t i = 0; i < dtypes.size(); ++i) outputs.emplace_back(node, static_cast<int>(i));
  return outputs;
}

Output sharded_filename(Output basename, Output shard, Output num_shards, OpOptions o) {
  return basename.graph().add("ShardedFilename", {basename, shard, num_shards}, {}, o.name, o.where);
}

Operation merge_v2_checkpoints(Output checkpoint_prefixes, Output destination_prefix,
                               MergeV2CheckpointsOptions o) {
  return checkpoint_prefixes.graph().add(
      "MergeV2Checkpoints", {checkpoint_prefixes, destination_prefix},
      {{"delete_old_dirs", o.delete_old_dirs}, {"allow_missing_files", o.allow_missing_files}}, o.name,
      o.where);
}

}  // namespace runnel
