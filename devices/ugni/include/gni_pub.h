/* libugni as the emulation has it: types, numbers and functions of API 0x5d and later, written from tables of the interface.
 * Names are those of the interface; see README.md for what the emulation does and what answers GNI_RC_ILLEGAL_OP. */
#ifndef OXMPI_UGNI_EMULATION_GNI_PUB_H
#define OXMPI_UGNI_EMULATION_GNI_PUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GNI_VERSION_CHECK 0
#define GNI_MAJOR_REV 0x5d
#define GNI_MINOR_REV 0x01
#define GNI_CODE_REV 0x0002
#define GNI_VERSION (GNI_MAJOR_REV << 24 | GNI_MINOR_REV << 16 | GNI_CODE_REV)
#define GNI_GET_MAJOR(v) ((v) >> 24 & 0xff)
#define GNI_GET_MINOR(v) ((v) >> 16 & 0xff)
#define GNI_GET_REV(v) ((v) & 0xffff)
#define GNI_VERSION_FMA_CHAIN_TRANSACTIONS 0x5d0000

typedef enum gni_return {
    GNI_RC_SUCCESS = 0,
    GNI_RC_NOT_DONE,
    GNI_RC_INVALID_PARAM,
    GNI_RC_ERROR_RESOURCE,
    GNI_RC_TIMEOUT,
    GNI_RC_PERMISSION_ERROR,
    GNI_RC_DESCRIPTOR_ERROR,
    GNI_RC_ALIGNMENT_ERROR,
    GNI_RC_INVALID_STATE,
    GNI_RC_NO_MATCH,
    GNI_RC_SIZE_ERROR,
    GNI_RC_TRANSACTION_ERROR,
    GNI_RC_ILLEGAL_OP,
    GNI_RC_ERROR_NOMEM
} gni_return_t;

/* modes of a communication domain */
#define GNI_CDM_MODE_FORK_NOCOPY 0x1
#define GNI_CDM_MODE_FORK_FULLCOPY 0x2
#define GNI_CDM_MODE_FORK_PARTCOPY 0x4
#define GNI_CDM_MODE_ERR_NO_KILL 0x8
#define GNI_CDM_MODE_ERR_ALL_KILL 0x10
#define GNI_CDM_MODE_FAST_DATAGRAM_POLL 0x20
#define GNI_CDM_MODE_BTE_SINGLE_CHANNEL 0x40
#define GNI_CDM_MODE_USE_PCI_IOMMU 0x80
#define GNI_CDM_MODE_MDD_DEDICATED 0x100
#define GNI_CDM_MODE_MDD_SHARED 0x200
#define GNI_CDM_MODE_DUAL_EVENTS 0x1000
#define GNI_CDM_MODE_DLA_ENABLE_FORWARDING 0x4000
#define GNI_CDM_MODE_DLA_DISABLE_FORWARDING 0x8000
#define GNI_CDM_MODE_FMA_DEDICATED 0x10000
#define GNI_CDM_MODE_FMA_SHARED 0x20000
#define GNI_CDM_MODE_CACHED_AMO_ENABLED 0x40000
#define GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT 0x80000
#define GNI_CDM_MODE_FLBTE_DISABLE 0x100000
#define GNI_CDM_MODE_FMA_SMALL_WINDOW 0x200000
#define GNI_CDM_MODE_MASK 0x0fffffff

typedef enum gni_post_state {
    GNI_POST_PENDING,
    GNI_POST_COMPLETED,
    GNI_POST_ERROR,
    GNI_POST_TIMEOUT,
    GNI_POST_TERMINATED,
    GNI_POST_REMOTE_DATA
} gni_post_state_t;

typedef enum gni_nic_device { GNI_DEVICE_GEMINI, GNI_DEVICE_ARIES, GNI_DEVICE_PISCES } gni_nic_device_t;

#define GNI_PTAG_LND 1
#define GNI_PTAG_OFED 2
#define GNI_PTAG_USER_START 3
#define GNI_PTAG_USER_END 253
#define GNI_PTAG_MAX 254
#define GNI_FIND_ALLOC_PTAG 255
#define GNI_PKEY_USER_START 128
#define GNI_PKEY_USER_END 65407
#define GNI_JOB_INVALID_LIMIT ((uint64_t)-1)

