import RunCore
import Simulation

/// Leaves out of a failing world what it does not need to fail: misdeeds, then steps, then faults of networks and
/// disks. A fault of the same kind has to remain. The number of runs is bounded.
struct Shrinking {
  let seed: UInt64
  private var options: WorldOptions
  private let steps: Int
  private let seconds: Int
  private var runsLeft: Int
  private var lines: [String] = []
  private let kinds: Set<String>

  init(_ verdict: WorldVerdict, options: WorldOptions, runsMax: Int) {
    seed = verdict.seed
    self.options = options
    steps = verdict.steps
    seconds = Int(options.trouble.seconds) + 1
    runsLeft = runsMax
    kinds = Set(verdict.faults.map(Self.kind(of:)))
  }

  /// The violation without the names and times of this world.
  private static func kind(of fault: String) -> String {
    fault.split(separator: " ").filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
  }

  mutating func run() {
    let (steps, seconds) = (max(1, steps), seconds)
    var kept = Array(1...steps)
    // The world ends at the fault, so later steps do not matter.
    var misdeeds = kept
    reduce(&misdeeds) { options, misdeeds in options.cut.misdeeds = Set(1...steps).subtracting(misdeeds) }
    reduce(&kept) { options, kept in options.cut.steps = Set(1...steps).subtracting(kept) }
    var stormy = Array(0..<seconds)
    reduce(&stormy) { options, stormy in options.cut.calmSeconds = Set(0..<seconds).subtracting(stormy) }
    options.isTraced = true
    var world = World(seed: seed, options: options)
    world.run()
    lines = world.lines + world.faults.prefix(3).map { "VIOLATION \($0)" }
    let rest =
      "\(kept.count) of \(steps) steps, misdeeds behind \(misdeeds.count) of them, trouble in \(stormy.count) of \(seconds) s"
    lines.insert("what is left of seed \(seed): \(rest)", at: 0)
  }

  /// The trace's last lines show the fault, so a long trace loses its beginning.
  private static let linesMax = 400
  /// A line may contain a whole record; `--trace` prints all of it.
  private static let lineMax = 300

  var report: String {
    let cut = lines.count > Self.linesMax ? ["… \(lines.count - Self.linesMax) lines before"] : []
    return (lines.prefix(1) + cut + lines.dropFirst().suffix(Self.linesMax))
      .map { $0.count > Self.lineMax ? $0.prefix(Self.lineMax) + "…" : $0 }.joined(separator: "\n")
  }

  /// Delta debugging (Zeller and Hildebrandt 2002), by complements only.
  private mutating func reduce(_ items: inout [Int], _ cut: (inout WorldOptions, [Int]) -> Void) {
    var pieces = 2
    let before = options
    var tried = options
    cut(&tried, [])
    if fails(tried) {
      (options, items) = (tried, [])
      return
    }
    while items.count > 1, runsLeft > 0 {
      let size = (items.count + pieces - 1) / pieces
      var hasShrunk = false
      var start = 0
      while start < items.count, runsLeft > 0 {
        let rest = Array(items[..<start] + items[min(items.count, start + size)...])
        var tried = before
        cut(&tried, rest)
        if fails(tried) {
          (options, items, hasShrunk) = (tried, rest, true)
        } else {
          start += size
        }
      }
      if size == 1, !hasShrunk { break }
      pieces = hasShrunk ? max(2, min(pieces, items.count)) : min(items.count, pieces * 2)
    }
  }

  private mutating func fails(_ options: WorldOptions) -> Bool {
    guard runsLeft > 0 else { return false }
    runsLeft -= 1
    return World.judge(seed, options).faults.contains { kinds.contains(Self.kind(of: $0)) }
  }
}
