import Foundation
import RunBus
import SystemC

/// The devices of a bus on this machine. A running node answers at its admin socket; the store of a stopped node is
/// opened, asked and closed.
struct LocalDevices: Sendable {
  /// How long to wait for a running node, which usually answers within milliseconds.
  static let patience = BusDuration.seconds(5)
  /// How long a copy of a store may take.
  private static let copyPatience = BusDuration.seconds(86_400)
  /// How often to try a store that another process holds. Another shell needs it for milliseconds, and several
  /// of them may take turns; 60 attempts are six seconds.
  private static let turnsMax = 60

  let location: BusLocation

  /// The devices that have a store on this machine, in the natural order of their names.
  ///
  /// - Throws: ``Failure`` with 74 when their directory cannot be read.
  func all() throws -> [DeviceID] {
    let directory = (location.spoolDirectory as NSString).deletingLastPathComponent
    // Foundation does not give the reason when it cannot list a directory; `opendir` does.
    guard let stream = opendir(directory) else {
      let code = errno
      if code == ENOENT { return [] }
      throw Failure(
        code: "store", message: Tongue.say(.storesUnread, ["directory": directory, "reason": Output.reason(code)]),
        exitStatus: ExitStatus.diskError)
    }
    closedir(stream)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    return names.compactMap { DeviceID($0) }.filter { hasStore($0) }.sorted { NaturalName($0) < NaturalName($1) }
  }

  /// Whether a device has a store here. A directory that cannot be entered counts, so that opening the store fails with
  /// the reason.
  private func hasStore(_ device: DeviceID) -> Bool {
    let directory = location.stateDirectory(for: device)
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue else {
      return false
    }
    return FileManager.default.fileExists(atPath: directory + "/node.sqlite")
      || !FileManager.default.isExecutableFile(atPath: directory)
  }

  /// Asks a device, whether its node runs or not.
  ///
  /// - Throws: ``Failure`` with 75 when its store is held by a process that does not answer.
  func ask<Answer>(_ question: Question<Answer>, of device: DeviceID) async throws -> Answer {
    var turns = 0
    while true {
      let begin = ContinuousClock.now
      if let answer = try await askRunning(question, of: device) { return answer }
      // The node does not run or does not answer. The lock of its store tells which of them.
      turns += 1
      let isLast = turns == Self.turnsMax || ContinuousClock.now - begin > .seconds(1)
      if let answer = try await askStopped(question, of: device, isLast: isLast) { return answer }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Has a device copy its store, whether its node runs or not. A running node takes as long as the disks need. It is
  /// asked now and then meanwhile whether it lives.
  ///
  /// - Throws: ``Failure`` with 75 when the node stops to answer.
  func backUp(to path: String, of device: DeviceID) async throws {
    guard try await askRunning(.outbox, of: device) != nil else {
      return try await ask(.backUp(to: path), of: device)
    }
    let silent = Failure(
      code: "unreachable", message: Tongue.say(.noCopyMade, ["device": device]),
      exitStatus: ExitStatus.busHeld)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        guard try await askRunning(.backUp(to: path), of: device, within: Self.copyPatience) != nil else {
          throw silent
        }
      }
      group.addTask {
        while true {
          try await Task.sleep(for: Duration(Self.patience))
          guard try await askRunning(.outbox, of: device) != nil else { throw silent }
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Asks a device several queries in a row, whether its node runs or not. A stopped node's store is opened once for
  /// all of them.
  ///
  /// - Throws: ``Failure`` with 75 when its store is held by a process that does not answer.
  func converse<Value>(
    with device: DeviceID, _ body: (any Answerer) async throws -> Value
  ) async throws -> Value {
    var turns = 0
    while true {
      let begin = ContinuousClock.now
      if try await askRunning(.outbox, of: device) != nil {
        return try await body(LocalDevice(device: device, devices: self))
      }
      turns += 1
      let isLast = turns == Self.turnsMax || ContinuousClock.now - begin > .seconds(1)
      if let node = try openStopped(device, isLast: isLast) {
        defer { node.close() }
        return try await body(node)
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Asks a device if its node runs; `nil` when it does not run or does not answer.
  func askRunning<Answer>(
    _ question: Question<Answer>, of device: DeviceID, within span: BusDuration = LocalDevices.patience
  ) async throws -> Answer? {
    do {
      return try await AdminClient.ask(question, of: device, on: location, within: span)
    } catch {
      // A node that answers may itself not reach another one.
      guard error.code == .unreachable, error.failure == nil else { throw error }
      return nil
    }
  }

  /// Asks the store of a device; `nil` when another process holds it and this is not the last attempt.
  private func askStopped<Answer>(
    _ question: Question<Answer>, of device: DeviceID, isLast: Bool
  ) async throws -> Answer? {
    guard let node = try openStopped(device, isLast: isLast) else { return nil }
    defer { node.close() }
    return try await node.ask(question)
  }

  /// Opens the store of a device; `nil` when another process holds it and this is not the last attempt.
  private func openStopped(_ device: DeviceID, isLast: Bool) throws -> StoppedNode? {
    do {
      let node = try StoppedNode(of: device, on: location)
      for notice in node.notices { Output.complain("busnode: \(device): \(notice)") }
      return node
    } catch {
      guard error.code == .storeHeld else { throw error }
      guard isLast else { return nil }
      throw Failure(
        code: error.code.description, message: Tongue.say(.doesNotAnswer, ["what": error.message]),
        exitStatus: ExitStatus.busHeld)
    }
  }

  /// Asks every device, or `wanted` only, and passes each answer to `take`. A device that fails is reported on standard
  /// error.
  ///
  /// - Returns: 0 when every device answered, 65 when the store of one is of another version, 75 otherwise.
  func askAll<Answer>(
    _ question: Question<Answer>, only wanted: DeviceID? = nil, _ take: (DeviceID, Answer) throws -> Void
  ) async throws -> Int32 {
    var exitStatus = ExitStatus.success
    for device in try all() where wanted == nil || wanted == device {
      do {
        try take(device, try await ask(question, of: device))
      } catch {
        guard let failure = error as? Failure ?? (error as? RunBusError).map({ Failure($0) }) else { throw error }
        let status = failure.exitStatus == ExitStatus.badInput ? failure.exitStatus : ExitStatus.busHeld
        Output.complain(Failure(code: failure.code, message: "\(device): \(failure.message)", exitStatus: status))
        // A later attempt does not help with 65.
        if exitStatus != ExitStatus.badInput { exitStatus = status }
      }
    }
    return exitStatus
  }
}

/// One of the devices whose node runs.
private struct LocalDevice: Answerer {
  let device: DeviceID
  let devices: LocalDevices

  func ask<Answer>(_ question: Question<Answer>) async throws -> Answer { try await devices.ask(question, of: device) }
}

/// What a node answers; `nil` when it refuses.
///
/// - Throws: What `body` throws beside refusals.
func unlessRefused<Answer>(_ body: () async throws -> Answer) async throws -> Answer? {
  do {
    return try await body()
  } catch let error as RunBusError where error.failure != nil {
    return nil
  }
}

/// Turns a refusal into a failure of the command.
///
/// - Parameters:
///   - code: The failure's code.
///   - exitStatus: The status with which the command ends.
/// - Throws: What `body` throws beside refusals.
func refusing<Answer>(
  code: String, _ exitStatus: Int32 = ExitStatus.failure, _ body: () async throws -> Answer
) async throws -> Answer {
  do {
    return try await body()
  } catch let error as RunBusError where error.failure != nil {
    throw Failure(code: code, message: error.message, exitStatus: exitStatus)
  }
}
