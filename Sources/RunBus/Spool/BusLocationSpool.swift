import Foundation
import SystemC

extension BusLocation {
  /// The spool of this bus on this machine.
  package var spool: SpoolDirectory { SpoolDirectory(path: spoolDirectory) }

  /// Whether this machine has ever been part of the bus. If so, a command may wait here for its hub; otherwise the
  /// bus's name is more likely a typing error.
  ///
  /// The mark is the spool directory. The first node that joins the bus makes it (``setMet()``), or the first sender
  /// that reaches the hub. It stays when no node runs.
  package var isMet: Bool {
    var info = stat()
    return stat(spoolDirectory, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
  }

  /// Records that this machine is part of the bus. Idempotent.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the directory cannot be made.
  package func setMet() throws(RunBusError) { try spool.make() }
}