#define GNI_DATAGRAM_MAXSIZE 128
#define GNI_SMSG_MAX_SIZE 65535
#define GNI_SMSG_ANY_TAG 0xff
#define GNI_FMA_FLAGGED_RESPONSE_SIZE 4
#define GNI_CQ_MAX_ENTRY_COUNT 0

/* flags of a registration */
#define GNI_MEM_READWRITE 0x0
#define GNI_MEM_READ_ONLY 0x1
#define GNI_MEM_USE_VMDH 0x2
#define GNI_MEM_USE_GART 0x4
#define GNI_MEM_PHYS_CONT 0x8
#define GNI_MEM_PHYS_SEGMENTS 0x10
#define GNI_MEM_STRICT_PI_ORDERING 0x20
#define GNI_MEM_PI_FLUSH 0x40
#define GNI_MEM_MDD_CLONE 0x80
#define GNI_MEM_RELAXED_PI_ORDERING 0x100
#define GNI_MEM_RESERVE_REGION 0x200
#define GNI_MEM_UPDATE_REGION 0x400
#define GNI_MEM_MDD_SHARED 0x800
#define GNI_MEM_MDD_DEDICATED 0x1000
#define GNI_MEM_CUDA 0x01000000

typedef enum gni_mem_handle_attr {
    GNI_MEMHNDL_ATTR_READONLY = 1,
    GNI_MEMHNDL_ATTR_VMDH,
    GNI_MEMHNDL_ATTR_MRT,
    GNI_MEMHNDL_ATTR_GART,
    GNI_MEMHNDL_ATTR_IOMMU,
    GNI_MEMHNDL_ATTR_PCI_IOMMU,
    GNI_MEMHNDL_ATTR_CLONE
} gni_mem_handle_attr_t;

/* modes of a completion queue, types of events */
typedef uint32_t gni_cq_mode_t;
#define GNI_CQ_NOBLOCK 0
#define GNI_CQ_BLOCKING 1
#define GNI_CQ_EMULATED 2
#define GNI_CQ_PHYS_PAGES 4
#define GNI_CQ_UNMANAGED 8
#define GNI_CQ_NOAUTOFILL 16
#define GNI_CQ_EVENT_TYPE_POST 0
#define GNI_CQ_EVENT_TYPE_SMSG 1
#define GNI_CQ_EVENT_TYPE_DMAPP 2
#define GNI_CQ_EVENT_TYPE_MSGQ 3

typedef enum gni_post_type {
    GNI_POST_RDMA_PUT = 1,
    GNI_POST_RDMA_GET,
    GNI_POST_FMA_PUT,
    GNI_POST_FMA_PUT_W_SYNCFLAG,
    GNI_POST_FMA_GET,
    GNI_POST_AMO,
    GNI_POST_CQWRITE,
    GNI_POST_CE,
    GNI_POST_FMA_GET_W_FLAG,
    GNI_POST_AMO_W_FLAG
} gni_post_type_t;

#define GNI_CQMODE_SILENT 0
#define GNI_CQMODE_LOCAL_EVENT 1
#define GNI_CQMODE_GLOBAL_EVENT 2
#define GNI_CQMODE_REMOTE_EVENT 4
#define GNI_CQMODE_DUAL_EVENTS 3
#define GNI_DLVMODE_PERFORMANCE 0
#define GNI_DLVMODE_NO_ADAPT 1
#define GNI_DLVMODE_NO_HASH 2
#define GNI_DLVMODE_IN_ORDER 3
#define GNI_DLVMODE_NO_RADAPT 4
#define GNI_DLVMODE_NMIN_HASH 0x8
#define GNI_DLVMODE_MIN_HASH 0x10
#define GNI_DLVMODE_MNON_HASH 3
#define GNI_DLVMODE_ADAPTIVE0 0
#define GNI_DLVMODE_ADAPTIVE1 0x20
#define GNI_DLVMODE_ADAPTIVE2 0x40
#define GNI_DLVMODE_ADAPTIVE3 0x80
#define GNI_DLVMODE_ORDERED_TAIL 0x100
#define GNI_RDMAMODE_PHYS_ADDR 1
#define GNI_RDMAMODE_FENCE 2
#define GNI_RDMAMODE_GETWC_DIS 4

