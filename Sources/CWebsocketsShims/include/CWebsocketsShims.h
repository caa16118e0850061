// What Swift can't import of libwebsockets: macros, bit-fields and structures that must start out zeroed.
#ifndef CWEBSOCKETS_SHIMS_H
#define CWEBSOCKETS_SHIMS_H

#include <libwebsockets.h>

// LWS_PRE is an expression macro.
size_t cwebsockets_pre(void);

// Creates a context on a libuv loop that the caller runs. Listens when port is not CONTEXT_PORT_NO_LISTEN (-1);
// iface is a numeric address or NULL.
struct lws_context *cwebsockets_create_context(
    void *uv_loop, int port, const char *iface, const struct lws_protocols *protocols, void *user,
    unsigned int descriptor_limit, const char *certificate_file);

// Starts a client connection; NULL when it fails at once (the callback may have been called then).
struct lws *cwebsockets_connect(
    struct lws_context *context, const char *host, int port, const char *path, int secure, void *opaque,
    const char *protocol);

// Sends the whole of an HTTP answer's head.
int cwebsockets_write_head(
    struct lws *wsi, unsigned int status, const char *content_type, unsigned long length);

int cwebsockets_listen_port(struct lws_context *context);

#endif
