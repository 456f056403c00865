// Which variable takes which tensor, then the nodes, in TensorFlow's order.
#include "train/checkpoint/init_from_checkpoint.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ops/array_ops.h"
#include "ops/initial_value.h"
#include "train/checkpoint/bundle_entry.h"
#include "train/checkpoint/save_restore_ops.h"
#include "train/checkpoint/saver_graph.h"
#include "train/checkpoint/similar_names.h"
#include "train/checkpoint/stored_checkpoints.h"

namespace runnel {
namespace {

constexpr std::size_t kSuggested = 50;  // missing names that near ones are looked for

bool is_scope(const std::string& name) { return name.ends_with('/'); }

// What names begin with in a scope: nothing in the root.
std::string start_of(const std::string& scope) { return scope == "/" ? "" : scope; }

// The name of the variable, or of the whole that it is a part of.
const std::string& whole_name(const Variable& variable) {
  const auto& part = variable.parts().slice;
  return part ? part->full_name : variable.name();
}

// The graph's variables by name, each with its parts in order.
class Wholes {
 public:
  explicit Wholes(const Graph& graph) {
    for (const char* key : {keys::kGlobalVariables, keys::kLocalVariables})
      for (const Variable& variable : graph.variables(key)) {
        std::vector<Variable>& parts = by_name_[whole_name(variable)];
        if (std::ranges::find(parts, variable) == parts.end()) parts.push_back(variable);
      }
    for (auto& [name, parts] : by_name_)
      std::ranges::stable_sort(parts, [](const Variable& a, const Variable& b) {
        const auto &x = a.parts().slice, &y = b.parts().slice;
        return x && y && x->offset < y->offset;
      });
  }

  const std::map<std::string, std::vector<Variable>>& all() const { return by_name_; }
  const std::vector<Variable>* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second;
  }

 private:
  std::map<std::string, std::vector<Variable>> by_name_;
};

[[noreturn]] void refuse_target(const std::string& tensor, const std::string& name, const Wholes& wholes) {
  if (is_scope(tensor) != is_scope(name))
    throw InvalidArgument(cat("cannot assign ", quoted(tensor), " to ", quoted(name),
                              ": give a tensor and a variable, or two scopes such as 'old/' and 'new/'"));
  std::vector<std::string> names;
  for (const auto& [other, parts] : wholes.all()) names.push_back(other);
  std::string text = cat("cannot assign ", quoted(tensor), " to ", quoted(name), ": the graph has no ",
                         is_scope(name) ? "variable in that scope" : "such variable");
  for (const std::string& other : similar_names(name, names))
    text += cat("; did you mean ", quoted(other), "?");
  throw InvalidArgument(text);
}

// Items to be read, a variable or part each; the key is the tensor's name.
class Assignments {
 public:
  explicit Assignments(const Graph& graph) : wholes_(graph) {}

  void add(const std::string& tensor, const AssignmentTarget& target) {
    const std::string& name = target.name();
    if (!target.variables().empty()) {
      require_one_whole(target.variables());
      add(tensor, target.variables());
    } else if (const std::vector<Variable>* parts = wholes_.find(name); parts && !is_scope(tensor)) {
      add(tensor, *parts);
    } else if (!is_scope(tensor) || !is_scope(name) || !add_scope(tensor, name)) {
      refuse_target(tensor, name, wholes_);
    }
  }
  const std::vector<SaverItem>& items() const { return items_; }

 private:
  static void require_one_whole(const std::vector<Variable>& parts) {
    for (const Variable& part : parts)
      if (whole_name(part) != whole_name(parts[0]))
        throw InvalidArgument(cat(quoted(part.name()), " and ", quoted(parts[0].name()),
                                  " are no parts of one variable; give them a tensor each"));
  }
  void add(const std::string& tensor, const std::vector<Variable>& parts) {
    for (const Variable& part : parts) items_.emplace_back(tensor, part);
  }
  // False if the scope has no variables.
  bool add_scope(const std::string& from, const std::string& to) {
    const std::string start = start_of(to);
    bool any = false;
    for (const auto& [name, parts] : wholes_.all()) {
      if (!name.starts_with(start)) continue;
      add(start_of(from) + name.substr(start.size()), parts);
      any = true;
    }
    return any;
  }

  const Wholes wholes_;
  std::vector<SaverItem> items_;
};

Shape wanted_shape(const Variable& variable) {
  const auto& part = variable.parts().slice;
  return part ? Shape(std::span<const std::int64_t>(part->full_shape)) : variable.shape();
}

void require_all_fit(const CheckpointReader& reader, const std::vector<SaverItem>& items) {
  std::vector<std::string> names;
  for (const VariableInfo& stored : reader.variables()) names.push_back(stored.name);
  std::string lines;
  std::size_t missing = 0;
  for (const SaverItem& item : items) {
    (void)checkpoint_key(item);  // throws for a part that is none
    const Variable& variable = item.variable();
    const std::string wanted =
        cat(variable.dtype(), wanted_shape(variable), " (variable ", quoted(variable.name()), ")");
    if (!reader.has(item.key())) {
      lines += cat("\n  ", quoted(item.key()), ": not stored, wanted ", wanted);
      if (missing++ < kSuggested)
        for (const std::string& name : similar_names(item.key(), names))
          lines += cat("; perhaps ", quoted(name));
      continue;
    }
    const VariableInfo& stored = reader.info(item.key());
    if (stored.dtype != variable.dtype() || !wanted_shape(variable).compatible_with(stored.shape))
      lines += cat("\n  ", quoted(item.key()), ": stored ", stored.dtype, stored.shape, ", wanted ", wanted);
  }
  if (!lines.empty())
    throw_error(missing > 0 ? Code::kNotFound : Code::kInvalidArgument,
                cat("checkpoint '", reader.prefix(), "' does not fit; no initializer was replaced:", lines));
}

void start_from(const SaverItem& item, const std::string& prefix, Location where) {
  const Variable& variable = item.variable();
  Graph& g = variable.graph();
  Output value;
  {
    std::optional<DeviceScope> own;
    if (const std::string& device = variable.parts().variable.node().device(); !device.empty())
      own.emplace(g, device);
    const DeviceScope processor(g, "/cpu:0");
    const NameScope scope(g, "checkpoint_initializer");
    const Output path = constant(g, Tensor::scalar(prefix), {.name = "prefix", .where = where});
    value = restore_v2(path, {checkpoint_key(item)}, {variable.dtype()},
                       {.name = scope.name(), .where = where})[0];
  }
  const Operation assign = add_restoring_assign(variable, value, false, where);
  variable.start_as(assign, value);
}

}  // namespace

void init_from_checkpoint(Graph& graph, const std::string& directory_or_prefix, const AssignmentMap& map,
                          InitFromCheckpointOptions options) {
  const CheckpointReader reader = load_checkpoint(directory_or_prefix, {.file_system = options.file_system});
  AssignmentMap sorted = map;
  std::ranges::stable_sort(sorted, {}, &AssignmentMap::value_type::first);
  Assignments assignments(graph);
  for (const auto& [tensor, target] : sorted) assignments.add(tensor, target);
  require_all_fit(reader, assignments.items());
  const MadeAt at(graph, options.where);
  for (const SaverItem& item : assignments.items()) start_from(item, reader.prefix(), options.where);
}

}  // namespace runnel
