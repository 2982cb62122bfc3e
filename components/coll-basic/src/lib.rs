//! Collectives by trees and recursive doubling over point-to-point.
