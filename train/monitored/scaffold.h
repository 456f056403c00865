// The pieces that a training session is made of: the operations that initialise a model and tell whether it
// is ready, its merged summaries, its saver. What is not given is taken from the graph's collections, or made
// with TensorFlow's names, when the graph is finalised. Source: tf.train.Scaffold (behaviours 14.1). Leaves
// out shared and local resources other than variables: Runnel's ops register none.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/saver.h"

namespace runnel {

struct ScaffoldOptions;

// A small handle; copies share one scaffold. One thread at a time.
class Scaffold {
 public:
  Scaffold();  // nothing given
  explicit Scaffold(ScaffoldOptions options);

  // Fills in what was not given, in this order: init_op, ready_op, ready_for_local_init_op, local_init_op,
  // summary_op, saver; then builds the saver and finalises the graph. A piece is the only item of the
  // collection of that name (keys::kInitOp, ..., keys::kSavers), else it is made and added there. Again, it
  // only finalises the graph. Throws FailedPrecondition if a collection holds several items, InvalidArgument
  // if it holds one of another kind.
  void finalize(Graph& graph);

  // What was given, or, after finalize, what is used. Empty if there is none.
  Operation init_op() const;
  const std::vector<Feed>& init_feed_dict() const;
  // Calls the init_fn that was given with this scaffold and the session; empty without one.
  std::function<void(Session&)> init_fn() const;
  Output ready_op() const;
  Output ready_for_local_init_op() const;
  Operation local_init_op() const;
  const std::vector<Feed>& local_init_feed_dict() const;
  Output summary_op() const;  // also after finalize empty if the graph has no summaries
  Saver* saver() const;       // lives as long as the scaffold, or as the one who gave it says; or null

  // The only item of a collection, or what `make` makes, added there unless it is empty. Throws as finalize
  // does, naming `argument` as the way out.
  static Output get_or_default(Graph& graph, std::string_view argument, std::string_view collection_key,
                               const std::function<Output()>& make);
  static Operation get_or_default(Graph& graph, std::string_view argument, std::string_view collection_key,
                                  const std::function<Operation()>& make);
  // The local_init_op of those who give none: local variables, and tables. `graph` must not be finalised.
  static Operation default_local_init_op(Graph& graph);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// All fields are TensorFlow's. An empty one is one that is not given.
struct ScaffoldOptions {
  Operation init_op = {};
  std::vector<Feed> init_feed_dict = {};                  // for the run of init_op
  std::function<void(Scaffold&, Session&)> init_fn = {};  // after init_op, only if nothing was restored
  Output ready_op = {};                                   // string[?]: names of what has no value yet
  Output ready_for_local_init_op = {};                    // the same, for what local_init_op needs
  Operation local_init_op = {};                           // what no checkpoint holds; runs on every start
  Output summary_op = {};                                 // string[]: a serialized Summary
  Saver* saver = nullptr;                                 // borrowed
  std::optional<Scaffold> copy_from_scaffold = {};        // its fields, where these are empty
  std::vector<Feed> local_init_feed_dict = {};            // for the run of local_init_op
};

}  // namespace runnel
