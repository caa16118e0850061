#include <fcntl.h>
#include <sys/prctl.h>
#include <uv.h>

/// Names the calling thread, as debuggers and /proc show it; 15 bytes count. `prctl` is variadic, so Swift can't call it.
static inline void CLibuv_nameThread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// `O_TMPFILE`: a file without a name in the folder that is opened. Swift doesn't import the macro, which is made of another
/// one; 0 where the system has no such files.
static inline int CLibuv_namelessFileFlag(void) {
#if defined(O_TMPFILE)
    return O_TMPFILE;
#elif defined(__O_TMPFILE)
    return __O_TMPFILE;
#else
    return 0;
#endif
}
