import Foundation
package import RunCore
import Synchronization
import SystemC

/// The lock that makes a hub the only one of its bus. The hub acquires it before it binds anything, because a second
/// libzmq bind silently takes over a socket's path, and releases it after everything is closed.
package final class HubLock: Sendable {
  private let lock: Mutex<FileLock?>
  private let socketFiles: [String]
  private let identity: FileIdentity?

  /// The holder of a bus, as far as it is known.
  package struct Holder: Hashable, Sendable, CustomStringConvertible {
    /// The process; `nil` in the short time between acquiring the lock and writing the process id.
    package let processID: Int32?
    /// The hub's device.
    package let device: DeviceID?

    /// `process 123 (phone)`.
    package var description: String { FileLock.Holder(processID: processID, name: device?.rawValue).description }
  }

  /// Acquires the lock of a bus and removes the socket files of a dead hub. Makes the runtime directory if necessary.
  ///
  /// A location whose port the system chooses needs no lock, and the returned one does nothing. Acquire another one for
  /// `BusLocation(address:)` with the bound endpoint, so that ``holder(of:)`` finds the hub.
  ///
  /// - Parameters:
  ///   - location: The bus.
  ///   - device: The hub's device, which the lock's file names.
  /// - Throws: ``RunBusError/Code/busHeld``, which names the holder; ``RunBusError/Code/transport`` otherwise.
  package static func acquire(_ location: BusLocation, device: DeviceID) throws(RunBusError) -> HubLock {
    guard let path = location.lockFile else { return HubLock(nil, nil, []) }
    try location.prepareRuntimeDirectory()
    let lock: FileLock
    do {
      lock = try FileLock(path: path, name: device.rawValue)
    } catch {
      switch error {
      case .held(let holder):
        throw RunBusError(
          .busHeld,
          "bus \(location.displayName) is held by \(holder.description): stop that hub or choose another bus")
      case .obstructed: throw RunBusError(.transport, obstruction(path))
      case .system(let code):
        throw RunBusError(.transport, "\(path) cannot be locked: \(systemReason(code))")
      }
    }
    try removeSockets(location.socketFiles)
    let identity = lock.identity
    return HubLock(lock, identity, location.socketFiles)
  }

  /// What prevents every hub from locking a bus: a sentence, or `nil` when nothing does.
  package static func obstacle(at location: BusLocation) -> String? {
    guard let path = location.lockFile, FileLock.isObstructed(path) else { return nil }
    return obstruction(path)
  }

  private static func obstruction(_ path: String) -> String { "\(path) is not a file: move it away" }

  /// Whether the lock's file is still at its path; if not, another hub can lock the bus.
  var isInPlace: Bool { identity?.isInPlace ?? true }
  /// The path of the lock's file; empty when there is none.
  var path: String { identity?.path ?? "" }

  /// The holder of a bus; `nil` when there is none. The kernel answers that, and asking never disturbs a hub.
  package static func holder(of location: BusLocation) -> Holder? {
    guard let path = location.lockFile, location.hasSafeRuntimeDirectory(), let holder = FileLock.holder(path: path)
    else { return nil }
    return Holder(processID: holder.processID, device: holder.name.flatMap { DeviceID($0) })
  }

  /// Releases the bus; idempotent. Close the sockets first.
  package func close() {
    lock.withLock { lock in
      guard lock != nil else { return }
      // The next hub removes what cannot be removed here. If the lock's file was replaced, the sockets may be another
      // hub's.
      if isInPlace { try? Self.removeSockets(socketFiles) }
      lock = nil
    }
  }

  private init(_ lock: consuming FileLock?, _ identity: FileIdentity?, _ socketFiles: [String]) {
    self.lock = Mutex(lock)
    self.identity = identity
    self.socketFiles = socketFiles
  }

  deinit { close() }

  /// Call it only while the lock is held.
  private static func removeSockets(_ paths: [String]) throws(RunBusError) {
    for path in paths {
      if let obstacle = BusLocation.obstacle(toSocketAt: path) { throw obstacle }
      guard unlink(path) == 0 || errno == ENOENT else {
        throw RunBusError(.transport, "\(path) cannot be removed: \(systemReason(errno))")
      }
    }
  }
}
