// Typed functions for libmicrohttpd's variadic ones, which Swift can't import.
#ifndef CMICROHTTPD_SHIMS_H
#define CMICROHTTPD_SHIMS_H

#include <microhttpd.h>
#include <stdint.h>

// What a daemon calls back, with `context` first.
struct cmicrohttpd_callbacks {
    MHD_AccessHandlerCallback on_request;
    MHD_RequestCompletedCallback on_completed;
    MHD_NotifyConnectionCallback on_connection;
    void *context;
};

// Starts a daemon that the caller drives by the epoll descriptor. `host` is an IPv6 address, of which the v4-mapped ones
// stand for IPv4; the IPv6 wildcard takes both. `memory_limit` bounds a request's head and what an answer needs.
struct MHD_Daemon *cmicrohttpd_start(
    const uint8_t host[16], uint16_t port, unsigned int connection_limit, size_t memory_limit,
    const struct cmicrohttpd_callbacks *callbacks);

// The descriptor that is readable when `MHD_run` has something to do; -1 for none.
int cmicrohttpd_epoll_descriptor(struct MHD_Daemon *daemon);

// The port that the daemon listens at; 0 for none.
uint16_t cmicrohttpd_port(struct MHD_Daemon *daemon);

// A connection's socket; -1 for none.
int cmicrohttpd_descriptor(struct MHD_Connection *connection);

// Fills in the other side's address, IPv4 as v4-mapped; 0 when there is none.
int cmicrohttpd_client(struct MHD_Connection *connection, uint8_t host[16], uint16_t *port);

// Gives an upgraded connection back to its daemon, which closes it when it runs next.
void cmicrohttpd_close_upgraded(struct MHD_UpgradeResponseHandle *handle);

#endif
