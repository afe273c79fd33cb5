import Foundation
import RunBus

/// A press that is kept as a file of the spool from before it is sent until its verdict is known.
struct KeptPress {
  private let spool: SpoolDirectory
  private let press: SpooledCommand

  /// A press to be kept; `nil` at a bus that this machine has never met, where it could wait for ever.
  init?(_ command: Command, on device: DeviceID, at location: BusLocation) {
    // What is in the directory's place is for `keep` to complain about.
    guard !location.hasOpenPort, location.isMet || location.hasSpoolInTheWay else { return nil }
    spool = location.spool
    press = .now(command, on: device)
  }

  /// Makes it durable, with how often it may have been sent by then.
  ///
  /// Throws ``Failure`` with 74 when the disk does not take it, and with 75 when too many wait: nothing is kept then.
  func keep(tries: UInt32) throws(Failure) {
    var press = press
    press.tries = tries
    do {
      try spool.write(press)
    } catch {
      let status = error.code == .full ? ExitStatus.busHeld : ExitStatus.diskError
      throw Failure(
        code: error.code.description, message: "\(error.message); nothing was sent", exitStatus: status)
    }
  }

  /// The hub was never in reach, so it was not sent from here and can still be cancelled.
  func noteUnsent() {
    // Another node may have delivered it meanwhile: it is not to come back.
    guard spool.exists(press.command.id) else { return }
    // What stays says that it may have been sent, which does no harm.
    try? keep(tries: 0)
  }

  /// Its verdict is known, or it is for nobody.
  func letGo() {
    do { try spool.remove(press.command.id) } catch { Output.complain("busnode: \(error)") }
  }
}

extension BusLocation {
  /// Something stands where the spool should be.
  fileprivate var hasSpoolInTheWay: Bool { !isMet && FileManager.default.fileExists(atPath: spoolDirectory) }

  /// Notes that this machine is part of the bus, for presses to come; without a disk for that, none are kept.
  func noteMet() {
    guard !hasOpenPort, !isMet else { return }
    do { try setMet() } catch { Output.complain("busnode: \(error)") }
  }
}
