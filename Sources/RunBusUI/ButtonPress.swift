public import Foundation
public import RunBus

/// One press of a button of a ``RunModel``, and what has become of it.
public struct ButtonPress: Identifiable, Sendable {
  /// How far a press has come.
  public enum Stage: Hashable, Sendable {
    /// Pressed; the node has not stored it yet.
    case pressed
    /// Durable on this device. It is delivered even if the app or the device is restarted.
    case queued
    /// Durable at the hub, which has not judged it yet.
    case pending
    /// Judged by the hub; the last stage.
    case judged(Outcome)
    /// The node refused it, for example because it has ended; the last stage.
    case failed
  }

  /// The command of the press.
  public let command: Command
  /// When the person pressed.
  public let date: Date
  /// How far it has come.
  public internal(set) var stage: Stage
  /// What has become of the press, in one sentence; `nil` while that is not known.
  public internal(set) var message: String?

  /// The id of the command.
  public var id: CommandID { command.id }
  /// What the person asked for.
  public var kind: CommandKind { command.kind }

  /// Whether the press waits for its verdict.
  public var isPending: Bool {
    switch stage {
    case .pressed, .queued, .pending: true
    case .judged, .failed: false
    }
  }

  /// Whether the hub has rejected the press, or the node has refused it.
  public var isRefused: Bool {
    switch stage {
    case .judged(.rejected), .failed: true
    case .judged, .pressed, .queued, .pending: false
    }
  }
}
