// Saves variables of a session to checkpoints and restores them, keeps the newest few, and writes the graph
// beside each (`.meta`), so that TensorFlow goes on from ours and we from theirs. Source: tf.train.Saver
// (behaviours 8, formats 5); README.md has the order of operations and what differs. Left out for now:
// sharded savers (those of a `.meta` need ops that are not here), restoring in part, saving in the
// background.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/io/file_system.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/saver_graph.h"

namespace runnel {

struct SaverOptions {
  bool reshape = false;                          // a value may take another shape of as many elements
  std::optional<int> max_to_keep = 5;            // 0 or none keeps all
  float keep_checkpoint_every_n_hours = 10'000;  // one in so many hours is never deleted
  std::string name = "save";                     // the scope of the nodes; a second saver gets save_1
  bool pad_step_number = false;                  // model.ckpt-00000012
  Clock* clock = nullptr;                        // borrowed; none means the machine's
  Location where = Location::here();
};

// The number that a save puts behind its path: none, a number, or an integer scalar that the session holds.
class SaveStep {
 public:
  SaveStep() = default;
  template <std::integral T>
  SaveStep(T number) : value_(static_cast<std::int64_t>(number)) {}
  SaveStep(Output tensor) : value_(tensor) {}
  SaveStep(const Variable& variable) : value_(variable.value()) {}

  // Throws InvalidArgument for a tensor that is no integer scalar.
  std::optional<std::int64_t> in(Session& session) const;

 private:
  std::variant<std::monostate, std::int64_t, Output> value_;
};

struct SaveOptions {
  SaveStep global_step = {};                   // PATH-STEP
  std::string latest_filename = "checkpoint";  // the state file, in the checkpoint's directory
  std::string meta_graph_suffix = "meta";
  bool write_meta_graph = true;
  bool write_state = true;  // false: not named in the state file, not counted, never deleted
  bool strip_default_attrs = false;
};

// Shares its graph. All files are those of the session given. Calls from several threads take turns.
class Saver {
 public:
  // Of all variables of the graph, as they are now. Adds nodes; throws InvalidArgument if there are no
  // variables, if two have one name, if max_to_keep is negative.
  explicit Saver(Graph& graph, SaverOptions options = {});
  explicit Saver(SaverOptions options = {});  // of the default graph
  // Of these: a Variable goes by its own name, {"name", variable} by another.
  Saver(Graph& graph, std::initializer_list<SaverItem> variables, SaverOptions options = {});
  Saver(Graph& graph, std::span<const SaverItem> variables, SaverOptions options = {});
  // One that is in the graph already. Throws InvalidArgument, DataLoss, Unimplemented.
  static Saver from_saver_def(Graph& graph, std::string_view saver_def, SaverOptions options = {});

  ~Saver();
  Saver(Saver&&) noexcept;
  Saver& operator=(Saver&&) noexcept;

  // Saves to PATH or PATH-STEP and returns that prefix. Values are of one moment between steps. Durable when
  // it returns: data, index, graph, then the state file; older checkpoints over max_to_keep are deleted last,
  // and one that cannot be is warned of. An error leaves the older checkpoints and the state file as they
  // were, and nothing of a new prefix. Throws InvalidArgument for wrong paths, ResourceExhausted when the
  // disk is full, FailedPrecondition for variables without a value.
  std::string save(Session& session, const std::string& path, SaveOptions options = {});

  // Gives the variables the values in the checkpoint; they need none before. Everything is compared with the
  // checkpoint's index first: if something is missing (NotFound) or has another dtype or shape
  // (InvalidArgument), the error has a line for each, and nothing is assigned. The file may hold more. Throws
  // what CheckpointReader throws for what is no checkpoint. Where `prefix` is named by the state file of its
  // directory, later saves there go on counting with what that file names.
  void restore(Session& session, const std::string& prefix);

  // What saves wrote and retention kept, oldest first, all directories together.
  std::vector<std::string> last_checkpoints() const;
  // Takes these over as kept, with the times of their files; those that are gone are passed over.
  void recover_last_checkpoints(FileSystem& files, std::span<const std::string> prefixes);

  // A serialized SaverDef, as collections and `.meta` files hold it.
  std::string saver_def() const;
  const SaverNodes& nodes() const;

 private:
  class State;
  explicit Saver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct ImportMetaGraphFileOptions {
  bool clear_devices = false;
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
  SaverOptions saver = {};            // what the file does not say
};

// Adds the graph and the collections of a `.meta` file, and returns the saver in it, or a new one of its
// variables. Throws NotFound, what import_meta_graph_def throws (with the path in front; then the graph is as
// it was), and InvalidArgument if there is neither saver nor variable.
Saver import_meta_graph(Graph& graph, const std::string& path, ImportMetaGraphFileOptions options = {});

}  // namespace runnel
