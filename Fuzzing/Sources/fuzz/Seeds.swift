import Foundation
@testable import RunRecordings
import RunCore

/// Makes the corpora of recordings, records and scripts from `examples/`. Those of the frames are the golden frames
/// of `Tests/RunWireTests`.
enum Seeds {
  static func write(root: String) {
    let root = URL(fileURLWithPath: root)
    let corpus = root.appending(path: "Fuzzing/Corpus")
    func save(_ bytes: [UInt8], _ name: String) {
      let place = corpus.appending(path: name)
      do {
        try FileManager.default.createDirectory(
          at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: place)
      } catch {
        fatalError("\(place.path): \(error)")
      }
    }
    guard let run = try? String(contentsOf: root.appending(path: "examples/runs/synthetic.gpx"), encoding: .utf8),
      let script = try? String(contentsOf: root.appending(path: "examples/scripts/demo.run"), encoding: .utf8)
    else { fatalError("no examples in \(root.path)") }

    save(Array(script.utf8), "script/demo.run")
    for (index, line) in script.split(separator: "\n").enumerated() where line.hasPrefix("at") {
      save(Array(line.utf8), "script/line-\(index)")
    }

    // A short input is read quickly, so it is mutated often.
    let terse = (0..<10).map { #"<trkpt lat="50.000\#($0)" lon="8"><time>2026-01-01T08:00:0\#($0)Z</time></trkpt>"# }
    save(Array("<gpx><trk><trkseg>\(terse.joined())</trkseg></trk></gpx>".utf8), "recording/terse.gpx")

    for (name, file) in fitFiles { save(file, "fit/\(name)") }

    let lines = run.split(separator: "\n")
    let points = lines.filter { $0.hasPrefix("<trkpt") }
    let head = lines.prefix { !$0.hasPrefix("<trkpt") }
    // The fewest points of a run; points with a pause in between; one point a minute.
    for (name, places) in [
      ("even", Array(0..<10)), ("paused", [0, 1, 2, 3, 4, 60, 61, 62, 63, 64, 65]),
      ("sparse", stride(from: 0, to: min(points.count, 600), by: 60).map { $0 }),
    ] {
      let document = (head + places.map { points[$0] } + ["</trkseg></trk></gpx>"]).joined(separator: "\n")
      save(Array(document.utf8), "recording/\(name).gpx")
      save(Array(document.utf8.dropLast(40)), "recording/\(name)-cut.gpx")
      guard let record = try? RecordImport.record(of: Array(document.utf8), name: "seed").record else {
        fatalError("\(name) is no run")
      }
      save(record.encoded, "record/\(name)")
      save(record.body.encoded, "record/\(name)-body")
      save(withEverything(record).encoded, "record/\(name)-full")
      // Longer ones are truncated, like the file of a device that was switched off.
      save(Array(RecordExport.tcx(record).utf8.prefix(4000)), "recording/\(name).tcx")
    }
  }

  /// FIT files, most of them so short that the fuzzer does not cut them off.
  private static var fitFiles: [(String, [UInt8])] {
    var terse = FITEncoder(headerSize: 12)
    terse.add(20, [.uint32(253, FITEncoder.time(0)), .uint8(3, 140)], local: 1)
    for second in 1...9 { terse.add(20, [.uint8(3, 140)], second: FITEncoder.time(second * 5), local: 2) }
    var paused = FITEncoder(isBigEndian: true)
    paused.addFileID()
    for second in [0, 1, 30, 31] { paused.addPoint(second) }
    for (second, change) in [(0, 0), (2, 1), (29, 0), (32, 4)] { paused.addTimer(second, UInt8(change)) }
    var app = FITEncoder()
    for second in 0...4 {
      app.add(
        20, [.uint32(253, FITEncoder.time(second)), .uint32(5, UInt32(second * 300))],
        developer: [FITEncoder.DeveloperField(number: 0, bytes: [1, 2])])
    }
    var sessions = FITEncoder()
    for second in [0, 1, 60, 61] { sessions.add(20, [.uint32(253, FITEncoder.time(second)), .uint8(3, 140)]) }
    for (start, sport) in [(0, 2), (60, 1)] {
      sessions.add(18, [.uint32(2, FITEncoder.time(start)), .enumeration(5, UInt8(sport))], local: 1)
    }
    var settings = FITEncoder()
    settings.addFileID(type: 2)
    return [
      ("terse", terse.file()), ("paused", paused.file()), ("app", app.file()), ("sessions", sessions.file()),
      ("chained", terse.file() + app.file()), ("unfinished", terse.file(claimed: 0)), ("settings", settings.file()),
      ("whole", FITEncoder.run(0...9).file()),
    ]
  }

  /// The record with everything added that a recording of a few seconds lacks.
  private static func withEverything(_ record: RunRecord) -> RunRecord {
    var record = record
    let end = record.body.report.metrics.elapsed
    record.summary.title = "River & bridge"
    record.summary.note = "Läuft"
    record.body.pauses = [RunPause(startedAt: .seconds(2), endedAt: .seconds(4))]
    let split = Split(
      number: 1, distanceMeters: 12, active: .seconds(5), startedAt: .zero, endedAt: .seconds(5),
      averageHeartRateBpm: 140, isComplete: true)
    var last = split
    (last.number, last.startedAt, last.endedAt, last.isComplete) = (2, .seconds(5), end, false)
    record.body.report.laps = [split, last]
    record.body.report.kilometers = [split]
    record.body.report.stretches = [
      DistanceStretch(source: .pedometer, startedAt: .zero, endedAt: end, meters: 20)
    ]
    return record
  }
}
