#pragma once
#include <microhttpd.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

// What Swift cannot call of libmicrohttpd because it is variadic.

struct latchkey_http_callbacks {
    MHD_AccessHandlerCallback handler;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    // Called with the request target before anything of it is decoded.
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    void *context;
};

// Starts one event loop on a thread of its own. It has no listening socket: connections are handed to it by
// MHD_add_connection. `certificate` and `key` are PEM text, or both NULL. NULL if it cannot be started.
//
// Time-outs and the number of connections are watched by the caller, and 0.9.75 must never reach a limit of its own: it
// then leaves a mutex locked.
static inline struct MHD_Daemon *latchkey_start_daemon(
    const struct latchkey_http_callbacks *callbacks, size_t connection_memory, const char *certificate, const char *key) {
    unsigned int flags = MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC
                         | MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)callbacks->completed, callbacks->context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)callbacks->connection, callbacks->context},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)callbacks->target, callbacks->context},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)connection_memory, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, INT32_MAX, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, 0, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL},
        {certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"},
        {MHD_OPTION_END, 0, NULL},
    };
    if (certificate) flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks->handler, callbacks->context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline int latchkey_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// What the connection callback stored at the start of the connection.
static inline void *latchkey_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// Bytes from the method to the end of the empty line behind the header fields; 0 before they are complete.
static inline size_t latchkey_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// The C library declares it only for its own extensions.
extern int accept4(int socket, struct sockaddr *name, socklen_t *length, int flags);

// Accepts a connection as a socket that does not block and is not inherited; -1 and `errno` if there is none.
static inline int latchkey_accept(int socket, struct sockaddr *name, socklen_t *length) {
    return accept4(socket, name, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Names the calling thread for `ps` and debuggers; at most 15 bytes count.
static inline void latchkey_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
}
