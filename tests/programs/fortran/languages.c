/* The part in C of languages.f90: attributes set and read in C, keyvals with callbacks in C, conversions of handles and statuses. Procedures as Fortran calls them. */
#include <mpi.h>
#include <mpi-ext.h>
#include <mpi-fort.h>
#include <stdio.h>

/* Values that delete functions got: the address, and what stands there. */
static void *last_deleted;
static MPI_Aint last_word;
static int deletions;
static int own = 40;

void c_own_(MPI_Aint *at) { *at = (MPI_Aint)&own; }

/* C reads the address itself, the MPI_Aint there, or the int there. */
#define READ(kind, handle, from)                                                              \
    void c_read_##kind##_(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *how, MPI_Aint *value) { \
        void *at = NULL;                                                                      \
        int flag = 0;                                                                         \
        MPI_##handle##_get_attr(MPI_##handle##_f2c(*object), *keyval, &at, &flag);            \
        *value = !flag ? -9999 : *how == 0 ? (MPI_Aint)at : *how == 1 ? *(MPI_Aint *)at : *(int *)at; \
    }                                                                                         \
    void c_set_##kind##_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value) {               \
        MPI_##handle##_set_attr(MPI_##handle##_f2c(*object), *keyval, (void *)*value);        \
    }                                                                                         \
    void c_language_##kind##_(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *language) {       \
        MPIX_##handle##_attr_get_language(MPI_##handle##_f2c(*object), *keyval, language);    \
    }
READ(comm, Comm, comm)
READ(type, Type, type)
READ(win, Win, win)

/* Copy functions: one gives on what it got, one adds 1 to what stands there, one gives an address of its own. */
#define CALLBACKS(kind, object_type)                                                                          \
    static int give_##kind(object_type o, int k, void *extra, void *in, void *out, int *flag) {                \
        (void)o, (void)k, (void)extra;                                                                        \
        *(void **)out = in;                                                                                   \
        *flag = 1;                                                                                            \
        return MPI_SUCCESS;                                                                                   \
    }                                                                                                         \
    static int own_##kind(object_type o, int k, void *extra, void *in, void *out, int *flag) {                 \
        (void)o, (void)k, (void)extra, (void)in;                                                              \
        *(void **)out = &own;                                                                                 \
        *flag = 1;                                                                                            \
        return MPI_SUCCESS;                                                                                   \
    }                                                                                                         \
    static int delete_##kind(object_type o, int k, void *at, void *extra) {                                    \
        (void)o, (void)k;                                                                                     \
        last_deleted = at;                                                                                    \
        last_word = *(MPI_Aint *)extra ? *(MPI_Aint *)at : 0;                                                 \
        deletions++;                                                                                          \
        return MPI_SUCCESS;                                                                                   \
    }
CALLBACKS(comm, MPI_Comm)
CALLBACKS(type, MPI_Datatype)
CALLBACKS(win, MPI_Win)

/* Whether delete functions may follow the address. */
static MPI_Aint follow = 1, leave = 0;

/* `which`: 0 the function gives on what it got, 1 gives an address of its own, 2 MPI_DUP_FN. Values of the first are integers. */
void c_keyvals_(MPI_Fint *which, MPI_Fint *comm, MPI_Fint *type, MPI_Fint *win) {
    void *extra = *which == 0 ? &follow : &leave;
    MPI_Comm_create_keyval(*which == 0 ? give_comm : *which == 1 ? own_comm : MPI_COMM_DUP_FN, delete_comm, comm, extra);
    MPI_Type_create_keyval(*which == 0 ? give_type : *which == 1 ? own_type : MPI_TYPE_DUP_FN, delete_type, type, extra);
    MPI_Win_create_keyval(*which == 0 ? give_win : *which == 1 ? own_win : MPI_WIN_DUP_FN, delete_win, win, extra);
}

void c_deleted_(MPI_Aint *at, MPI_Aint *word, MPI_Fint *times) {
    *at = (MPI_Aint)last_deleted;
    *word = last_word;
    *times = deletions;
}

/* Adds to the integer at the address that C gets. */
void c_add_comm_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *more) {
    void *at = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_Comm_f2c(*object), *keyval, &at, &flag);
    *(MPI_Aint *)at += *more;
}

