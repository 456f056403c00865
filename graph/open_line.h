// A line on stderr that somebody draws over again and again and has not ended (a progress bar): the log's
// default sink erases it before it writes a line of its own, so that the two do not run together.
#pragma once

namespace runnel {

// From any thread. A line of the log leaves none open.
void set_open_line(bool open) noexcept;

}  // namespace runnel
