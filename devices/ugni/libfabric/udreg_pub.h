/* Cray's cache of registrations, as far as libfabric's gni provider names it. The provider has one of its own, which is its default. */
#ifndef OXMPI_UDREG_PUB_H
#define OXMPI_UDREG_PUB_H
#include <stdint.h>
typedef enum { UDREG_RC_SUCCESS, UDREG_RC_INVALID_PARAM, UDREG_RC_ERROR_NO_DEVICE, UDREG_RC_NO_SPACE, UDREG_RC_NO_MATCH } udreg_return_t;
enum { UDREG_CC_MODE_USE_LARGE_PAGES = 1, UDREG_CC_MODE_USE_LAZY_DEREG = 2, UDREG_CC_MODE_USE_KERNEL_CACHE = 4 };
typedef void *udreg_cache_handle_t;
typedef struct {
    void *device_data;
} udreg_entry_t;
typedef struct {
    char cache_name[32];
    unsigned max_entries, modes, debug_mode, debug_rank;
    void *reg_context, *dreg_context, *destructor_context;
    void *(*device_reg_func)(void *, uint64_t, void *);
    uint32_t (*device_dereg_func)(void *, void *);
    void (*destructor_callback)(void *);
} udreg_cache_attr_t;
udreg_return_t UDREG_CacheCreate(udreg_cache_attr_t *);
udreg_return_t UDREG_CacheAccess(char *name, udreg_cache_handle_t *);
udreg_return_t UDREG_CacheRelease(udreg_cache_handle_t);
udreg_return_t UDREG_CacheDestroy(udreg_cache_handle_t);
udreg_return_t UDREG_Register(udreg_cache_handle_t, void *, uint64_t, udreg_entry_t **);
udreg_return_t UDREG_Unregister(udreg_cache_handle_t, udreg_entry_t *);
#endif