/* commands of atomics: F fetches, C is cached, 2 is the second generation, S has 32 bits */
typedef enum gni_fma_cmd_type {
    GNI_FMA_ATOMIC_FADD = 0x008, GNI_FMA_ATOMIC_FADD_C = 0x018, GNI_FMA_ATOMIC_ADD = 0x108, GNI_FMA_ATOMIC_ADD_C = 0x118,
    GNI_FMA_ATOMIC_FAND = 0x009, GNI_FMA_ATOMIC_FAND_C = 0x019, GNI_FMA_ATOMIC_AND = 0x109, GNI_FMA_ATOMIC_AND_C = 0x119,
    GNI_FMA_ATOMIC_FOR = 0x00a, GNI_FMA_ATOMIC_FOR_C = 0x01a, GNI_FMA_ATOMIC_OR = 0x10a, GNI_FMA_ATOMIC_OR_C = 0x11a,
    GNI_FMA_ATOMIC_FXOR = 0x00b, GNI_FMA_ATOMIC_FXOR_C = 0x01b, GNI_FMA_ATOMIC_XOR = 0x10b, GNI_FMA_ATOMIC_XOR_C = 0x11b,
    GNI_FMA_ATOMIC_FAX = 0x00c, GNI_FMA_ATOMIC_FAX_C = 0x01c, GNI_FMA_ATOMIC_AX = 0x10c, GNI_FMA_ATOMIC_AX_C = 0x11c,
    GNI_FMA_ATOMIC_CSWAP = 0x00d, GNI_FMA_ATOMIC_CSWAP_C = 0x01d,
    GNI_FMA_ATOMIC2_FAND = 0x041, GNI_FMA_ATOMIC2_AND = 0x141, GNI_FMA_ATOMIC2_FAND_S = 0x240, GNI_FMA_ATOMIC2_AND_S = 0x340,
    GNI_FMA_ATOMIC2_FOR = 0x043, GNI_FMA_ATOMIC2_OR = 0x143, GNI_FMA_ATOMIC2_FOR_S = 0x242, GNI_FMA_ATOMIC2_OR_S = 0x342,
    GNI_FMA_ATOMIC2_FXOR = 0x045, GNI_FMA_ATOMIC2_XOR = 0x145, GNI_FMA_ATOMIC2_FXOR_S = 0x244, GNI_FMA_ATOMIC2_XOR_S = 0x344,
    GNI_FMA_ATOMIC2_FSWAP = 0x047, GNI_FMA_ATOMIC2_SWAP = 0x147, GNI_FMA_ATOMIC2_FSWAP_S = 0x246, GNI_FMA_ATOMIC2_SWAP_S = 0x346,
    GNI_FMA_ATOMIC2_FAX = 0x049, GNI_FMA_ATOMIC2_AX = 0x149, GNI_FMA_ATOMIC2_FAX_S = 0x248, GNI_FMA_ATOMIC2_AX_S = 0x348,
    GNI_FMA_ATOMIC2_FCSWAP = 0x04b, GNI_FMA_ATOMIC2_CSWAP = 0x14b, GNI_FMA_ATOMIC2_FCSWAP_S = 0x24a, GNI_FMA_ATOMIC2_CSWAP_S = 0x34a,
    GNI_FMA_ATOMIC2_FIMIN = 0x051, GNI_FMA_ATOMIC2_IMIN = 0x151, GNI_FMA_ATOMIC2_FIMIN_S = 0x250, GNI_FMA_ATOMIC2_IMIN_S = 0x350,
    GNI_FMA_ATOMIC2_FIMAX = 0x053, GNI_FMA_ATOMIC2_IMAX = 0x153, GNI_FMA_ATOMIC2_FIMAX_S = 0x252, GNI_FMA_ATOMIC2_IMAX_S = 0x352,
    GNI_FMA_ATOMIC2_FIADD = 0x055, GNI_FMA_ATOMIC2_IADD = 0x155, GNI_FMA_ATOMIC2_FIADD_S = 0x254, GNI_FMA_ATOMIC2_IADD_S = 0x354,
    GNI_FMA_ATOMIC2_FFPMIN = 0x059, GNI_FMA_ATOMIC2_FPMIN = 0x159, GNI_FMA_ATOMIC2_FFPMIN_S = 0x258, GNI_FMA_ATOMIC2_FPMIN_S = 0x358,
    GNI_FMA_ATOMIC2_FFPMAX = 0x05b, GNI_FMA_ATOMIC2_FPMAX = 0x15b, GNI_FMA_ATOMIC2_FFPMAX_S = 0x25a, GNI_FMA_ATOMIC2_FPMAX_S = 0x35a,
    GNI_FMA_ATOMIC2_FFPADD = 0x05d, GNI_FMA_ATOMIC2_FPADD = 0x15d, GNI_FMA_ATOMIC2_FFPADD_S = 0x25c, GNI_FMA_ATOMIC2_FPADD_S = 0x35c
} gni_fma_cmd_type_t;

