// `runnel checkpoint ls`, `show` and `verify`: looking into one checkpoint.
#include <iostream>
#include <limits>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/json.h"
#include "train/cli/npy.h"
#include "train/cli/plain_values.h"
#include "train/train.h"

namespace runnel {
namespace {

struct Totals {
  std::size_t tensors = 0;
  std::int64_t elements = 0;  // as many as the type holds if there are more
  std::uint64_t bytes = 0;
};

// A shape of an index may tell of more elements than there are numbers.
std::int64_t elements_of(const Shape& shape) {
  std::int64_t out = 1;
  for (const std::int64_t dim : shape.dims())
    if (__builtin_mul_overflow(out, dim, &out)) return std::numeric_limits<std::int64_t>::max();
  return out;
}

Totals totals_of(const CheckpointReader& reader) {
  Totals sum;
  for (const VariableInfo& variable : reader.variables()) {
    ++sum.tensors;
    sum.bytes += reader.stored_bytes(variable.name);
    if (__builtin_add_overflow(sum.elements, elements_of(variable.shape), &sum.elements))
      sum.elements = std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

std::string counted(std::uint64_t number, const char* what) {
  return cat(number, " ", what, number == 1 ? "" : "s");
}

std::string variable_json(const CheckpointReader& reader, const VariableInfo& variable) {
  return cat("{\"name\": ", json_text(variable.name), ", \"dtype\": ", json_text(name_of(variable.dtype)),
             ", \"shape\": ", json_shape(variable.shape), ", \"bytes\": ", reader.stored_bytes(variable.name),
             ", \"parts\": ", reader.parts(variable.name).size());
}

std::string variable_line(const CheckpointReader& reader, const VariableInfo& variable) {
  const std::size_t parts = reader.parts(variable.name).size();
  std::string line = cat(shown_name(variable.name), "  ", variable.dtype, variable.shape, "  ",
                         counted(reader.stored_bytes(variable.name), "byte"));
  return parts == 0 ? line : cat(line, "  ", counted(parts, "part"));
}

// A row, as the last dimension runs, is a line.
void print_values(const Tensor& value) {
  const Shape& shape = value.shape();
  const std::int64_t row = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  for (std::int64_t first = 0; first < value.elements(); first += row) {
    const char* separator = "";
    for (const std::string& text : json_elements(value, first, row)) {
      std::cout << separator << text;
      separator = " ";
    }
    std::cout << "\n";
  }
}

void write_npy(const std::string& path, const Tensor& value) {
  write_file_atomically(real_file_system(), path, npy_bytes(value));
  if (const std::string loss = npy_loss(value); !loss.empty())
    std::cerr << "runnel: " << path << ": " << loss << "\n";
}

// Types whose values Runnel does not read, so that nobody takes them for sound.
void note_unread(const CheckpointReader& reader) {
  for (const VariableInfo& variable : reader.variables())
    if (variable.dtype == DType::kVariant || variable.dtype == DType::kResource)
      std::cerr << "runnel: " << shown_name(variable.name) << " is of type " << variable.dtype
                << ", which is not read\n";
}

std::string damage_json(const std::vector<CheckpointDamage>& damage) {
  std::vector<std::string> parts;
  for (const CheckpointDamage& each : damage)
    parts.push_back(cat("{\"name\": ", json_text(each.name), ", \"message\": ", json_text(each.why), "}"));
  return json_list(parts);
}

}  // namespace

std::string checkpoint_prefix(const std::string& prefix_or_directory) {
  FileSystem& files = real_file_system();
  const bool directory =
      files.is_directory(prefix_or_directory) && !files.exists(prefix_or_directory + ".index");
  return directory ? latest_checkpoint(prefix_or_directory) : prefix_or_directory;
}

std::string shown_name(const std::string& name) {
  const std::string text = json_text(name);
  return name.empty() || text.size() != name.size() + 2 || name.find(' ') != std::string::npos ? text : name;
}

void list_checkpoint(const std::string& prefix, bool json) {
  const CheckpointReader reader(prefix);
  const Totals sum = totals_of(reader);
  if (json) {
    std::vector<std::string> tensors;
    for (const VariableInfo& variable : reader.variables())
      tensors.push_back(variable_json(reader, variable) + "}");
    std::cout << "{\"prefix\": " << json_text(prefix) << ", \"tensors\": " << json_list(tensors)
              << ", \"elements\": " << sum.elements << ", \"bytes\": " << sum.bytes
              << ", \"data_files\": " << reader.data_files() << "}\n";
    return;
  }
  for (const VariableInfo& variable : reader.variables())
    std::cout << variable_line(reader, variable) << "\n";
  std::cout << counted(sum.tensors, "tensor") << ", "
            << counted(static_cast<std::uint64_t>(sum.elements), "element") << ", "
            << counted(sum.bytes, "byte") << " in "
            << counted(static_cast<std::uint64_t>(reader.data_files()), "data file") << "\n";
}

void show_tensor(const ShownTensor& wanted, bool json) {
  const CheckpointReader reader(wanted.prefix);
  const VariableInfo& variable = reader.info(wanted.name);
  const Tensor value = reader.read(wanted.name);
  if (!wanted.npy.empty()) write_npy(wanted.npy, value);
  if (json) {
    std::cout << variable_json(reader, variable);
    if (!wanted.npy.empty())
      std::cout << ", \"file\": " << json_text(wanted.npy);
    else
      std::cout << ", \"values\": " << json_values(plain_values(value), value.elements());
    std::cout << "}\n";
    return;
  }
  std::cout << variable_line(reader, variable) << "\n";
  if (wanted.npy.empty()) print_values(plain_values(value));
}

void verify_checkpoint(const std::string& prefix, bool json) {
  const CheckpointReader reader(prefix);
  const std::vector<CheckpointDamage> damage = reader.find_damage();
  const std::size_t tensors = reader.variables().size();
  note_unread(reader);
  if (json) {
    std::cout << "{\"prefix\": " << json_text(prefix) << ", \"tensors\": " << tensors
              << ", \"damaged\": " << damage_json(damage) << "}\n";
  } else {
    for (const CheckpointDamage& each : damage)
      std::cout << shown_name(each.name) << "  " << each.why << "\n";
    if (damage.empty())
      std::cout << counted(tensors, "tensor") << ", " << counted(totals_of(reader).bytes, "byte")
                << ": no damage\n";
  }
  if (!damage.empty())
    throw DataLoss(cat(damage.size(), " of ", counted(tensors, "tensor"), " of '", prefix,
                       damage.size() == 1 ? "' is damaged" : "' are damaged"));
}

}  // namespace runnel
