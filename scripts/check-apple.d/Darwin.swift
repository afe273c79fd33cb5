@_exported import Darwin

public var CLOCK_MONOTONIC: clockid_t { shim_clock_monotonic }
public var CLOCK_MONOTONIC_RAW: clockid_t { shim_clock_monotonic_raw }