typedef enum gni_ce_cmd_type { GNI_FMA_CE_AND_S = 0, GNI_FMA_CE_AND = 1 } gni_ce_cmd_type_t;

typedef enum gni_statistic {
    GNI_STAT_SMSG_BUFF_CREDITS_STALL,
    GNI_STAT_SMSG_DLA_STALL,
    GNI_STAT_SMSG_MBOX_CREDITS_STALL,
    GNI_STAT_SMSG_REQ_STALL,
    GNI_STAT_SMSG_RETRANS_COUNT,
    GNI_STAT_SMSG_RETRANS_DLA_COUNT,
    GNI_STAT_SMSG_RETRANS_STALL,
    GNI_NUM_STATS
} gni_statistic_t;

typedef enum gni_dev_res { GNI_DEV_RES_FIRST, GNI_DEV_RES_MDD, GNI_DEV_RES_MRT, GNI_DEV_RES_CQ, GNI_DEV_RES_FMA, GNI_DEV_RES_CE, GNI_DEV_RES_DLA,
    GNI_DEV_RES_TCR, GNI_DEV_RES_DVA, GNI_DEV_RES_LAST
} gni_dev_res_t;
typedef enum gni_job_res {
    GNI_JOB_RES_FIRST, GNI_JOB_RES_MDD, GNI_JOB_RES_MRT, GNI_JOB_RES_IOMMU, GNI_JOB_RES_GART, GNI_JOB_RES_CQ,
    GNI_JOB_RES_FMA, GNI_JOB_RES_RDMA, GNI_JOB_RES_CE, GNI_JOB_RES_DLA, GNI_JOB_RES_SFMA,
    GNI_JOB_RES_DIRECT, GNI_JOB_RES_PCI_IOMMU, GNI_JOB_RES_NONVMDH, GNI_JOB_RES_LAST
} gni_job_res_t;

typedef enum gni_smsg_type { GNI_SMSG_TYPE_INVALID, GNI_SMSG_TYPE_MBOX, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT } gni_smsg_type_t;

typedef struct gni_cdm *gni_cdm_handle_t;
typedef struct gni_nic *gni_nic_handle_t;
typedef struct gni_ep *gni_ep_handle_t;
typedef struct gni_cq *gni_cq_handle_t;
typedef struct gni_err *gni_err_handle_t;
typedef struct gni_msgq *gni_msgq_handle_t;
typedef struct gni_ce *gni_ce_handle_t;
typedef struct gni_comp_chan *gni_comp_chan_handle_t;
typedef uint64_t gni_cq_entry_t;

typedef struct gni_mem_handle {
    uint64_t qword1;
    uint64_t qword2;
} gni_mem_handle_t;

typedef struct gni_mem_segment {
    uint64_t address;
    uint64_t length;
} gni_mem_segment_t;

typedef struct gni_smsg_attr {
    gni_smsg_type_t msg_type;
    void *msg_buffer;
    uint32_t buff_size;
    gni_mem_handle_t mem_hndl;
    uint32_t mbox_offset;
    uint16_t mbox_maxcredit;
    uint32_t msg_maxsize;
} gni_smsg_attr_t;

typedef struct gni_post_descriptor {
    void *next_descr;
    void *prev_descr;
    uint64_t post_id;
    uint64_t status;
    uint16_t cq_mode_complete;
    gni_post_type_t type;
    uint16_t cq_mode;
    uint16_t dlvr_mode;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t length;
    uint16_t rdma_mode;
    gni_cq_handle_t src_cq_hndl;
    uint64_t sync_flag_value;
    uint64_t sync_flag_addr;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
    uint64_t cqwrite_value;
    gni_ce_cmd_type_t ce_cmd;
    uint32_t ce_mode;
    uint64_t ce_red_id;
} gni_post_descriptor_t;

typedef struct gni_ct_put_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
} gni_ct_put_post_descriptor_t;

typedef struct gni_ct_get_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
} gni_ct_get_post_descriptor_t;

typedef struct gni_ct_amo_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
} gni_ct_amo_post_descriptor_t;

typedef struct gni_ct_cqw_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t cqwrite_value;
} gni_ct_cqw_post_descriptor_t;

