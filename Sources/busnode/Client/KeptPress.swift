import Foundation
import RunBus

/// A press that stays in a file of the spool from before it is sent until its verdict is known.
struct KeptPress {
  private let spool: SpoolDirectory
  private let press: SpooledCommand

  /// Returns `nil` for a bus that this machine has never joined: the press could wait there for ever.
  init?(_ command: Command, on device: DeviceID, at location: BusLocation) {
    // If something else has the path of the spool directory, `keep` fails and reports it.
    guard !location.hasOpenPort, location.isMet || location.hasSpoolInTheWay else { return nil }
    spool = location.spool
    press = .now(command, on: device)
  }

  /// The press as it is sent.
  var forwarded: ForwardedCommand { press.forwarded() }

  /// Writes the press to the spool durably.
  ///
  /// - Parameter tries: How often the press may have been sent. A press with 0 tries can be cancelled.
  /// - Throws: ``Failure`` with 74 when the disk cannot store the press, and with 75 when the spool is full. Nothing is
  ///   kept then.
  func keep(tries: UInt32) throws(Failure) {
    var press = press
    press.tries = tries
    do {
      try spool.write(press)
    } catch {
      let status = error.code == .full ? ExitStatus.busHeld : ExitStatus.diskError
      throw Failure(
        code: error.code.description, message: Tongue.say(.nothingSent, ["reason": error.message]), exitStatus: status)
    }
  }

  /// Marks the press as never sent, because the hub was never in reach. It can then be cancelled.
  func noteUnsent() {
    // Another node may have delivered the press and removed the file: do not write it again.
    guard spool.exists(press.command.id) else { return }
    // If this write fails, the file still says that the press may have been sent, which only prevents cancelling it.
    try? keep(tries: 0)
  }

  /// Removes the file, because the verdict is known or the hub cannot read the press.
  func letGo() {
    do { try spool.remove(press.command.id) } catch { Output.complain("busnode: \(error)") }
  }
}

extension BusLocation {
  /// Whether something other than a directory has the path of the spool.
  fileprivate var hasSpoolInTheWay: Bool { !isMet && FileManager.default.fileExists(atPath: spoolDirectory) }

  /// Marks the bus as one that this machine has joined, so that later presses are kept. A failure is only reported.
  func noteMet() {
    guard !hasOpenPort, !isMet else { return }
    do { try setMet() } catch { Output.complain("busnode: \(error)") }
  }
}
