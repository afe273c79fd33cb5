import Foundation
import Testing
import TestSupport

/// The memory and disk space that a phone uses while members break rules, and its bounds.
struct HubWeight: Sendable {
  /// The bounds of docs/guarantees.md ("What members can make a hub hold"), in bytes.
  private static let memoryMax = 576 << 20
  private static let diskMax = 240 << 20

  private var memory = 0
  private var memoryAtEnd = 0
  private var disk = 0
  private var diskAtEnd = 0
  /// Lines of the phone's log, over all of its processes.
  private var logLines = 0
  private var weighedAt: ContinuousClock.Instant?

  /// Measures at most once a second; a phone that is down at the moment counts as nothing.
  mutating func weigh(_ crew: Crew) {
    guard weighedAt.map({ .now - $0 > .seconds(1) }) ?? true else { return }
    weighedAt = .now
    memory = max(memory, Self.memory(of: crew))
    disk = max(disk, Self.disk(of: crew))
  }

  /// Measures after all members have ended.
  mutating func weighAtEnd(_ crew: Crew) {
    (memoryAtEnd, diskAtEnd) = (Self.memory(of: crew), Self.disk(of: crew))
    (memory, disk) = (max(memory, memoryAtEnd), max(disk, diskAtEnd))
    logLines = crew.errors(of: Crew.phone).count
  }

  /// Keeps the maximum of several phones.
  mutating func add(_ other: HubWeight) {
    (memory, memoryAtEnd) = (max(memory, other.memory), max(memoryAtEnd, other.memoryAtEnd))
    (disk, diskAtEnd) = (max(disk, other.disk), max(diskAtEnd, other.diskAtEnd))
    logLines = max(logLines, other.logLines)
  }

  func expectWithinBounds(_ note: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if Sanitizer.present != .address {
      #expect(memory <= Self.memoryMax, "\(note): \(self)", sourceLocation: sourceLocation)
    }
    #expect(disk <= Self.diskMax, "\(note): \(self)", sourceLocation: sourceLocation)
  }

  private static func memory(of crew: Crew) -> Int {
    guard let phone = crew.members[Crew.phone].lives.last else { return 0 }
    return (phone.footprint?.residentKilobytes ?? 0) << 10
  }

  private static func disk(of crew: Crew) -> Int {
    ["node.sqlite", "node.sqlite-wal", "node.log-0", "node.log-1"].reduce(0) { sum, name in
      let path = "\(crew.members[Crew.phone].store)/\(name)"
      return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
    }
  }
}

extension HubWeight: CustomStringConvertible {
  var description: String {
    func mebibytes(_ bytes: Int) -> String { String(format: "%.1f", Double(bytes) / 1_048_576) }
    func line(_ what: String, _ most: Int, _ end: Int, _ bound: Int) -> String {
      "\(what) \(mebibytes(end)) MiB at the end, \(mebibytes(most)) MiB at most, of \(bound >> 20) MiB"
    }
    return [
      line("the phone's memory", memory, memoryAtEnd, Self.memoryMax), line("its store", disk, diskAtEnd, Self.diskMax),
      "its log \(logLines) lines",
    ].joined(separator: "; ")
  }
}
