/// The phases of a run and the transitions between them.
///
/// ```
///            start            pause
///   idle ───────────▶ running ─────▶ paused
///                      ▲  │  ◀─────   │
///                start │  │   resume  │ stop
///                      │  │ stop      │
///                      │  ▼           │
///                     completed ◀─────┘
/// ```
///
/// - `idle` can go to: `running`.
/// - `running` can go to: `paused`, `completed`.
/// - `paused` can go to: `running`, `completed`.
/// - `completed` can go to: `running`, as another run.
///
/// A lap is legal while a run is on and does not change the phase.
///
/// This is the only table of legal commands. What a legal command leads to is ``CommandKind/targetPhase``.
package struct RunMachine: Hashable, Sendable {
  /// The present phase.
  package private(set) var phase: RunPhase

  /// A machine that begins in a phase.
  package init(phase: RunPhase = .idle) { self.phase = phase }

  /// Whether a command asks for the present phase. A lap never does.
  package func isRepeat(_ kind: CommandKind) -> Bool { kind.targetPhase == phase }

  /// Whether a command is legal in the present phase.
  package func allows(_ kind: CommandKind) -> Bool {
    switch (kind, phase) {
    case (.start, .idle), (.start, .completed): true
    case (.pause, .running), (.resume, .paused): true
    case (.stop, .running), (.stop, .paused): true
    case (.lap, .running), (.lap, .paused): true
    case (.start, .running), (.start, .paused): false
    case (.pause, .idle), (.pause, .paused), (.pause, .completed): false
    case (.resume, .idle), (.resume, .running), (.resume, .completed): false
    case (.stop, .idle), (.stop, .completed): false
    case (.lap, .idle), (.lap, .completed): false
    case (_, .unknown): false
    }
  }

  /// Applies a command if it is legal, and returns whether it was.
  package mutating func apply(_ kind: CommandKind) -> Bool {
    guard allows(kind) else { return false }
    if let target = kind.targetPhase { phase = target }
    return true
  }

  /// Applies a transition of a ledger, which has one run: nothing follows its stop. A transition that the phase does
  /// not allow changes nothing. Such transitions exist because an amendment may insert, for example, a pause before
  /// another pause.
  mutating func applyInOneRun(_ kind: CommandKind) {
    if phase != .completed { _ = apply(kind) }
  }
}
