//! The only peer there is.

/// Endpoint of the process itself. Its existence is all it says.
pub struct SelfEndpoint;
