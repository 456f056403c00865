// A stranger's program: needs the registrations of ops and kernels, and what the doors show.
#include <runnel/runnel.h>
#include <cstdio>
#ifdef WITH_EVENT
#include "event.pb.h"
#endif
using namespace runnel;

int main() {
#ifdef WITH_EVENT
  tensorflow::Event event;
  event.set_step(7);
  if (event.SerializeAsString().size() != 2) return 1;
#endif
  Graph g;
  const Output sum = constant(g, Tensor::scalar(3.0f)) + 4.0f;
  Session session(g);
  std::printf("ops and kernels found; 3 + 4 = %g\n", session.run(sum).scalar<float>());
}
