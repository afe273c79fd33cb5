import Foundation

/// The resources that a process uses at one moment. Only Linux provides them.
package struct Footprint: Sendable {
  /// Resident memory in KiB.
  package let residentKilobytes: Int
  /// Open files and sockets.
  package let descriptors: Int
  /// Threads.
  package let threads: Int
  /// Processor time since its start, in seconds.
  package let processorSeconds: Double

  /// The footprint of a running process; `nil` where the system does not provide it.
  package init?(of processID: Int32) {
    let place = "/proc/\(processID)"
    guard let status = try? String(contentsOfFile: place + "/status", encoding: .utf8),
      let times = try? String(contentsOfFile: place + "/stat", encoding: .utf8),
      let files = try? FileManager.default.contentsOfDirectory(atPath: place + "/fd")
    else { return nil }
    func number(_ field: String) -> Int? {
      let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
    // After the name, which may contain anything, come the state and, ten fields later, user and system ticks.
    let fields = times.split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
    processorSeconds = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    guard let resident = number("VmRSS"), let threads = number("Threads") else { return nil }
    residentKilobytes = resident
    descriptors = files.count
    self.threads = threads
  }

  /// Whether memory has grown by less than `kilobytes`; always true under the address sanitizer.
  package func hasGrown(byLessThan kilobytes: Int, since before: Footprint) -> Bool {
    Sanitizer.present == .address
      || residentKilobytes - before.residentKilobytes < kilobytes
  }
}

extension NodeProcess {
  /// The resources that it uses now.
  package var footprint: Footprint? { view.processID.flatMap(Footprint.init) }
}
