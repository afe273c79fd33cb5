public import RunCore

/// What waits in a node for other nodes; see ``Node/outbox``.
///
/// ```swift
/// for entry in try await watch.outbox.entries() { print(entry.what, "waits for", entry.receiver ?? "a hub") }
/// try await watch.outbox.cancel(command.id)
/// ```
///
/// Its methods wait until the node has begun. They throw `CancellationError` when the task is cancelled meanwhile, and
/// ``RunBusError/Code/closed``, or the error that ended the node, when it has ended.
public struct NodeOutbox: Sendable {
  let node: any DrivenNode

  /// What waits, oldest first; the readings for one receiver are one entry.
  public func entries() async throws -> [OutboxReport] { try await node.ask(.outbox) }

  /// Cancels a command of this node that was never sent. Its verdict is then `rejected(cancelled)`.
  ///
  /// - Throws: ``RunBusError/Code/tooLate`` when it may have been sent, ``RunBusError/Code/notFound`` when no such
  ///   command waits here.
  public func cancel(_ command: CommandID) async throws {
    try await node.ask(.cancel(MessageID(high: command.high, low: command.low)))
  }

  /// Cancels a queued message of this node that was never sent.
  ///
  /// - Throws: As ``cancel(_:)-(CommandID)``.
  public func cancel(_ message: MessageID) async throws { try await node.ask(.cancel(message)) }

  /// The messages in quarantine, oldest first: each was refused five times by its receiver's handler.
  public func quarantine() async throws -> [QuarantineReport] { try await node.ask(.quarantine) }

  /// Sends a message in quarantine again, under a new id.
  ///
  /// - Returns: The new id.
  /// - Throws: ``RunBusError/Code/notFound`` when it is not in quarantine or its receiver is unknown,
  ///   ``RunBusError/Code/full`` when the outbox is full.
  @discardableResult
  public func retry(_ message: MessageID) async throws -> MessageID { try await node.ask(.retry(message)) }

  /// Deletes a message in quarantine.
  ///
  /// - Throws: ``RunBusError/Code/notFound`` when it is not in quarantine.
  public func discard(_ message: MessageID) async throws { try await node.ask(.discard(message)) }
}

extension Node {
  /// What waits in this node for other nodes.
  public nonisolated var outbox: NodeOutbox { NodeOutbox(node: internals.node) }
}
