@_exported public import RunCore

/// The version of this package.
public let runBusVersion = "0.1.0"
