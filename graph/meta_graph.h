// Whole graphs with their collections and saver, as `.meta` files hold them (MetaGraphDef, formats 5). The
// saver itself lives in train/; here its description is a string of bytes that goes through.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"

namespace runnel {

struct MetaGraphOptions {
  std::string saver_def = "";                                // a serialized SaverDef; empty for none
  std::optional<std::vector<std::string>> collections = {};  // keys to write; none: all
  std::string graph_def = "";     // a serialized GraphDef to write in place of the graph's nodes
  std::string export_scope = "";  // of this scope only, without its name; empty: of all
  std::vector<std::string> left_out_scopes = {};  // "save_1": nodes of these are not written
  bool clear_devices = false;
  bool strip_default_attrs = false;
  bool as_text = false;
};

// The graph as a MetaGraphDef, with shapes, collections and the signatures of all its ops. A collection whose
// items are of different kinds is left out with a warning. Of an exported scope, inputs from outside are
// called "$unbound_inputs_NAME" and listed in the collection `unbound_inputs`; items of collections that
// belong to what is outside are left out, and so is, with a warning, the saver. Throws InvalidArgument if it
// would take 2 GB or more, if nothing is in the scope, and if something takes an input from a scope that is
// left out.
std::string export_meta_graph_def(const Graph& graph, const MetaGraphOptions& options = {});

// What a MetaGraphDef says beyond nodes and collections.
struct MetaGraphInfo {
  std::string saver_def;  // serialized, with the names of the graph; empty if there is none
  std::string tensorflow_version;
  std::string scope;  // under which all lies now: "m/", or "" at the root
};

struct ImportMetaGraphOptions {
  bool clear_devices = false;
  // Under which names are put, made unique as NameScope makes it and inside the scope that is open; "m/" is
  // taken as it is. Empty: the scope that is open.
  std::string import_scope = "";
  // Outputs of the graph that nodes take in place of the file's "x", "x:1" or, to wait for them, "^x".
  std::map<std::string, Output> input_map = {};
};

// Adds the nodes and collections of a MetaGraphDef, binary or text. VariableDefs become Variables; items of
// kinds that Runnel does not know (contexts, queue runners) stay strings of bytes, in which names follow.
// Throws what Graph::import_graph_def throws, and InvalidArgument for names that are there already, for
// collections that name nodes which are not there, for inputs left unbound and for an input_map that does not
// fit; then the graph is as it was.
MetaGraphInfo import_meta_graph_def(Graph& graph, std::string_view meta_graph,
                                    const ImportMetaGraphOptions& options = {});

}  // namespace runnel
