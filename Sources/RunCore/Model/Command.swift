/// What a person can ask of a run.
public enum CommandKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// Begins a run.
  case start
  /// Stops its clock for a while.
  case pause
  /// Lets its clock go on.
  case resume
  /// Ends it.
  case stop
  /// Marks a moment in it; no phase.
  case lap

  /// The phase that this command makes; `nil` for a lap, which is a mark.
  public var targetPhase: RunPhase? {
    switch self {
    case .start, .resume: .running
    case .pause: .paused
    case .stop: .completed
    case .lap: nil
    }
  }
}

/// Where a run stands.
public enum RunPhase: String, Hashable, Sendable, Codable, CaseIterable {
  /// No run yet.
  case idle
  /// The clock runs.
  case running
  /// The clock is stopped, the run is on.
  case paused
  /// The run is over.
  case completed

  /// A run is on: running or paused.
  public var isOn: Bool { self == .running || self == .paused }
}

/// Who gave a command. Open on the wire: a source that this version does not know survives a round trip.
public struct ControlSource: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The source as it stands on the wire: 1 to 64 bytes without control characters.
  public let rawValue: String

  /// A source by its wire name. Control characters are left out, more than 64 bytes are cut, and an empty name becomes
  /// `unknown`: a hub refuses a command whose source is not a name, however often it is sent.
  public init(rawValue: String) {
    let name = rawValue.carried(bytesMax: 64)
    self.rawValue = name.isEmpty ? "unknown" : name
  }

  /// The phone's screen.
  public static let phone = ControlSource(rawValue: "phone")
  /// The watch.
  public static let watch = ControlSource(rawValue: "watch")
  /// The live activity on the lock screen.
  public static let liveActivity = ControlSource(rawValue: "liveActivity")
  /// A shell or a script.
  public static let shell = ControlSource(rawValue: "shell")

  /// The wire name.
  public var description: String { rawValue }
}

/// What a sender saw when the person pressed.
public struct ObservedRevision: Hashable, Sendable, Codable {
  /// The revision seen.
  public let revision: UInt64
  /// The command that made that revision; `nil` when nobody had made any (revision 0).
  public let commandID: CommandID?

  /// A base from what was seen.
  public init(revision: UInt64, commandID: CommandID?) {
    self.revision = revision
    self.commandID = commandID
  }
}

/// One press of a button.
public struct Command: Hashable, Sendable, Codable {
  /// Identifies the press, however often it is sent.
  public let id: CommandID
  /// What is asked.
  public let kind: CommandKind
  /// Who asks. It labels, it never decides.
  public let source: ControlSource
  /// The run that is meant. A start mints it. Without one, the run that is on is meant.
  public var runID: RunID?
  /// What the sender saw when the person pressed.
  public var base: ObservedRevision?
  /// A recorded press: when it was pressed, on the run's own time line. `nil` for a live one.
  public var runOffset: BusDuration?

  /// A command; `base` and `runID` are filled in by the node that sends it when it knows them.
  public init(
    id: CommandID, kind: CommandKind, source: ControlSource, runID: RunID? = nil, base: ObservedRevision? = nil,
    runOffset: BusDuration? = nil
  ) {
    self.id = id
    self.kind = kind
    self.source = source
    self.runID = runID
    self.base = base
    self.runOffset = runOffset
  }
}
