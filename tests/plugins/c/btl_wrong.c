/* Components that must be refused: every field can be set to something else by -D. A call of `open` of
 * one of these ends the test, because nothing of a component runs before all its fields have passed.
 */
#include "oxmpi_component.h"
#include <stdlib.h>

#ifndef MAGIC
#define MAGIC OXMPI_MAGIC
#endif
#ifndef MAJOR
#define MAJOR OXMPI_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR OXMPI_ABI_MINOR
#endif
#ifndef SIZE
#define SIZE sizeof(oxmpi_descriptor)
#endif
#ifndef TARGET
#define TARGET OXMPI_STR(OXMPI_TARGET)
#endif
#ifndef FRAMEWORK
#define FRAMEWORK OXMPI_STR(OXMPI_BTL_FRAMEWORK)
#endif
#ifndef FRAMEWORK_VERSION
#define FRAMEWORK_VERSION OXMPI_BTL_VERSION
#endif
#ifndef NAME
#define NAME OXMPI_STR("wrong")
#endif
#ifndef PARAMS
#define PARAMS { NULL, 0 }
#endif
#ifndef HELP
#define HELP OXMPI_STR("")
#endif
#ifndef OPEN
#define OPEN wrong_open
#endif
#ifndef LOCK_PROTOCOL
#define LOCK_PROTOCOL OXMPI_LOCK_PROTOCOL
#endif
#ifndef CRI_STRIDE
#define CRI_STRIDE sizeof(oxmpi_cri)
#endif
#ifndef TABLE_VERSION
#define TABLE_VERSION OXMPI_BTL_TABLE_VERSION
#endif
#ifndef SYMBOL
#define SYMBOL oxmpi_component_btl_wrong
#endif

oxmpi_status wrong_open(const oxmpi_open_args *args, oxmpi_opened *out);

oxmpi_status wrong_open(const oxmpi_open_args *args, oxmpi_opened *out) {
    (void)args, (void)out;
    abort();
}

static const oxmpi_descriptor descriptor = {
    .magic = MAGIC,
    .abi_major = MAJOR,
    .abi_minor = MINOR,
    .size = SIZE,
    .target = TARGET,
    .framework = FRAMEWORK,
    .framework_version = FRAMEWORK_VERSION,
    .name = NAME,
    .version = { 1, 0, 0 },
    .params = PARAMS,
    .help = HELP,
    .open = OPEN,
    .lock_protocol = LOCK_PROTOCOL,
    .cri_stride = CRI_STRIDE,
    .table_version = TABLE_VERSION,
};

const oxmpi_descriptor *SYMBOL(void);

const oxmpi_descriptor *SYMBOL(void) {
    return &descriptor;
}
