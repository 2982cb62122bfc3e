//! Names of environment variables, and the version of the conversation.

/// Name of the daemon's abstract socket.
pub const SOCKET_VARIABLE: &str = "OXMPI_WIREUP";

/// The job's secret, in hexadecimal.
pub const SECRET_VARIABLE: &str = "OXMPI_WIREUP_SECRET";

/// Which rank this process is to be.
pub const RANK_VARIABLE: &str = "OXMPI_WIREUP_RANK";

/// URI of the server of names that processes of a job ask (`services`); unset or empty: they ask none.
pub const NAME_SERVER_VARIABLE: &str = "OXMPI_NAME_SERVER";

/// Version of the conversation. Both sides name theirs when they differ.
pub const VERSION: u32 = 5;
