import Foundation

/// What a process takes of its machine at one moment. Only Linux tells.
public struct Footprint: Sendable {
  /// Memory that it really has, in KiB.
  public let residentKilobytes: Int
  /// Files and sockets that it has open.
  public let descriptors: Int
  /// Threads.
  public let threads: Int
  /// Processor time until now.
  public let processorSeconds: Double

  /// The footprint of a process that lives; `nil` when the system does not say.
  public init?(of processID: Int32) {
    let place = "/proc/\(processID)"
    guard let status = try? String(contentsOfFile: place + "/status", encoding: .utf8),
      let times = try? String(contentsOfFile: place + "/stat", encoding: .utf8),
      let files = try? FileManager.default.contentsOfDirectory(atPath: place + "/fd")
    else { return nil }
    func number(_ field: String) -> Int? {
      let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
    // Behind the name, which may hold anything: the state, and ten numbers later the ticks of user and system.
    let fields = times.split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
    processorSeconds = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    guard let resident = number("VmRSS"), let threads = number("Threads") else { return nil }
    residentKilobytes = resident
    descriptors = files.count
    self.threads = threads
  }

  /// Under the address sanitizer (`scripts/sanitize`) memory says nothing: it keeps what was freed, to tell who uses it
  /// still.
  public static var keepsFreed: Bool { ProcessInfo.processInfo.environment["RUNBUS_KEEPS_FREED"] != nil }

  /// Whether its memory has grown by less than so many KiB; not looked at under the address sanitizer.
  public func hasGrown(byLessThan kilobytes: Int, since before: Footprint) -> Bool {
    Self.keepsFreed
      || residentKilobytes - before.residentKilobytes < kilobytes
  }
}

extension NodeProcess {
  /// What it takes of the machine now.
  public var footprint: Footprint? { view.processID.flatMap(Footprint.init) }
}
