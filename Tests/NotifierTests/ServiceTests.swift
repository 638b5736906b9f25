import Testing

/// Tests with threads, a log and a database: one after the other, so that they do not wait for each other's work.
@Suite(.serialized) enum ServiceTests {}
