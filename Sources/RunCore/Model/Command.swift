/// What a person can ask of a run.
public enum CommandKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// Begins a run.
  case start
  /// Stops the run's clock for a while.
  case pause
  /// Continues the run's clock.
  case resume
  /// Ends the run.
  case stop
  /// Marks a lap; the phase stays the same.
  case lap

  /// The phase after this command; `nil` for a lap, which does not change the phase.
  public var targetPhase: RunPhase? {
    switch self {
    case .start, .resume: .running
    case .pause: .paused
    case .stop: .completed
    case .lap: nil
    }
  }
}

/// The phase of a run.
public enum RunPhase: String, Hashable, Sendable, Codable, CaseIterable {
  /// No run yet.
  case idle
  /// The clock runs.
  case running
  /// The clock is stopped; the run is on.
  case paused
  /// The run is over.
  case completed
  /// A phase of a later version, which this version does not know. A hub is never in it; a peer can see it.
  case unknown

  /// Whether a run is on: running or paused. An unknown phase counts as on, because a peer then checks its hub more
  /// often.
  public var isOn: Bool {
    switch self {
    case .running, .paused, .unknown: true
    case .idle, .completed: false
    }
  }
}

/// Who gave a command. An app can define its own sources; a node passes on sources that it does not know.
public struct ControlSource: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The source's name on the wire: 1 to 64 bytes without control characters.
  public let rawValue: String

  /// A source by its wire name.
  ///
  /// Control characters are removed, more than 64 bytes are cut, and an empty name becomes `unknown`, because a hub
  /// refuses a command whose source is not valid.
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
  /// A room: the start and the stop that its members agreed on.
  public static let room = ControlSource(rawValue: "room")
  /// A shell or a script.
  public static let shell = ControlSource(rawValue: "shell")

  /// The wire name.
  public var description: String { rawValue }
}

/// What a sender saw when the person pressed.
public struct ObservedRevision: Hashable, Sendable, Codable {
  /// The revision that the sender saw.
  public let revision: UInt64
  /// The command that made that revision; `nil` for revision 0.
  public let commandID: CommandID?

  /// An observed revision from its parts.
  public init(revision: UInt64, commandID: CommandID?) {
    self.revision = revision
    self.commandID = commandID
  }
}

/// One press of a button.
///
/// RunBus adds an initializer that creates the id:
///
/// ```swift
/// let start = Command(.start, source: .watch)
/// ```
public struct Command: Hashable, Sendable, Codable {
  /// Identifies the press; it stays the same when the command is sent again.
  public let id: CommandID
  // It stands before the kind, where it takes no room: commands are copied a lot.
  /// The goal of the run that a start begins; `nil` for a run without one. No other kind of command has a goal; see
  /// ``start(id:goal:source:runID:)``.
  public private(set) var goal: RunGoal?
  /// What the person asks for.
  public let kind: CommandKind
  /// Who gave the command; a label that does not affect the verdict.
  public let source: ControlSource
  /// The run that the command is for; `nil` means the run that is on. In a start, the id of the new run.
  public var runID: RunID?
  /// What the sender saw when the person pressed.
  public var base: ObservedRevision?
  /// Run time of the press in a replayed recording; `nil` for a live press.
  public var runOffset: BusDuration?
  /// The revision at which the run has to be for the command to count; `nil` for any. The hub judges it against the
  /// revision before the command's window, and otherwise rejects the command (``RejectionReason/revisionChanged(_:)``).
  package var ifRevision: UInt64?
  /// Fields of a later version, as its bytes on the wire. This version passes them on with the value.
  package var unknown: [UInt8] = []

  private enum CodingKeys: String, CodingKey {
    case id, kind, source, runID, base, runOffset, goal, ifRevision
  }

  /// A command from its parts. The sending node fills in `base` and `runID` when it knows them.
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

extension Command {
  /// A start of a run with a goal.
  ///
  /// - Parameters:
  ///   - id: Identifies the press.
  ///   - goal: The goal of the run; `nil` for none.
  ///   - source: Who gives the command.
  ///   - runID: The id of the new run; without one it is the command's id.
  public static func start(id: CommandID, goal: RunGoal?, source: ControlSource, runID: RunID? = nil) -> Command {
    var command = Command(id: id, kind: .start, source: source, runID: runID)
    command.goal = goal
    return command
  }

  /// Gives a start its goal.
  ///
  /// - Returns: `false`, with nothing changed, for any other kind of command.
  package mutating func aim(at goal: RunGoal) -> Bool {
    guard kind == .start else { return false }
    self.goal = goal
    return true
  }

  /// Reads a command.
  ///
  /// - Throws: `DecodingError`, also for a goal of anything but a start.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(CommandID.self, forKey: .id),
      kind: try container.decode(CommandKind.self, forKey: .kind),
      source: try container.decode(ControlSource.self, forKey: .source),
      runID: try container.decodeIfPresent(RunID.self, forKey: .runID),
      base: try container.decodeIfPresent(ObservedRevision.self, forKey: .base),
      runOffset: try container.decodeIfPresent(BusDuration.self, forKey: .runOffset))
    ifRevision = try container.decodeIfPresent(UInt64.self, forKey: .ifRevision)
    guard let goal = try container.decodeIfPresent(RunGoal.self, forKey: .goal) else { return }
    guard aim(at: goal) else {
      throw DecodingError.dataCorruptedError(forKey: .goal, in: container, debugDescription: "only a start has a goal")
    }
  }

  /// The id of the run that a start begins. If the sender named none, it is the command's id, so that it is unique and
  /// a repeated start has the same one.
  var runOfStart: RunID { runID ?? RunID(high: id.high, low: id.low) }
}
