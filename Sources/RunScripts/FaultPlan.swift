package import RunBus

/// Something that `up --faults` does to a device and takes back.
package struct Fault: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
    /// It loses its link.
    case link
    /// It is killed, and started again.
    case kill
    /// It stands still: a process by SIGSTOP, a node in this process by a link that is cut.
    case sleep
  }

  package let node: SpawnedNode
  package let kind: Kind
  /// When it begins, in real time since all nodes had a snapshot.
  package let begin: BusDuration
  /// When it is taken back.
  package let end: BusDuration

  /// `fault: watch-2 is killed for 1.2 s`.
  package var text: String {
    let tenths = (end - begin).nanoseconds / 100_000_000
    return "fault: \(node.rawValue) \(kind.text) for \(tenths / 10).\(tenths % 10) s"
  }
}

/// Faults that are drawn from a seed. The same seed, number, devices and span draw the same faults.
package struct FaultPlan: Hashable, Sendable {
  package let seed: UInt64
  /// In the order in which they begin.
  package let faults: [Fault]

  /// More would be a test of patience: each takes up to three seconds.
  package static let countMax = 10_000
  /// How long a fault lasts, in milliseconds of real time: long enough that a peer misses something, and sometimes so
  /// long that it misses pings.
  private static let lasting: ClosedRange<Int64> = 100...3000
  /// How long nothing happens to a device after a fault, so that it comes back in between.
  private static let rest = BusDuration.milliseconds(500)

  /// Draws faults.
  ///
  /// - Parameters:
  ///   - span: In how much real time they begin. One for which no device is free begins later.
  package init(_ count: Int, seed: UInt64, devices: UpDevices, span: BusDuration) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let harmed = devices.all.filter { !$0.faults.isEmpty }
    var free: [SpawnedNode: BusDuration] = [:]
    var faults: [Fault] = []
    let share = max(1, span.nanoseconds / Int64(max(1, count)))
    for index in 0..<(harmed.isEmpty ? 0 : count) {
      let device = harmed[Int.random(in: 0..<harmed.count, using: &random)]
      let kinds = Fault.Kind.allCases.filter(device.faults.contains)
      let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
      let drawn = BusDuration(nanoseconds: share * Int64(index) + Int64.random(in: 0..<share, using: &random))
      let length = BusDuration.milliseconds(Int64.random(in: Self.lasting, using: &random))
      let begin = max(drawn, free[device.node] ?? .zero)
      free[device.node] = begin + length + Self.rest
      faults.append(Fault(node: device.node, kind: kind, begin: begin, end: begin + length))
    }
    self.faults = faults.enumerated().sorted { ($0.element.begin, $0.offset) < ($1.element.begin, $1.offset) }
      .map(\.element)
  }

  /// How many there are of a kind.
  package func count(_ kind: Fault.Kind) -> Int { faults.count { $0.kind == kind } }

  /// What happens when: each fault begins and is taken back.
  package var steps: [FaultStep] {
    var all: [FaultStep] = []
    for fault in faults {
      let (begin, end) = fault.kind.actions
      all.append(FaultStep(at: fault.begin, node: fault.node, action: begin, begins: fault))
      all.append(FaultStep(at: fault.end, node: fault.node, action: end, begins: nil))
    }
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }
}

/// The begin or the end of a fault.
package struct FaultStep: Hashable, Sendable {
  /// In real time since all nodes had a snapshot.
  package let at: BusDuration
  package let node: SpawnedNode
  package let action: ScriptStep.Action
  /// The fault that begins; `nil` for an end.
  package let begins: Fault?
}

extension Fault.Kind {
  fileprivate var text: String {
    switch self {
    case .link: "loses its link"
    case .kill: "is killed"
    case .sleep: "stands still"
    }
  }

  /// What begins a fault and what takes it back.
  fileprivate var actions: (begin: ScriptStep.Action, end: ScriptStep.Action) {
    switch self {
    case .link: (.order(.offline(nil)), .order(.online))
    case .kill: (.kill, .restart)
    case .sleep: (.sleep, .wake)
    }
  }
}
