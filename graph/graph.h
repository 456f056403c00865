// The door of graph/: tensors, shapes, errors, the graph with its scopes and collections, and the session
// that runs it.
#pragma once

#include "graph/dataflow.h"
#include "graph/dtype.h"
#include "graph/error.h"
#include "graph/example.h"
#include "graph/io/file_system.h"
#include "graph/io/tf_record.h"
#include "graph/kernel.h"
#include "graph/location.h"
#include "graph/meta_graph.h"
#include "graph/node.h"
#include "graph/runtime/chrome_trace.h"
#include "graph/runtime/run_metadata.h"
#include "graph/runtime/session.h"
#include "graph/shape.h"
#include "graph/tensor.h"