typedef struct gni_dev_res_desc {
    uint64_t available;
    uint64_t reserved;
    uint64_t held;
    uint64_t total;
} gni_dev_res_desc_t;

typedef struct gni_job_res_desc {
    uint64_t used;
    uint64_t limit;
} gni_job_res_desc_t;

typedef struct gni_version_info {
    uint32_t ugni_version;
    uint32_t ugni_svn_revision;
    char ugni_build_string[80];
    uint32_t kgni_version;
    uint32_t kgni_svn_revision;
    char kgni_build_string[80];
} gni_version_info_t;

extern const char *gni_err_str[14];
extern const char *gni_statistic_str[GNI_NUM_STATS];

/* domains and devices */
gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes, gni_cdm_handle_t *cdm);
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm);
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm, uint32_t device_id, uint32_t *local_addr, gni_nic_handle_t *nic);
gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id);
gni_return_t GNI_GetNumLocalDevices(int *count);
gni_return_t GNI_GetLocalDeviceIds(int len, int *ids);
gni_return_t GNI_GetDeviceType(gni_nic_device_t *type);
gni_return_t GNI_GetVersion(uint32_t *version);
gni_return_t GNI_GetVersionInformation(gni_version_info_t *info);
gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag);
gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t type, gni_dev_res_desc_t *info);
gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t type, gni_job_res_desc_t *info);
gni_return_t GNI_GetNicStat(gni_nic_handle_t nic, gni_statistic_t what, uint32_t *value);
gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic, gni_statistic_t what);

/* endpoints and datagrams */
gni_return_t GNI_EpCreate(gni_nic_handle_t nic, gni_cq_handle_t cq, gni_ep_handle_t *ep);
gni_return_t GNI_EpBind(gni_ep_handle_t ep, uint32_t remote_addr, uint32_t remote_id);
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep);
gni_return_t GNI_EpIdle(gni_ep_handle_t ep);
gni_return_t GNI_EpDestroy(gni_ep_handle_t ep);
gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep, uint32_t local_event, uint32_t remote_event);
gni_return_t GNI_EpPostData(gni_ep_handle_t ep, void *in, uint16_t in_len, void *out, uint16_t out_len);
gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep, void *in, uint16_t in_len, void *out, uint16_t out_len, uint64_t id);
gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep, gni_post_state_t *state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep, uint64_t id, gni_post_state_t *state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep, uint32_t ms, gni_post_state_t *state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep, uint64_t id, uint32_t ms, gni_post_state_t *state, uint32_t *remote_addr,
                                    uint32_t *remote_id);
gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic, uint64_t *id);
gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic, uint32_t ms, uint64_t *id);
gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep);
gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep, uint64_t id);

/* memory */
gni_return_t GNI_MemRegister(gni_nic_handle_t nic, uint64_t address, uint64_t length, gni_cq_handle_t cq, uint32_t flags, uint32_t vmdh_index,
                             gni_mem_handle_t *handle);
gni_return_t GNI_SetMddResources(gni_nic_handle_t nic, uint32_t entries);
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic, gni_mem_handle_t *handle);
gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *handle, gni_mem_handle_attr_t attribute, int *answer);

/* completion queues */
gni_return_t GNI_CqCreate(gni_nic_handle_t nic, uint32_t entries, uint32_t delay, gni_cq_mode_t mode, void (*handler)(gni_cq_entry_t *, void *),
                          void *context, gni_cq_handle_t *cq);
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq);
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq, gni_cq_entry_t *event);
gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq);
gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq, uint64_t ms, gni_cq_entry_t *event);
gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cqs, uint32_t n, uint64_t ms, gni_cq_entry_t *event, uint32_t *which);
gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cqs, uint32_t n, uint64_t ms, uint32_t *which);
gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq);
gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq);
gni_return_t GNI_GetCompleted(gni_cq_handle_t cq, gni_cq_entry_t event, gni_post_descriptor_t **descriptor);
gni_return_t GNI_CqErrorStr(gni_cq_entry_t event, void *text, uint32_t len);
gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t event, uint32_t *recoverable);
gni_return_t GNI_CompChanCreate(gni_nic_handle_t nic, gni_comp_chan_handle_t *channel);
gni_return_t GNI_CompChanDestroy(gni_comp_chan_handle_t channel);
gni_return_t GNI_CompChanFd(gni_comp_chan_handle_t channel, int *fd);
gni_return_t GNI_CompChanGetEvent(gni_comp_chan_handle_t channel, gni_cq_handle_t *cq);
gni_return_t GNI_CqAttachCompChan(gni_cq_handle_t cq, gni_comp_chan_handle_t channel);
gni_return_t GNI_CqArmCompChan(gni_cq_handle_t *cqs, uint32_t n);

