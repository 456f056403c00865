// Saves variables of a session to checkpoints and restores them, keeps the newest few, and writes the graph
// beside each (`.meta`), so that TensorFlow goes on from ours and we from theirs. Source: tf.train.Saver
// (behaviours 8, formats 5); README.md has the order of operations and what differs.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/io/file_system.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/export_meta_graph.h"
#include "train/checkpoint/kept_checkpoints.h"
#include "train/checkpoint/restore_options.h"
#include "train/checkpoint/save_step.h"
#include "train/checkpoint/saver_graph.h"

namespace runnel {

// Formats of checkpoints, by TensorFlow's numbers.
enum class WriteVersion { kLegacy = 0, kV1 = 1, kV2 = 2 };

// TensorFlow's arguments, but for `var_list`, which is the constructor's.
struct SaverOptions {
  bool reshape = false;                          // a value may take another shape of as many elements
  bool sharded = false;                          // the variables of each device in data files of their own
  std::optional<int> max_to_keep = 5;            // 0 or none keeps all
  float keep_checkpoint_every_n_hours = 10'000;  // one in so many hours is never deleted
  std::string name = "save";                     // the scope of the nodes; a second saver gets save_1
  bool restore_sequentially = false;  // no difference, as in TensorFlow: one op reads all values of a device
  std::string saver_def = "";         // bytes of a SaverDef: use the nodes that it names, add none
  bool defer_build = false;           // nodes are added by `build`, for the variables that are there then
  bool allow_empty = false;           // without variables saves write the graph only, restores do nothing
  WriteVersion write_version = WriteVersion::kV2;  // Unimplemented for another
  bool pad_step_number = false;                    // model.ckpt-00000012
  bool save_relative_paths = false;  // no difference: state files name what lies beside them without a path
  std::string filename = "";         // the prefix of a run of the nodes that feeds none; "": "model"
  Clock* clock = nullptr;            // borrowed; none means the machine's
  Location where = Location::here();
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
  // Of all variables of the graph, as they are now, or, with `defer_build`, when it is built. Adds nodes;
  // throws InvalidArgument if there are no variables, if two have one name, if max_to_keep is negative.
  explicit Saver(Graph& graph, SaverOptions options = {});
  explicit Saver(SaverOptions options = {});  // of the default graph
  // Of these: a Variable goes by its own name, {"name", variable} by another. Throws InvalidArgument with
  // `defer_build`, too.
  Saver(Graph& graph, std::initializer_list<SaverItem> variables, SaverOptions options = {});
  Saver(Graph& graph, std::span<const SaverItem> variables, SaverOptions options = {});
  // Of these under their keys' names.
  template <std::same_as<std::map<std::string, Variable>> Variables>
  Saver(Graph& graph, const Variables& variables, SaverOptions options = {})
      : Saver(graph, items_of(variables), std::move(options)) {}
  // One that is in the graph already. Throws InvalidArgument, DataLoss, Unimplemented. With `import_scope`
  // the nodes are those of these names in that scope.
  static Saver from_saver_def(Graph& graph, std::string_view saver_def, SaverOptions options = {});
  static Saver from_proto(Graph& graph, std::string_view saver_def, std::string_view import_scope = "",
                          SaverOptions options = {});

  ~Saver();
  Saver(Saver&&) noexcept;
  Saver& operator=(Saver&&) noexcept;

  // Adds the nodes of a saver that was made with `defer_build`; again, it does nothing. Before it, saving and
  // restoring throw FailedPrecondition.
  void build();

  // Saves to PATH or PATH-STEP and returns that prefix; "" if there are no variables. Values, and a step that
  // is a tensor, are of one moment between steps. Durable when it returns: data, index, graph, then the state
  // file; older checkpoints over max_to_keep are deleted last, and one that cannot be is warned of. An error
  // leaves the older checkpoints and the state file as they were, and nothing of a new prefix. Throws
  // InvalidArgument for wrong paths, ResourceExhausted when the disk is full, FailedPrecondition for
  // variables without a value.
  std::string save(Session& session, const std::string& path, SaveOptions options = {});

  // The same behind the caller's back: it returns as soon as it has the values, of this moment, and a thread
  // writes them while training goes on (a variable is copied when it is first written meanwhile). One at a
  // time: a second call waits for the first. An error of the writing is thrown by the next save, save_async
  // or wait, which then does nothing else; by the destructor, which waits, it is logged. The session may go
  // before the save is done, its file system may not. A `.meta` has the graph as it is when it is written.
  // Savers of TensorFlow's that do something else before they save are run at once, as by `save`.
  std::string save_async(Session& session, const std::string& path, SaveOptions options = {});
  // Until the save in flight is done.
  void wait();

  // Gives the variables the values in the checkpoint; they need none before. Everything is compared with the
  // checkpoint's index first: if something is missing (NotFound) or has another dtype or shape
  // (InvalidArgument) and the options do not allow for it, the error has a line for each, and nothing is
  // assigned. The file may hold more. Returns what was done. Throws what CheckpointReader throws for what is
  // no checkpoint. Where `prefix` is named by the state file of its directory, later saves there go on
  // counting with what that file names.
  RestoreReport restore(Session& session, const std::string& prefix, RestoreOptions options = {});

  // What saves wrote and retention kept, oldest first, all directories together.
  std::vector<std::string> last_checkpoints() const;
  // Puts this list in its place: what later saves count and delete.
  void set_last_checkpoints_with_time(std::span<const KeptCheckpoint> checkpoints);
  // Takes these over as kept, with the times of their files; those that are gone are passed over.
  void recover_last_checkpoints(FileSystem& files, std::span<const std::string> prefixes);

  // A serialized SaverDef, as collections and `.meta` files hold it; "" if no nodes are built. TensorFlow's
  // names for it are as_saver_def and to_proto: the latter with names as seen from inside a scope, "" if the
  // saver is not in it.
  std::string saver_def() const;
  std::string as_saver_def() const { return saver_def(); }
  std::string to_proto(std::string_view export_scope = "") const;
  // The graph with its collections and this saver, as runnel::export_meta_graph; `options.saver_def` is not
  // looked at.
  std::string export_meta_graph(ExportMetaGraphOptions options = {}) const;
  // Throws FailedPrecondition if none are built.
  const SaverNodes& nodes() const;

 private:
  class State;
  static std::vector<SaverItem> items_of(const std::map<std::string, Variable>& variables);
  std::unique_ptr<State> state_;
};

}  // namespace runnel
