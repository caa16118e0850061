#include "CMicroHTTPDShims.h"
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

struct MHD_Daemon *cmicrohttpd_start(
    const uint8_t host[16], uint16_t port, unsigned int connection_limit, size_t memory_limit,
    const struct cmicrohttpd_callbacks *callbacks) {
    // No internal thread, no log.
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_UPGRADE;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    const struct sockaddr *address;
    if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)host)) {
        memset(&ipv4, 0, sizeof ipv4);
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htons(port);
        memcpy(&ipv4.sin_addr, host + 12, 4);
        address = (const struct sockaddr *)&ipv4;
    } else {
        memset(&ipv6, 0, sizeof ipv6);
        ipv6.sin6_family = AF_INET6;
        ipv6.sin6_port = htons(port);
        memcpy(&ipv6.sin6_addr, host, 16);
        address = (const struct sockaddr *)&ipv6;
        flags |= IN6_IS_ADDR_UNSPECIFIED(&ipv6.sin6_addr) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
    }
    return MHD_start_daemon(
        flags, port, NULL, NULL, callbacks->on_request, callbacks->context,
        MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_limit,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->on_completed, callbacks->context,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks->on_connection, callbacks->context,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
}

int cmicrohttpd_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

uint16_t cmicrohttpd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

int cmicrohttpd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

int cmicrohttpd_client(struct MHD_Connection *connection, uint8_t host[16], uint16_t *port) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return 0;
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)info->client_addr;
        memset(host, 0, 10);
        memset(host + 10, 0xFF, 2);
        memcpy(host + 12, &ipv4->sin_addr, 4);
        *port = ntohs(ipv4->sin_port);
        return 1;
    }
    if (info->client_addr->sa_family != AF_INET6) return 0;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)info->client_addr;
    memcpy(host, &ipv6->sin6_addr, 16);
    *port = ntohs(ipv6->sin6_port);
    return 1;
}

void cmicrohttpd_close_upgraded(struct MHD_UpgradeResponseHandle *handle) {
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}
