import Foundation
package import RunCore

/// The node of a device that does not run: its core over its store, without sockets. It answers like the running node.
///
/// It holds the store's lock until it is closed. Used by one task at a time.
package final class StoppedNode: Answerer {
  private enum Core {
    case peer(PeerCore)
    case hub(HubCore)
  }
  private let device: DeviceID
  private let store: NodeStore
  private let now: BusTime
  private var core: Core
  private var hasMadeDueRecords = false

  /// Sentences about what opening the store found, such as damage that was set aside.
  package var notices: [String] { store.notices }

  /// Opens the store of a device on a bus of this machine.
  ///
  /// - Throws: ``RunBusError/Code/storeHeld`` when another process holds it, ``RunBusError/Code/storeMismatch`` when it is
  ///   of another version, ``RunBusError/Code/store`` when it cannot be used.
  package convenience init(of device: DeviceID, on location: BusLocation) throws(RunBusError) {
    let store = try NodeStore(directory: location.stateDirectory(for: device), device: device)
    do {
      switch store.role {
      case .hub: self.init(device: device, store: store, hub: try store.history())
      // A store that no node has used holds nothing.
      case .peer, nil: self.init(device: device, store: store, peer: try store.peerHistory())
      }
    } catch {
      store.close()
      throw error
    }
  }

  private init(device: DeviceID, store: NodeStore, peer: PeerHistory) {
    (self.device, self.store, now) = (device, store, Loop.now)
    let settings = PeerCore.Settings(
      deviceID: device, role: NodeRole(rawValue: device.rawValue), nodeID: store.nodeID, storeID: store.storeID,
      topics: [], seed: .random(in: .min ... .max))
    core = .peer(
      PeerCore(
        settings: settings, history: peer, now: now, wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id))
  }

  private init(device: DeviceID, store: NodeStore, hub: HubHistory) {
    (self.device, self.store) = (device, store)
    let (real, wall) = (Loop.now, Date().timeIntervalSince1970)
    let clock = BusClock.continuing(
      hub.clock, lastSign: hub.lastSign, real: real, wallSeconds: wall, bootID: MachineBoot.id, speed: .realTime)
    now = clock.bus(at: real)
    var settings = HubCore.Settings(
      deviceID: device, nodeID: store.nodeID, storeID: store.storeID, debounce: .milliseconds(500), clock: clock,
      appVersion: runBusVersion, seed: .random(in: .min ... .max))
    settings.utcOffset = HubCore.Settings.localOffset
    core = .hub(HubCore(settings: settings, history: hub, now: now, wallSeconds: wall, bootID: MachineBoot.id))
  }

  /// Closes the store and releases its lock.
  package func close() { store.close() }

  /// Answers a question and commits what the answer promises.
  ///
  /// - Throws: ``RunBusError/Code/store`` when the store cannot be read or written, and the error that a refusal stands
  ///   for.
  package func ask<Answer>(_ question: Question<Answer>) async throws(RunBusError) -> Answer {
    let answer = try await answer(to: question.inquiry)
    do throws(InquiryFailure) { return try question.content(of: answer) } catch { throw RunBusError(error) }
  }

  private func answer(to inquiry: Inquiry) async throws(RunBusError) -> InquiryAnswer {
    // A new or retried message gets its time from the clock of its running node.
    let runningOnly: String? =
      switch inquiry {
      case .retry: "start it, then retry"
      case .post: "start it, then post"
      case .messages(.send): "start it, then post"
      case .messages(.ask), .messages(.take), .messages(.leave): "start it first"
      case .pairing, .rotateKey: "start it with --listen first"
      default: nil
      }
    if let runningOnly { return .failed(InquiryFailure(.notHere, "\(device) does not run: \(runningOnly)")) }
    if inquiry == .unknown { return .failed(.unknown) }
    if case .backUp(let path) = inquiry { return await store.backUp(to: path) }
    let answer: InquiryAnswer?
    switch core {
    case .peer(var peer):
      answer = try await carryOut(peer.receive(.inquire(inquiry, 1), at: now), &peer)
      core = .peer(peer)
    case .hub(var hub):
      // A hub that ended or died may have left its last run without a record: make it before records are listed.
      if inquiry.isOfRecords, !hasMadeDueRecords {
        _ = try await carryOut(hub.receive(.makeDueRecords, at: now), &hub)
        hasMadeDueRecords = true
      }
      answer = try await carryOut(hub.receive(.inquire(inquiry, 1), at: now), &hub)
      core = .hub(hub)
    }
    return answer ?? .failed(InquiryFailure(.notHere, "\(device) has no answer to that"))
  }

  private func carryOut(
    _ first: [PeerCore.Action], _ core: inout PeerCore
  ) async throws(RunBusError) -> InquiryAnswer? {
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

  private func carryOut(
    _ first: [HubCore.Action], _ core: inout HubCore
  ) async throws(RunBusError) -> InquiryAnswer? {
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
        actions += core.receive(.journal(run, try await readJournal(of: run)), at: now)
      case .open, .send, .forward, .publish, .receipt, .messageReceipt, .refusePost, .hand, .keep,
        .spooledCommandJudged,
        .recovered, .show, .showLive, .record, .admit, .cutConnections, .useNextKey, .listenForPairing, .forbade, .note,
        .room, .ended:
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

  private func readJournal(of run: RunID) async throws(RunBusError) -> [LedgerEntry] {
    let result = await withCheckedContinuation { continuation in
      store.readJournal(of: run) { continuation.resume(returning: $0) }
    }
    switch result {
    case .success(let entries): return entries
    case .failure(let fault):
      throw RunBusError(.store, "the store of \(device) cannot be read: \(fault)", cause: fault)
    }
  }

  private func write(_ operations: [StoreOperation]) async throws(RunBusError) {
    guard !operations.isEmpty else { return }
    let result = await withCheckedContinuation { continuation in
      store.commit(operations) { continuation.resume(returning: $0) }
    }
    if case .failure(let fault) = result {
      throw RunBusError(.store, "the store of \(device) cannot be written: \(fault)", cause: fault)
    }
  }
}

extension Inquiry {
  /// Whether the inquiry is about records.
  fileprivate var isOfRecords: Bool {
    switch self {
    case .records, .record, .editRecord, .removeRecord, .putRecord: true
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .series, .recover, .post, .devices,
      .orderDevice, .confirmDevices, .pairing, .rotateKey, .backUp, .room, .messages, .unknown:
      false
    }
  }
}
