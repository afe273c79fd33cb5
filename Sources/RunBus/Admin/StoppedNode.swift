import Foundation
package import RunCore

/// The node of a device that does not run: its core over its store, without sockets. It answers as the running node
/// would.
///
/// It holds the store's lock until it is closed. Used by one task at a time.
package final class StoppedNode {
  private enum Core {
    case peer(PeerCore)
    case hub(HubCore)
  }
  private let device: DeviceID
  private let store: NodeStore
  private let now: BusTime
  private var core: Core
  private var hasMadeDueRecords = false

  /// What opening the store found out, one sentence each: damage that was set aside, for example.
  package var notices: [String] { store.notices }

  /// Opens the store of a device on a bus of this machine.
  ///
  /// Throws ``RunBusError/Code/busHeld`` when somebody holds it, ``RunBusError/Code/store`` when it cannot be used.
  package convenience init(of device: DeviceID, on location: BusLocation) throws(RunBusError) {
    let store = try NodeStore(directory: location.stateDirectory(for: device), device: device)
    do {
      self.init(device: device, store: store, peer: try store.peerHistory(), hub: try store.history())
    } catch {
      store.close()
      throw error
    }
  }

  private init(device: DeviceID, store: NodeStore, peer: PeerHistory, hub: HubHistory) {
    self.device = device
    self.store = store
    let (real, wall) = (Loop.now, Date().timeIntervalSince1970)
    // A peer knows its hub; a hub has lived, or has met devices. Who has neither owes nobody anything but its own presses.
    guard peer.hub == nil, hub.term > 0 || !hub.devices.isEmpty else {
      now = real
      let settings = PeerCore.Settings(
        deviceID: device, role: NodeRole(rawValue: device.rawValue), nodeID: store.nodeID, storeID: store.storeID,
        topics: [], isOneShot: false, seed: .random(in: .min ... .max))
      core = .peer(PeerCore(settings: settings, history: peer, now: real, wallSeconds: wall, bootID: MachineBoot.id))
      return
    }
    let clock = BusClock.continuing(
      hub.clock, lastSign: hub.lastSign, real: real, wallSeconds: wall, bootID: MachineBoot.id, speed: .realTime)
    now = clock.bus(at: real)
    let settings = HubCore.Settings(
      deviceID: device, nodeID: store.nodeID, storeID: store.storeID, debounce: .milliseconds(500), clock: clock,
      appVersion: runBusVersion, seed: .random(in: .min ... .max))
    core = .hub(HubCore(settings: settings, history: hub, now: now, wallSeconds: wall, bootID: MachineBoot.id))
  }

  /// Lets go of the store.
  package func close() { store.close() }

  /// Answers a question, and commits what the answer promises.
  ///
  /// Throws ``RunBusError/Code/store`` when the store takes nothing.
  package func ask(_ inquiry: Inquiry) async throws -> InquiryAnswer {
    // A new message begins to wait on the clock of its node's life.
    switch inquiry {
    case .retry: return .failed("\(device) does not run: start it, then retry")
    case .post: return .failed("\(device) does not run: start it, then post")
    default: break
    }
    let answer: InquiryAnswer?
    switch core {
    case .peer(var peer):
      answer = try await carryOut(peer.receive(.inquire(inquiry, 1), at: now), &peer)
      core = .peer(peer)
    case .hub(var hub):
      // What the hub had left to do when it ended, or died, is done first: its last run is a record, too.
      if inquiry.isOfRecords, !hasMadeDueRecords {
        _ = try await carryOut(hub.receive(.makeDueRecords, at: now), &hub)
        hasMadeDueRecords = true
      }
      answer = try await carryOut(hub.receive(.inquire(inquiry, 1), at: now), &hub)
      core = .hub(hub)
    }
    return answer ?? .failed("\(device) has no answer to that")
  }

  private func carryOut(_ first: [PeerCore.Action], _ core: inout PeerCore) async throws -> InquiryAnswer? {
    var actions = first
    while !actions.isEmpty {
      let action = actions.removeFirst()
      if case .answer(let answer, _) = action { return answer }
      if case .readRecord(let run, let from, let asker) = action {
        actions += core.receive(.recordRead(await read(run, from: from), for: asker), at: now)
      }
      guard case .commit(let id, let operations) = action else { continue }
      try await write(operations)
      actions += core.receive(.committed(id), at: now)
    }
    return nil
  }

  private func carryOut(_ first: [HubCore.Action], _ core: inout HubCore) async throws -> InquiryAnswer? {
    var actions = first
    while !actions.isEmpty {
      switch actions.removeFirst() {
      case .answer(let answer, _): return answer
      case .readRecord(let run, let from, let asker):
        actions += core.receive(.recordRead(await read(run, from: from), for: asker), at: now)
      case .commit(let id, let operations):
        try await write(operations)
        actions += core.receive(.committed(id), at: now)
      case .readJournal(let run):
        let entries = await withCheckedContinuation { continuation in
          store.readJournal(of: run) { continuation.resume(returning: $0) }
        }
        actions += core.receive(.journal(run, try entries.get()), at: now)
      case .open, .send, .forward, .publish, .receipt, .messageReceipt, .refusePost, .hand, .keep,
        .spooledCommandJudged,
        .recovered, .show, .record, .note, .ended:
        break
      }
    }
    return nil
  }

  private func read(_ run: RunID, from: Int) async -> RecordReading {
    await withCheckedContinuation { continuation in
      store.readRecord(of: run, from: from) { continuation.resume(returning: $0) }
    }
  }

  private func write(_ operations: [StoreOperation]) async throws {
    guard !operations.isEmpty else { return }
    let result = await withCheckedContinuation { continuation in
      store.commit(operations) { continuation.resume(returning: $0) }
    }
    if case .failure(let fault) = result {
      throw RunBusError(.store, "the store of \(device) takes nothing: \(fault)", cause: fault)
    }
  }
}

extension Inquiry {
  /// It is about runs that are over.
  fileprivate var isOfRecords: Bool {
    switch self {
    case .records, .record, .editRecord, .removeRecord, .putRecord: true
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .recover, .post: false
    }
  }
}
