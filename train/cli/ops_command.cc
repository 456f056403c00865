// `runnel ops [NAME]`: every op that Runnel knows with its signature, the dtypes that it runs for, and its
// gradient or the reason why it has none.
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>

#include "train/cli/commands.h"
#include "train/cli/json.h"

namespace runnel {
namespace {

std::string arg_text(const ArgSpec& arg) {
  std::string type = !arg.type_list_attr.empty() ? arg.type_list_attr
                     : !arg.type_attr.empty()    ? arg.type_attr
                                                 : name_of(arg.type);
  if (!arg.number_attr.empty()) type = cat(arg.number_attr, " * ", type);
  return cat(arg.name, ": ", arg.is_ref ? cat("Ref(", type, ")") : type);
}

std::string attr_text(const AttrSpec& attr) {
  std::string out = cat(attr.name, ": ", attr.type);
  const char* separator = " in {";
  for (const DType type : attr.allowed_types) {
    out += cat(separator, type);
    separator = ", ";
  }
  for (const std::string& text : attr.allowed_strings) {
    out += cat(separator, text);
    separator = ", ";
  }
  if (!attr.allowed_types.empty() || !attr.allowed_strings.empty()) out += "}";
  if (attr.minimum) out += cat(" >= ", *attr.minimum);
  if (attr.default_value) out += cat(" = ", attr.default_value->text());
  return out;
}

template <class Spec, class Text>
std::vector<std::string> texts(const std::vector<Spec>& specs, Text text) {
  std::vector<std::string> out;
  for (const Spec& spec : specs) out.push_back(text(spec));
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string signature(const OpSpec& spec) {
  return cat(spec.name, "(", joined(texts(spec.inputs, arg_text)), ") -> (",
             joined(texts(spec.outputs, arg_text)), ")");
}

std::string gradient_text(const OpSpec& spec) {
  switch (spec.gradient.kind()) {
    case Gradient::Kind::kFunction: return "yes";
    case Gradient::Kind::kNone: return cat("none: ", spec.gradient.reason());
    default: return cat("not written yet: ", spec.gradient.reason());
  }
}

// "T: float, double", "any dtype", or that it cannot run.
std::string kernel_text(const OpSpec& spec) {
  std::map<std::string, std::set<DType>> types;
  bool any = spec.traits.role == Role::kPlaceholder || spec.traits.role == Role::kNothing;
  for (const Kernel& kernel : kernels_of(spec.name)) {
    if (kernel.type == DType::kInvalid) any = true;
    if (kernel.type != DType::kInvalid)
      types[kernel.attr.empty() ? (spec.attr("T") ? "T" : "dtype") : kernel.attr].insert(kernel.type);
  }
  std::vector<std::string> parts;
  for (const auto& [attr, list] : types) {
    std::vector<std::string> names;
    for (const DType type : list) names.push_back(name_of(type));
    parts.push_back(cat(attr, ": ", joined(names)));
  }
  if (any) return "any dtype";
  return parts.empty() ? "no kernel of its own" : joined(parts);
}

std::string json_texts(const std::vector<std::string>& parts) {
  std::vector<std::string> quoted;
  for (const std::string& part : parts) quoted.push_back(json_text(part));
  return json_list(quoted);
}

// As OpDef calls them.
std::string flags_json(const Traits& traits) {
  const auto text = [](bool flag) { return flag ? "true" : "false"; };
  return cat("\"is_stateful\": ", text(traits.stateful), ", \"is_commutative\": ", text(traits.commutative),
             ", \"is_aggregate\": ", text(traits.aggregate),
             ", \"allows_uninitialized_input\": ", text(traits.allows_uninitialized_input));
}

std::string op_json(const OpSpec& spec) {
  return cat("{\"name\": ", json_text(spec.name), ", \"inputs\": ", json_texts(texts(spec.inputs, arg_text)),
             ", \"outputs\": ", json_texts(texts(spec.outputs, arg_text)),
             ", \"attrs\": ", json_texts(texts(spec.attrs, attr_text)), ", ", flags_json(spec.traits),
             ", \"kernels\": ", json_text(kernel_text(spec)),
             ", \"gradient\": ", json_text(gradient_text(spec)), "}");
}

void print_op(const OpSpec& spec) {
  std::cout << signature(spec) << "\n";
  for (const AttrSpec& attr : spec.attrs) std::cout << "  attr      " << attr_text(attr) << "\n";
  std::cout << "  runs for  " << kernel_text(spec) << "\n  gradient  " << gradient_text(spec) << "\n";
}

const OpSpec& op_named(const std::string& name) {
  if (const OpSpec* spec = find_op(name)) return *spec;
  std::string near;
  const auto next = all_ops().lower_bound(name.substr(0, 1));
  for (auto at = next; at != all_ops().end() && at->first.starts_with(name.substr(0, 3)); ++at)
    near += (near.empty() ? "" : ", ") + at->first;
  throw NotFound(cat("there is no op ", json_text(name),
                     near.empty() ? "; `runnel ops` lists them" : "; there are: ", near));
}

void run_ops(const std::string& name, bool json) {
  if (!name.empty()) {
    const OpSpec& spec = op_named(name);
    if (json) {
      std::cout << op_json(spec) << "\n";
    } else {
      print_op(spec);
    }
    return;
  }
  std::vector<std::string> all;
  for (const auto& [op, spec] : all_ops()) {
    if (json) all.push_back(op_json(spec));
    if (!json) std::cout << signature(spec) << "  gradient " << gradient_text(spec) << "\n";
  }
  if (json) std::cout << json_list(all) << "\n";
}

}  // namespace

void add_ops_command(CLI::App& program) {
  struct Request {
    std::string name;
    bool json = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App& command = *program.add_subcommand("ops", "Lists the ops that Runnel knows, or shows one");
  command.add_option("NAME", request->name, "the op to show");
  command.add_flag("--json", request->json, "print JSON");
  command.callback([request] { run_ops(request->name, request->json); });
}

}  // namespace runnel
