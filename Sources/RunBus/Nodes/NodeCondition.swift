import Foundation
package import RunCore

/// How a node stands, for operators. No value contains the position or the speed of a runner.
package struct NodeCondition: Sendable {
  /// The node's device.
  package let device: DeviceID
  /// Whether the node is the hub.
  package let isHub: Bool
  /// The link to the hub; a hub is always in its own reach.
  package let link: Reachability
  /// The devices that the hub knows; a peer does not ask for them.
  package let devices: [PeerReport]
  /// What waits for other nodes.
  package let outbox: [OutboxReport]
  /// Whether the store has refused the last batch, which is written again.
  package let isHeldUp: Bool
  /// The files of the store and their sizes in bytes, by name; empty for a store in memory.
  package let storeFiles: [String: Int]

  /// Why the node does not do what it is there for, in one line; `nil` when it does.
  package var trouble: String? {
    if isHeldUp { return "the store takes nothing now: nothing is lost, it is tried again every second" }
    if let refusal = link.refusal { return "the hub does not let this node in: \(refusal)" }
    return link.isReachable ? nil : "the hub is out of reach: what is pressed here waits for it"
  }
}

extension Node {
  /// How the node stands now.
  ///
  /// - Throws: As ``NodeOutbox/entries()``.
  package func condition() async throws -> NodeCondition {
    let node = internals.node
    let isHub = self is Hub
    let outbox = try await outbox.entries()
    let devices = isHub ? try await peers() : []
    let (store, isHeldUp, link) = await node.standing()
    return NodeCondition(
      device: deviceID, isHub: isHub, link: link, devices: devices, outbox: outbox, isHeldUp: isHeldUp,
      storeFiles: await store.fileSizes())
  }
}

extension DrivenNode {
  /// What only the loop's thread may read.
  fileprivate func standing() -> (store: NodeStore, isHeldUp: Bool, link: Reachability) {
    var link = Reachability()
    for case .link(let known) in knownNews { link = known }
    return (driver.store, driver.isHeldUp, link)
  }
}

extension NodeStore {
  /// The sizes of the store's files in bytes, by name. Read off the loop: a disk can hang.
  @concurrent fileprivate func fileSizes() async -> [String: Int] {
    guard let directory, let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else { return [:] }
    return names.reduce(into: [:]) { sizes, name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: directory + "/" + name)
      if attributes?[.type] as? FileAttributeType == .typeRegular { sizes[name] = attributes?[.size] as? Int }
    }
  }
}
