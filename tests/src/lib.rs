//! Whole-job tests, one binary per room.
