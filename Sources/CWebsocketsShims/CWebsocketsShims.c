#include "CWebsocketsShims.h"
#include <string.h>

size_t cwebsockets_pre(void) { return LWS_PRE; }

struct lws_context *cwebsockets_create_context(
    void *uv_loop, int port, const char *iface, const struct lws_protocols *protocols, void *user,
    unsigned int descriptor_limit, const char *certificate_file) {
    struct lws_context_creation_info info;
    void *loops[1] = {uv_loop};
    memset(&info, 0, sizeof info);
    lws_set_log_level(0, NULL);
    info.port = port;
    info.iface = iface;
    info.protocols = protocols;
    info.user = user;
    info.gid = -1;
    info.uid = -1;
    info.foreign_loops = loops;
    info.fd_limit_per_thread = descriptor_limit;
    info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.client_ssl_ca_filepath = certificate_file;
    info.timeout_secs = 10;
    info.keepalive_timeout = 30;
    info.vhost_name = "pdn";
    return lws_create_context(&info);
}

struct lws *cwebsockets_connect(
    struct lws_context *context, const char *host, int port, const char *path, int secure, void *opaque,
    const char *protocol) {
    struct lws_client_connect_info info;
    memset(&info, 0, sizeof info);
    info.context = context;
    info.address = host;
    info.port = port;
    info.path = path;
    info.host = host;
    info.origin = host;
    info.ssl_connection = secure ? LCCSCF_USE_SSL : 0;
    info.protocol = protocol;
    info.local_protocol_name = protocol;
    info.opaque_user_data = opaque;
    return lws_client_connect_via_info(&info);
}

int cwebsockets_write_head(
    struct lws *wsi, unsigned int status, const char *content_type, unsigned long length) {
    unsigned char buffer[LWS_PRE + 1024];
    unsigned char *start = buffer + LWS_PRE, *position = start, *end = buffer + sizeof buffer - 1;
    if (lws_add_http_common_headers(wsi, status, content_type, length, &position, end)) return 1;
    if (lws_finalize_write_http_header(wsi, start, &position, end)) return 1;
    return 0;
}

int cwebsockets_listen_port(struct lws_context *context) {
    struct lws_vhost *vhost = lws_get_vhost_by_name(context, "pdn");
    return vhost ? lws_get_vhost_listen_port(vhost) : -1;
}
