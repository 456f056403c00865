// Operations that give variables and tables their initial values, and the tensor that tells which variables
// have none yet. Names and defaults are TensorFlow's (behaviours 3); in order of dependency, which TensorFlow
// leaves open.
#pragma once

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"

namespace runnel {

struct InitializeOptions {
  std::string name = "init";
  Location where = Location::here();
};

// Gives all of `variables` their initial values, each after those that it depends on, so that running it
// again gives the same again. A variable that depends on another in the list gets an Assign of its own for
// this, in NAME/.
//
//   returns  an operation; one that does nothing for an empty list
//   errors   InvalidArgument naming the variables whose initial values depend on each other
//   source   tf.variables_initializer
Operation initialize_variables(Graph& graph, const std::vector<Variable>& variables,
                               InitializeOptions options = {});
// The same for the collection `variables`, or `local_variables`.
Operation initialize_global_variables(Graph& graph, InitializeOptions options = {});
Operation initialize_local_variables(Graph& graph, InitializeOptions options = {});

struct InitializeTablesOptions {
  std::string name = "init_all_tables";
  Location where = Location::here();
};

// Fills the tables of the graph: an operation that is done when all in the collection `table_initializer`
// are.
//
//   returns  an operation; one that does nothing if there are none
//   source   tf.tables_initializer
Operation initialize_tables(Graph& graph, InitializeTablesOptions options = {});

struct ReportOptions {
  std::string name = "report_uninitialized_variables";
  Location where = Location::here();
};

// The names of those variables that have no value yet, in the order of the list; empty when all are ready.
//
//   returns  string[?]
//   grad     none
//   source   tf.report_uninitialized_variables
Output report_uninitialized_variables(Graph& graph, const std::vector<Variable>& variables,
                                      ReportOptions options = {});
// The same for all global and local variables.
Output report_uninitialized_variables(Graph& graph, ReportOptions options = {});

}  // namespace runnel
