import Foundation

extension BusLocation {
  /// The spool of this machine's one-shot senders on the bus.
  public var spool: SpoolDirectory { SpoolDirectory(path: spoolDirectory) }

  /// Whether this machine has ever been part of the bus: then a command may wait here for its hub, and otherwise a bus
  /// of that name is more likely a slip of the pen.
  ///
  /// The spool directory is the mark. The first node that became part of the bus makes it (``setMet()``), or the first
  /// one-shot sender that reached the hub. It stays when the bus is at rest.
  public var isMet: Bool {
    var info = stat()
    return stat(spoolDirectory, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// Notes that this machine is part of the bus. Idempotent.
  ///
  /// Throws ``RunBusError/Code/store`` when the directory cannot be made.
  public func setMet() throws(RunBusError) { try spool.make() }
}
