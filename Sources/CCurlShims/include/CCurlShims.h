// Typed functions for libcurl's variadic ones, which Swift can't import.
#ifndef CCURL_SHIMS_H
#define CCURL_SHIMS_H

#include <curl/curl.h>

CURLcode ccurl_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_easy_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_easy_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode ccurl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
CURLcode ccurl_easy_set_data_callback(CURL *easy, CURLoption option, ccurl_data_callback callback);
CURLcode ccurl_easy_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode ccurl_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode ccurl_easy_get_string(CURL *easy, CURLINFO info, const char **value);
CURLcode ccurl_easy_get_socket(CURL *easy, CURLINFO info, curl_socket_t *value);
CURLcode ccurl_easy_get_pointer(CURL *easy, CURLINFO info, void **value);

// Makes its sockets such that a program which the process starts doesn't inherit them.
CURLcode ccurl_easy_keep_from_children(CURL *easy);

typedef int (*ccurl_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context, void *watcher);
typedef int (*ccurl_timer_callback)(CURLM *multi, long timeout_ms, void *context);
CURLMcode ccurl_multi_set_callbacks(
    CURLM *multi, ccurl_socket_callback on_socket, ccurl_timer_callback on_timer, void *context);
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

CURLSHcode ccurl_share_set_long(CURLSH *share, CURLSHoption option, long value);
CURLcode ccurl_easy_set_share(CURL *easy, CURLSH *share);

#endif
