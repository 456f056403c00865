// Points as text (TSV), since TensorBoard tries that first and takes numbers for text if their bytes happen
// to be UTF-8. Names of tensors become names of folders by writing odd bytes as %XX.
#include "summary/values/embedding.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "graph/error.h"
#include "runnel/plugins.pb.h"
#include "summary/values/plugin_value.h"
#include "summary/values/sprite.h"

namespace runnel {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 27;  // 1.5 GB of text
constexpr std::uint64_t kMostConfigBytes = 16 << 20;          // some 50,000 embeddings
constexpr std::size_t kMostNameBytes = 80;                    // a folder's name of 240 at most

// Letters, digits, '-' and '_' as they are; a name never begins with a dot.
std::string folder_name(const std::string& tensor_name) {
  std::string out;
  for (const char c : tensor_name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !out.empty());
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  return out;
}

void check_name(const std::string& tensor_name) {
  if (tensor_name.empty() || tensor_name.size() > kMostNameBytes)
    throw InvalidArgument(cat("a name of ", tensor_name.size(), " bytes: give 1 to ", kMostNameBytes));
  checked_text(tensor_name, "the name");
}

void check_values(const Tensor& values) {
  if (values.dtype() != DType::kFloat || values.shape().rank() != 2 || values.elements() == 0)
    throw InvalidArgument(
        cat("the values are ", kind_of(values), ": give float[points, dimensions], none of them 0"));
  if (values.elements() > kMostNumbers)
    throw InvalidArgument(
        cat(values.shape(), " is more than ", kMostNumbers, " numbers: give some of the points"));
  const auto numbers = values.values<float>();
  const auto odd = std::find_if(numbers.begin(), numbers.end(), [](float x) { return !std::isfinite(x); });
  if (odd != numbers.end()) {
    const std::int64_t at = odd - numbers.begin(), columns = values.shape()[1];
    throw InvalidArgument(cat("values[", at / columns, ",", at % columns, "] is ", *odd));
  }
}

// float[points, dimensions], a line a point; the shortest texts that are read back as the same numbers.
std::string points_text(const Tensor& values) {
  const std::int64_t columns = values.shape()[1];
  std::string out;
  std::int64_t column = 0;
  for (const float number : values.values<float>()) {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
    out += ++column == columns ? '\n' : '\t';
    if (column == columns) column = 0;
  }
  return out;
}

const std::string& checked_cell(const std::string& cell, const std::string& column) {
  if (cell.find_first_of("\t\r\n") != std::string::npos)
    throw InvalidArgument(cat("column '", column, "' holds a tab or a line end: '", cell, "'"));
  return checked_text(cell, "a cell");
}

void check_columns(const std::vector<EmbeddingColumn>& columns, std::int64_t points) {
  for (const EmbeddingColumn& column : columns) {
    const auto count = static_cast<std::int64_t>(column.values.size());
    if (count != points)
      throw InvalidArgument(cat("column '", column.name, "' has ", count, " values for ", points, " points"));
  }
}

// TensorBoard passes over blank lines, which would move all labels below up by one: such a line gets a
// character of no width (U+200B).
void add_row(std::string& table, const std::string& row) {
  if (row.find_first_not_of(" \t\v\f") == std::string::npos) table += "\xe2\x80\x8b";
  table += row + '\n';
}

// The pictures' file. Requires: an image a point.
std::string sprite_of(const Tensor& images, std::int64_t points) {
  std::string file = sprite_file(images);
  if (images.shape()[0] != points)
    throw InvalidArgument(
        cat("the sprite is ", kind_of(images), " for ", points, " points: give one picture each"));
  return file;
}

// A row a point, and one of names before if there are several columns: TensorBoard takes the first line for
// names if it has a tab.
std::string metadata_text(const std::vector<EmbeddingColumn>& columns) {
  std::string out;
  const auto row_of = [&](auto cell) {
    std::string row;
    for (const EmbeddingColumn& column : columns)
      (row += &column == columns.data() ? "" : "\t") += checked_cell(cell(column), column.name);
    return row;
  };
  if (columns.size() > 1) add_row(out, row_of([](const auto& column) { return column.name; }));
  for (std::size_t i = 0; i < columns[0].values.size(); ++i)
    add_row(out, row_of([i](const auto& column) { return column.values[i]; }));
  return out;
}

// Drops what protobuf would print.
class Silence final : public google::protobuf::io::ErrorCollector {
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
};

// What the folder shows already.
pb::ProjectorConfig config_in(FileSystem& files, const std::string& path) {
  pb::ProjectorConfig config;
  if (!files.exists(path)) return config;
  Silence silence;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&silence);
  if (files.file_size(path) > kMostConfigBytes || !parser.ParseFromString(read_file(files, path), &config))
    throw FailedPrecondition(cat(path, " is no configuration of the projector: move it away"));
  return config;
}

pb::ProjectorConfig::Embedding& entry_of(pb::ProjectorConfig& config, const std::string& tensor_name) {
  for (auto& embedding : *config.mutable_embeddings())
    if (embedding.tensor_name() == tensor_name) {
      embedding.Clear();
      return embedding;
    }
  return *config.add_embeddings();
}

// Paths in the configuration begin at its folder.
std::string write_beside(FileSystem& files, const std::string& directory, const std::string& path,
                         const std::string& bytes) {
  write_file_atomically(files, join_path(directory, path), bytes);
  return path;
}

}  // namespace

void write_embedding(FileSystem& files, const std::string& directory, const std::string& tensor_name,
                     const Tensor& values, const EmbeddingOptions& options) {
  check_name(tensor_name);
  check_values(values);
  check_columns(options.metadata, values.shape()[0]);
  const std::string metadata = options.metadata.empty() ? "" : metadata_text(options.metadata);
  const std::string sprite = options.sprite ? sprite_of(options.sprite, values.shape()[0]) : "";
  const std::string config_path = join_path(directory, "projector_config.pbtxt");
  pb::ProjectorConfig config = config_in(files, config_path);
  pb::ProjectorConfig::Embedding& entry = entry_of(config, tensor_name);

  const std::string folder = cat("projector/", folder_name(tensor_name));
  make_directories(files, join_path(directory, folder));
  entry.set_tensor_name(tensor_name);
  for (const std::int64_t dim : values.shape().dims())
    entry.add_tensor_shape(static_cast<std::uint32_t>(dim));
  entry.set_tensor_path(write_beside(files, directory, cat(folder, "/tensors.tsv"), points_text(values)));
  if (!metadata.empty())
    entry.set_metadata_path(write_beside(files, directory, cat(folder, "/metadata.tsv"), metadata));
  if (!sprite.empty()) {
    entry.mutable_sprite()->set_image_path(
        write_beside(files, directory, cat(folder, "/sprite.png"), sprite));
    for (const int dim : {2, 1})  // width first
      entry.mutable_sprite()->add_single_image_dim(static_cast<std::uint32_t>(options.sprite.shape()[dim]));
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(config, &text);
  write_file_atomically(files, config_path, text);
}

}  // namespace runnel
