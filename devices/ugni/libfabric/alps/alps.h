/* ALPS, Cray's launcher, as far as libfabric's gni provider names it. Nothing behind it works: the provider gets its credentials from a file. */
#ifndef OXMPI_ALPS_H
#define OXMPI_ALPS_H
#include <stddef.h>
#include <stdint.h>
struct in_addr;
typedef struct {
    int numPesHere, firstPe;
} alpsAppLayout_t;
typedef struct {
    int count;
    union {
        char buf[64];
    } u;
} alpsAppLLIGni_t;
typedef struct {
    int ptag, cookie;
} alpsAppGni_t;
enum { ALPS_APP_LLI_ALPS_REQ_APID, ALPS_APP_LLI_ALPS_REQ_GNI };
enum { ALPS_APP_LLI_ALPS_STAT_OK };
int alps_app_lli_lock(void);
int alps_app_lli_unlock(void);
int alps_app_lli_put_request(int kind, void *data, size_t bytes);
int alps_app_lli_get_response(int *status, size_t *count);
int alps_app_lli_get_response_bytes(void *data, size_t bytes);
int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *, int **, int **, int **, int **, struct in_addr **, int **, int **,
                            int **, int **);
#endif
