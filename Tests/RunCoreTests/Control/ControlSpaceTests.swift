import RunCore
import Testing

/// Compares the arbiter with the model for every sequence of a small space.
@Suite("Every small sequence of presses")
struct ControlSpaceTests {
  /// The devices that press in turn.
  private static let crews: [[DeviceID]] = [[.phone], [.phone, .watch], [.widget, .phone, .watch]]

  /// Whether a soak (`RUNBUS_SOAK_CONTROL=1`) asks for all sequences instead of a part.
  private static let isSoak = soakFactor > 0

  @Test(
    "of up to four commands around the window's length is judged as the model says", arguments: CommandKind.allCases)
  func aroundTheWindow(first: CommandKind) {
    let spacings: [Int64] = [0, 250, 499, 500, 501]
    for crew in Self.isSoak ? Self.crews : [Self.crews[1]] {
      var walk = Walk(spacings: spacings, crew: crew, depth: 4)
      walk.go(first: first)
      #expect(walk.complaint == nil)
    }
  }

  @Test("of up to six commands in and out of the window is judged as the model says", arguments: CommandKind.allCases)
  func inAndOut(first: CommandKind) {
    for crew in Self.isSoak ? Self.crews : [Self.crews[2]] {
      var walk = Walk(spacings: [100, 700], crew: crew, depth: Self.isSoak ? 6 : 5)
      walk.go(first: first)
      #expect(walk.complaint == nil)
    }
  }

  @Test(
    "of three in a window, with conditions and without, is judged as the model says",
    arguments: CommandKind.allCases)
  func conditions(first: CommandKind) {
    var walk = Walk(spacings: [100], crew: Self.crews[1], depth: 3)
    walk.conditions = [nil, 1, 2]
    walk.go(first: first)
    #expect(walk.complaint == nil)
  }

  @Test("with windows off is judged press by press", arguments: CommandKind.allCases)
  func windowsOff(first: CommandKind) {
    var walk = Walk(spacings: [0, 100], crew: Self.crews[1], depth: Self.isSoak ? 6 : 4, window: .zero)
    walk.go(first: first)
    #expect(walk.complaint == nil)
  }
}

/// Visits all sequences, and judges a common beginning only once.
private struct Walk {
  let spacings: [Int64]
  let crew: [DeviceID]
  let depth: Int
  var window = BusDuration.milliseconds(500)
  var complaint: String?
  /// The revisions that the presses after the start expect.
  var conditions: [UInt64?] = [nil]

  init(spacings: [Int64], crew: [DeviceID], depth: Int, window: BusDuration = .milliseconds(500)) {
    self.spacings = spacings
    self.crew = crew
    self.depth = depth
    self.window = window
  }

  mutating func go(first: CommandKind) {
    var pair = ControlPair(window: window)
    if conditions.count > 1 { pair.arrive(press(.start, crew[0], at: 0, id: 100, run: 100)) }
    for condition in conditions where complaint == nil {
      step(pair, kind: first, at: 1000, count: 1, ifRevision: condition)
    }
  }

  private mutating func step(
    _ before: ControlPair, kind: CommandKind, at time: Int64, count: Int, ifRevision: UInt64? = nil
  ) {
    var pair = before
    // Starts name a run of their own, as devices do.
    let run = kind == .start ? UInt64(count) : nil
    pair.arrive(press(kind, crew[count % crew.count], at: time, id: UInt64(count), run: run, ifRevision: ifRevision))
    if let wrong = pair.complaint() {
      complaint = "\(wrong)\n\(pair.transcript)"
      return
    }
    guard count < depth else { return }
    for kind in CommandKind.allCases {
      for spacing in spacings {
        for condition in conditions where complaint == nil {
          step(pair, kind: kind, at: time + spacing, count: count + 1, ifRevision: condition)
        }
      }
    }
  }
}
