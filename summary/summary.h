// The door of summary/: writing what TensorBoard shows, from a graph's summary ops or directly, and reading
// it back.
#pragma once

#include "graph/io/record_format.h"
#include "summary/events/event_log.h"
#include "summary/events/event_reader.h"
#include "summary/events/event_run.h"
#include "summary/events/record_reader.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "summary/media_ops.h"
#include "summary/summary_ops.h"
#include "summary/values/histogram.h"
