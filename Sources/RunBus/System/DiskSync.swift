import SystemC

/// Waits until what was written to an open file, or changed in an open directory, survives a power cut.
///
/// - Returns: 0, or -1 with the reason in `errno`.
package func syncToDisk(_ descriptor: CInt) -> CInt {
  #if canImport(Darwin)
    // There fsync leaves the bytes in the drive's own memory.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
    // A file system that lacks this call is asked for the most that it has. After an error of the disk fsync could
    // succeed with the bytes lost.
    if errno == EIO || errno == EINTR { return -1 }
  #endif
  return fsync(descriptor)
}

/// The same for the bytes of a file whose size and blocks stay as they are.
func syncBytesToDisk(_ descriptor: CInt) -> CInt {
  #if canImport(Darwin)
    syncToDisk(descriptor)
  #else
    fdatasync(descriptor)
  #endif
}
