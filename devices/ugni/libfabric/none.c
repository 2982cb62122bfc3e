/* Functions that alps/alps.h and udreg_pub.h declare, and that fail: there is neither. */
#include "alps/alps.h"
#include "udreg_pub.h"
int alps_app_lli_lock(void) { return -1; }
int alps_app_lli_unlock(void) { return -1; }
int alps_app_lli_put_request(int kind, void *data, size_t bytes) { return -1; }
int alps_app_lli_get_response(int *status, size_t *count) { return -1; }
int alps_app_lli_get_response_bytes(void *data, size_t bytes) { return -1; }
int alps_get_placement_info(uint64_t apid, alpsAppLayout_t *layout, int **a, int **b, int **c, int **d, struct in_addr **e, int **f,
                            int **g, int **h, int **i) {
    return -1;
}
udreg_return_t UDREG_CacheCreate(udreg_cache_attr_t *wanted) { return UDREG_RC_ERROR_NO_DEVICE; }
udreg_return_t UDREG_CacheAccess(char *name, udreg_cache_handle_t *cache) { return UDREG_RC_NO_MATCH; }
udreg_return_t UDREG_CacheRelease(udreg_cache_handle_t cache) { return UDREG_RC_NO_MATCH; }
udreg_return_t UDREG_CacheDestroy(udreg_cache_handle_t cache) { return UDREG_RC_NO_MATCH; }
udreg_return_t UDREG_Register(udreg_cache_handle_t cache, void *at, uint64_t bytes, udreg_entry_t **entry) { return UDREG_RC_NO_MATCH; }
udreg_return_t UDREG_Unregister(udreg_cache_handle_t cache, udreg_entry_t *entry) { return UDREG_RC_NO_MATCH; }
