// Writes a V2 checkpoint that TensorFlow reads, byte for byte as TensorFlow would have written it, without a
// graph or a session. Nothing under the final names changes before `finish`.
#pragma once

#include <memory>
#include <string>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "train/checkpoint/tensor_slice.h"

namespace runnel {

struct CheckpointWriterOptions {
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// One thread at a time. Destroyed without `finish`, it removes what it wrote.
class CheckpointWriter {
 public:
  // Missing directories are made. What a killed process left of an earlier save to this prefix is put right.
  explicit CheckpointWriter(const std::string& prefix, CheckpointWriterOptions options = {});
  ~CheckpointWriter();
  CheckpointWriter(CheckpointWriter&&) noexcept;
  CheckpointWriter& operator=(CheckpointWriter&&) = delete;

  // Values lie in the file in the order in which they are added; Saver adds them sorted by name, as
  // TensorFlow's does. Throws InvalidArgument for an empty or repeated name or one that begins with a zero
  // byte, Unimplemented for a variant or resource, ResourceExhausted when the disk is full.
  void add(const std::string& name, const Tensor& value);
  // A part of a tensor of shape `spec.full`. A slice of the whole is stored as an ordinary tensor.
  void add(const std::string& name, const SliceSpec& spec, const Tensor& value);

  // Durable when it returns: data and index are synced, renamed (the data first), and the directory is
  // synced. On an error the older checkpoint of this prefix, if any, can still be read. Nothing can be added
  // after.
  void finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace runnel
