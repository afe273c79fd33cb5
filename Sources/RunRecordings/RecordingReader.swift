import Foundation
package import RunBus
import RunCore

extension Recording {
  /// A larger file is not a recording of a run: a day with one point per second takes about 30 MB.
  static let bytesMax = 64 << 20

  /// Reads a GPX 1.1, TCX or FIT file. The format is found from the content. The path `-` is standard input.
  ///
  ///     let recording = try Recording.read(contentsOf: "run.gpx")
  ///
  /// A damaged file is read as far as possible, if at least ten trackpoints and half of all can be read (of a FIT file,
  /// which cannot be read beyond the damage, if two can). ``warnings`` lists what was skipped, with the lines.
  ///
  /// - Parameter run: Which run of a file with several, from 1; `nil` for the first, with a warning if there are more.
  /// - Throws: ``RunBusError/Code/badInput`` with one line that says what is wrong and where, when the file cannot be
  ///   used.
  package static func read(contentsOf path: String, run: Int? = nil) throws(RunBusError) -> Recording {
    let document = try InputFile.contents(of: path, as: "recording", bytesMax: bytesMax)
    let named = InputFile.name(of: path)
    return try read(
      [UInt8](document), name: URL(fileURLWithPath: named).lastPathComponent, path: named, run: run)
  }

  /// Reads a GPX 1.1, TCX or FIT document from memory.
  ///
  /// - Parameters:
  ///   - document: The bytes of the document, at most 64 MiB.
  ///   - name: The name of the recording if the document has none.
  ///   - path: The name of the document in messages; `name` by default.
  ///   - run: Which run of a document with several, from 1; `nil` for the first, with a warning if there are more.
  /// - Throws: ``RunBusError/Code/badInput``, as ``read(contentsOf:run:)``.
  package static func read(
    _ document: [UInt8], name: String, path: String? = nil, run: Int? = nil
  ) throws(RunBusError) -> Recording {
    let runs = try runs(of: document, name: name, path: path)
    var recording = try Self.run(run ?? 1, of: runs, path: path ?? name)
    if run == nil, runs.count > 1 {
      recording.warnings.append("the file holds \(runs.count) runs, and this is the first: --run 2 reads the second")
    }
    return recording
  }

  /// One of several runs, by its number from 1.
  static func run(_ number: Int, of runs: [Recording], path: String) throws(RunBusError) -> Recording {
    guard (1...runs.count).contains(number) else {
      let count = runs.count == 1 ? "1 run" : "\(runs.count) runs"
      throw RunBusError(.badInput, "\(path): it holds \(count), so there is no run \(number)")
    }
    return runs[number - 1]
  }

  /// Reads every run of a GPX 1.1, TCX or FIT document: each running activity of a TCX, each session of a FIT, and
  /// each track of a GPX that begins more than an hour after the one before. A run that cannot be read is a warning of
  /// the first one that can.
  ///
  /// - Returns: One recording at least, in the order of the document.
  /// - Throws: ``RunBusError/Code/badInput``, as ``read(contentsOf:run:)``, when no run can be read.
  package static func runs(
    of document: [UInt8], name: String, path: String? = nil
  ) throws(RunBusError) -> [Recording] {
    let path = path ?? name
    guard document.count <= bytesMax else { throw .unreadable(path, "it is larger than \(bytesMax >> 20) MB") }
    guard !document.isEmpty else { throw .unreadable(path, "it is empty") }
    var tracks: [RecordedTrack]
    do throws(RecordingFlaw) {
      tracks = try FITFormat.isHere(document) ? FITFormat.tracks(document) : Self.tracks(RecordingText(document))
    } catch {
      throw .unreadable(path, error.reason, line: error.line, column: error.column)
    }
    var recordings: [Recording] = []
    var flaws: [(run: Int, flaw: RecordingFlaw)] = []
    for index in tracks.indices {
      let fallback = index == 0 || name.isEmpty ? name : "\(name), run \(index + 1)"
      do throws(RecordingFlaw) {
        recordings.append(try tracks[index].recording(named: fallback))
      } catch {
        flaws.append((index + 1, error))
      }
      // The points are no longer needed, and a large file has many.
      tracks[index] = RecordedTrack()
    }
    guard !recordings.isEmpty else {
      let flaw = flaws.first?.flaw ?? RecordingFlaw("it holds no run")
      throw .unreadable(path, flaw.reason, line: flaw.line, column: flaw.column)
    }
    recordings[0].warnings += skipped(flaws)
    return recordings
  }

  /// One sentence for each reason why runs of a file were skipped.
  private static func skipped(_ flaws: [(run: Int, flaw: RecordingFlaw)]) -> [String] {
    var runs: [String: [Int]] = [:]
    for (run, flaw) in flaws { runs[flaw.reason, default: []].append(run) }
    return runs.sorted { ($0.value[0], $0.key) < ($1.value[0], $1.key) }.map { reason, runs in
      runs.count == 1
        ? "run \(runs[0]) of the file skipped: \(reason)"
        : "\(runs.count) runs of the file skipped (first run \(runs[0])): \(reason)"
    }
  }

  private static func tracks(_ text: RecordingText) throws(RecordingFlaw) -> [RecordedTrack] {
    let first = text.bytes.first { $0 > 0x20 }
    guard first == UInt8(ascii: "<") || RecordingPieces.shape(of: text.bytes) != nil else {
      throw RecordingFlaw(
        first == UInt8(ascii: "{")
          ? "it is JSON, and not GPX, TCX or FIT: records import reads the JSON of an export"
          : "it is neither GPX, TCX nor FIT: export the activity as one of these")
    }
    var (tracks, failure) = RecordingXML.read(text.bytes)
    if let failure { tracks = try repaired(text.bytes, failure) }
    guard !tracks.isEmpty else { throw RecordingFlaw("it is neither GPX, TCX nor FIT") }
    if text.damagedLineCount > 0 {
      tracks[0].notes.add(.noCharacter, line: text.damagedLine, count: text.damagedLineCount)
    }
    return tracks
  }

  /// Reads the undamaged parts of a document.
  ///
  /// - Throws: The original failure when too little can be read.
  private static func repaired(_ document: [UInt8], _ failure: RecordingXML.Failure) throws(RecordingFlaw)
    -> [RecordedTrack]
  {
    guard !failure.isRefusal else { throw RecordingFlaw(failure.reason) }
    let flaw = RecordingFlaw(failure.reason, line: failure.line, column: failure.column)
    guard let repair = RecordingRepair(document) else { throw flaw }
    var again = RecordingXML.read(repair.document, repaired: true)
    let count = again.runs.reduce(0) { $0 + $1.points.count }
    guard again.failure == nil, count >= RecordingRepair.pointsMin else { throw flaw }
    guard count >= repair.lostPoints else {
      throw RecordingFlaw(
        "\(failure.reason); only \(count) of its \(count + repair.lostPoints) trackpoints can be read",
        line: failure.line, column: failure.column)
    }
    if repair.endsEarly { again.runs[again.runs.count - 1].isWhole = false }
    again.runs[0].notes.damage = repair.sentence(failure)
    return again.runs
  }
}

extension RunBusError {
  fileprivate static func unreadable(
    _ path: String, _ reason: String, line: Int? = nil, column: Int? = nil
  ) -> RunBusError {
    var place = path
    if let line { place += ":\(line)" }
    if let column { place += ":\(column)" }
    return RunBusError(.badInput, "\(place): cannot read this recording: \(reason)")
  }
}
