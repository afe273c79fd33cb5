public import RunCore

// What an app makes with an id of its own.
extension AppMessage {
  /// Makes a message with a random id.
  public init(name: MessageName, body: [UInt8]) {
    self.init(id: .random(), name: name.rawValue, body: body)
  }
}

extension Command {
  /// Makes a command that was pressed now, with a random id. A start also gets a random id for its run.
  public init(_ kind: CommandKind, source: ControlSource) {
    self.init(id: .random(), kind: kind, source: source, runID: kind == .start ? .random() : nil)
  }

  /// A start of a run with a goal, pressed now, with random ids for the command and the run.
  ///
  /// ```swift
  /// let verdict = try await phone.send(.start(goal: RunGoal(time: .seconds(30 * 60)), source: .phone))
  /// ```
  ///
  /// - Parameters:
  ///   - goal: The goal of the run; `nil` for none.
  ///   - source: Who gives the command.
  public static func start(goal: RunGoal?, source: ControlSource) -> Command {
    .start(id: .random(), goal: goal, source: source, runID: .random())
  }
}