/* names of resources */
int gni_dev_res_valid(gni_dev_res_t resource);
int gni_job_res_valid(gni_job_res_t resource);
const char *gni_dev_res_to_str(gni_dev_res_t resource);
const char *gni_job_res_to_str(gni_job_res_t resource);

/* movement of data */
gni_return_t GNI_PostRdma(gni_ep_handle_t ep, gni_post_descriptor_t *descriptor);
gni_return_t GNI_PostFma(gni_ep_handle_t ep, gni_post_descriptor_t *descriptor);
gni_return_t GNI_CtPostFma(gni_ep_handle_t ep, gni_post_descriptor_t *descriptor);
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep, gni_post_descriptor_t *descriptor);
gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep, gni_post_descriptor_t *descriptor);
gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *attr, unsigned int *size);
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep, gni_smsg_attr_t *local, gni_smsg_attr_t *remote);
gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic, uint16_t mode);
gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic, uint16_t times);
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep, void *header, uint32_t header_len, void *data, uint32_t data_len, uint32_t id);
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep, void *header, uint32_t header_len, void *data, uint32_t data_len, uint32_t id, uint8_t tag);
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep, void **header);
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep, void **header, uint8_t *tag);
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep);

/* fields of a completion entry */
uint64_t gni_cq_get_data(gni_cq_entry_t);
uint64_t gni_cq_get_source(gni_cq_entry_t);
uint64_t gni_cq_get_status(gni_cq_entry_t);
uint64_t gni_cq_get_info(gni_cq_entry_t);
uint64_t gni_cq_get_inst_id(gni_cq_entry_t);
uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t);
uint64_t gni_cq_get_tid(gni_cq_entry_t);
uint64_t gni_cq_get_msg_id(gni_cq_entry_t);
uint64_t gni_cq_get_type(gni_cq_entry_t);
uint64_t gni_cq_overrun(gni_cq_entry_t);
uint64_t gni_cq_rem_overrun(gni_cq_entry_t);
void gni_cq_set_inst_id(gni_cq_entry_t *, uint64_t);
void gni_cq_set_rem_inst_id(gni_cq_entry_t *, uint64_t);
void gni_cq_set_tid(gni_cq_entry_t *, uint64_t);
void gni_cq_set_msg_id(gni_cq_entry_t *, uint64_t);
void gni_cq_set_type(gni_cq_entry_t *, uint64_t);
void gni_cq_clr_status(gni_cq_entry_t *);
#define GNI_CQ_GET_DATA gni_cq_get_data
#define GNI_CQ_GET_SOURCE gni_cq_get_source
#define GNI_CQ_GET_STATUS gni_cq_get_status
#define GNI_CQ_GET_INFO gni_cq_get_info
#define GNI_CQ_GET_INST_ID gni_cq_get_inst_id
#define GNI_CQ_GET_REM_INST_ID gni_cq_get_rem_inst_id
#define GNI_CQ_GET_TID gni_cq_get_tid
#define GNI_CQ_GET_MSG_ID gni_cq_get_msg_id
#define GNI_CQ_GET_TYPE gni_cq_get_type
#define GNI_CQ_OVERRUN gni_cq_overrun
#define GNI_CQ_REM_OVERRUN gni_cq_rem_overrun
#define GNI_CQ_STATUS_OK(e) (gni_cq_get_status(e) == 0)
#define GNI_CQ_SET_INST_ID gni_cq_set_inst_id
#define GNI_CQ_SET_REM_INST_ID gni_cq_set_rem_inst_id
#define GNI_CQ_SET_TID gni_cq_set_tid
#define GNI_CQ_SET_MSG_ID gni_cq_set_msg_id
#define GNI_CQ_SET_TYPE gni_cq_set_type
#define GNI_CQ_CLR_STATUS gni_cq_clr_status

/* the emulation's own: a counter by name, all ones for a name that is none */
uint64_t oxmpi_ugni_counter(const char *name);

#ifdef __cplusplus
}
#endif
#endif
