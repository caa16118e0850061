#include <sys/prctl.h>
#include <uv.h>

/// Names the calling thread, as debuggers and /proc show it; 15 bytes count. `prctl` is variadic, so Swift can't call it.
static inline void CLibuv_nameThread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