/* The number of handles that lose their number on the way through C and back. */
void c_handles_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *type, MPI_Fint *op, MPI_Fint *request, MPI_Fint *info, MPI_Fint *errhandler,
                MPI_Fint *win, MPI_Fint *wrong) {
    int size = 0, n = 0;
    *wrong = MPI_Comm_c2f(MPI_Comm_f2c(*comm)) != *comm;
    *wrong += MPI_Group_c2f(MPI_Group_f2c(*group)) != *group;
    *wrong += MPI_Type_c2f(MPI_Type_f2c(*type)) != *type;
    *wrong += MPI_Op_c2f(MPI_Op_f2c(*op)) != *op;
    *wrong += MPI_Request_c2f(MPI_Request_f2c(*request)) != *request;
    *wrong += MPI_Info_c2f(MPI_Info_f2c(*info)) != *info;
    *wrong += MPI_Errhandler_c2f(MPI_Errhandler_f2c(*errhandler)) != *errhandler;
    *wrong += MPI_Win_c2f(MPI_Win_f2c(*win)) != *win;
    /* They are what they were. */
    *wrong += MPI_Comm_size(MPI_Comm_f2c(*comm), &size) != MPI_SUCCESS;
    *wrong += MPI_Group_size(MPI_Group_f2c(*group), &n) != MPI_SUCCESS || n != size;
    *wrong += MPI_Type_size(MPI_Type_f2c(*type), &n) != MPI_SUCCESS || n != 12;
    *wrong += MPI_Info_get_nkeys(MPI_Info_f2c(*info), &n) != MPI_SUCCESS || n != 1;
    *wrong += MPI_Message_c2f(MPI_MESSAGE_NULL) != MPI_Message_c2f(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)));
    *wrong += MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) != MPI_FILE_NULL;
    *wrong += MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) != MPI_SESSION_NULL;
}

/* A status of Fortran's seen in C, changed there, and given back. */
void c_status_(MPI_Fint *status, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *bytes) {
    MPI_Status own_status;
    MPI_Status_f2c(status, &own_status);
    *source = own_status.MPI_SOURCE;
    *tag = own_status.MPI_TAG;
    MPI_Get_count(&own_status, MPI_BYTE, bytes);
    own_status.MPI_TAG = *tag + 1;
    MPI_Status_c2f(&own_status, status);
}

/* The same by way of a status of module mpi_f08; the number of conversions that are wrong, and whether the statuses that nobody wants are Fortran's. */
void c_status_f08_(MPI_Fint *status, MPI_Fint *ignored, MPI_Fint *all_ignored, MPI_Fint *wrong) {
    MPI_Status own_status, back;
    MPI_F08_status modern, other;
    MPI_Fint numbers[MPI_F_STATUS_SIZE];
    *wrong = MPI_Status_f2f08(status, &modern) != MPI_SUCCESS;
    *wrong += modern.MPI_TAG != status[MPI_F_TAG] || modern.MPI_SOURCE != status[MPI_F_SOURCE];
    *wrong += MPI_Status_f082c(&modern, &own_status) != MPI_SUCCESS || own_status.MPI_TAG != modern.MPI_TAG;
    own_status.MPI_TAG += 5;
    *wrong += MPI_Status_c2f08(&own_status, &other) != MPI_SUCCESS || other.MPI_TAG != modern.MPI_TAG + 5;
    *wrong += MPI_Status_f082f(&other, numbers) != MPI_SUCCESS || numbers[MPI_F_TAG] != modern.MPI_TAG + 5;
    *wrong += MPI_Status_f2c(numbers, &back) != MPI_SUCCESS || back.MPI_TAG != own_status.MPI_TAG;
    *wrong += ignored != MPI_F_STATUS_IGNORE || all_ignored != MPI_F_STATUSES_IGNORE;
    *wrong += MPI_Status_f2f08(ignored, &modern) != MPI_ERR_ARG;
    *wrong += MPI_Status_c2f08(&own_status, MPI_F08_STATUS_IGNORE) != MPI_ERR_ARG;
}
