import Foundation
import RunBus

/// The store of a node that does not run, asked as the node itself would answer: its core, without sockets.
struct StoppedStore {
  let device: DeviceID
  let location: BusLocation

  /// Opens the store under its lock, asks, writes what that takes, and closes it.
  ///
  /// Throws ``RunBusError/Code/busHeld`` when somebody holds it, ``RunBusError/Code/store`` when it cannot be used.
  func ask(_ inquiry: Inquiry) async throws -> InquiryAnswer {
    if case .retry = inquiry {
      // A new message begins to wait on the clock of its node's life.
      return .failed("\(device) does not run: start it, then retry")
    }
    let store = try NodeStore(directory: location.stateDirectory(for: device), device: device)
    defer { store.close() }
    let (peer, hub) = (try store.peerHistory(), try store.history())
    for notice in store.notices { Output.complain("busnode: \(device): \(notice)") }
    // A peer knows its hub, a hub the devices that it has met; who has neither owes nobody anything but its own presses.
    return if peer.hub == nil, !hub.devices.isEmpty {
      try await ask(inquiry, of: hub, in: store)
    } else {
      try await ask(inquiry, of: peer, in: store)
    }
  }

  private func ask(_ inquiry: Inquiry, of history: PeerHistory, in store: NodeStore) async throws -> InquiryAnswer {
    let settings = PeerCore.Settings(
      deviceID: device, role: NodeRole(rawValue: device.rawValue), nodeID: store.nodeID, storeID: store.storeID,
      topics: [], isOneShot: false, seed: .random(in: .min ... .max))
    var core = PeerCore(
      settings: settings, history: history, now: Loop.now, wallSeconds: Date().timeIntervalSince1970,
      bootID: MachineBoot.id)
    var actions = core.receive(.inquire(inquiry, 1), at: Loop.now)
    while !actions.isEmpty {
      let action = actions.removeFirst()
      if case .answer(let answer, _) = action { return answer }
      guard case .commit(let id, let operations) = action else { continue }
      try await write(operations, to: store)
      actions += core.receive(.committed(id), at: Loop.now)
    }
    return .failed("\(device) has no answer to that")
  }

  private func ask(_ inquiry: Inquiry, of history: HubHistory, in store: NodeStore) async throws -> InquiryAnswer {
    let (real, wall) = (Loop.now, Date().timeIntervalSince1970)
    let clock = BusClock.continuing(
      history.clock, real: real, wallSeconds: wall, bootID: MachineBoot.id, speed: .realTime)
    let settings = HubCore.Settings(
      deviceID: device, nodeID: store.nodeID, storeID: store.storeID, debounce: .zero, clock: clock,
      seed: .random(in: .min ... .max))
    let now = clock.bus(at: real)
    var core = HubCore(settings: settings, history: history, now: now, wallSeconds: wall, bootID: MachineBoot.id)
    var actions = core.receive(.inquire(inquiry, 1), at: now)
    while !actions.isEmpty {
      let action = actions.removeFirst()
      if case .answer(let answer, _) = action { return answer }
      guard case .commit(let id, let operations) = action else { continue }
      try await write(operations, to: store)
      actions += core.receive(.committed(id), at: now)
    }
    return .failed("\(device) has no answer to that")
  }

  private func write(_ operations: [StoreOperation], to store: NodeStore) async throws {
    guard !operations.isEmpty else { return }
    let result = await withCheckedContinuation { continuation in
      store.commit(operations) { continuation.resume(returning: $0) }
    }
    if case .failure(let fault) = result {
      throw RunBusError(.store, "the store of \(device) takes nothing: \(fault)", cause: fault)
    }
  }
}
