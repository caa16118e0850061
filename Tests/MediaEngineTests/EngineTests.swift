import Testing

/// The engine's tests run one after the other: each may use every core, and some are about real time.
@Suite(.serialized) enum EngineTests {}
