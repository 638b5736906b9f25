import Testing

/// The executables as they are shipped, run by `compose/`.
///
/// One after the other: what is measured here is time and memory of a whole system, and several at once would measure each
/// other.
@Suite(.serialized) enum SystemTests {}
