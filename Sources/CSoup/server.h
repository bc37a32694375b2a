#ifndef KIZUNA_CSOUP_SERVER_H
#define KIZUNA_CSOUP_SERVER_H
#include <libsoup/soup.h>

/* The local backend's part: libsoup calls that Swift cannot make itself (variadic functions and cast macros). */

static inline SoupServer *kizuna_soup_server_new(const char *name) {
    return soup_server_new("server-header", name, NULL);
}

static inline gulong kizuna_soup_on_got_chunk(
    SoupServerMessage *message, void (*handler)(SoupServerMessage *, GBytes *, gpointer), gpointer data) {
    return g_signal_connect_data(message, "got-chunk", G_CALLBACK(handler), data, NULL, (GConnectFlags)0);
}

static inline void kizuna_object_set_count(gpointer object, const char *key, gsize count) {
    g_object_set_data(G_OBJECT(object), key, GSIZE_TO_POINTER(count));
}

static inline gsize kizuna_object_get_count(gpointer object, const char *key) {
    return GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(object), key));
}
#endif
