import Foundation
package import RunBus
import RunCore

extension Recording {
  /// A larger file is not a recording of a run: a day with one point per second takes about 30 MB.
  static let bytesMax = 64 << 20

  /// Reads a GPX 1.1 or TCX file. The format is found from the content. The path `-` is standard input.
  ///
  ///     let recording = try Recording.read(contentsOf: "run.gpx")
  ///
  /// A damaged file is read as far as possible, if at least ten trackpoints and half of all can be read. ``warnings``
  /// lists what was skipped, with the lines.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` with one line that says what is wrong and where, when the file cannot be
  ///   used.
  package static func read(contentsOf path: String) throws(RunBusError) -> Recording {
    let document = try InputFile.contents(of: path, as: "recording", bytesMax: bytesMax)
    let named = InputFile.name(of: path)
    return try read([UInt8](document), name: URL(fileURLWithPath: named).lastPathComponent, path: named)
  }

  /// Reads a GPX 1.1 or TCX document from memory.
  ///
  /// - Parameters:
  ///   - document: The bytes of the document, at most 64 MiB.
  ///   - name: The name of the recording if the document has none.
  ///   - path: The name of the document in messages; `name` by default.
  /// - Throws: ``RunBusError/Code/badInput``, as ``read(contentsOf:)``.
  package static func read(_ document: [UInt8], name: String, path: String? = nil) throws(RunBusError) -> Recording {
    let path = path ?? name
    guard document.count <= bytesMax else { throw .unreadable(path, "it is larger than \(bytesMax >> 20) MB") }
    guard !document.isEmpty else { throw .unreadable(path, "it is empty") }
    do throws(RecordingFlaw) {
      var track = try track(RecordingText(document))
      return try track.recording(named: name)
    } catch {
      throw .unreadable(path, error.reason, line: error.line, column: error.column)
    }
  }

  private static func track(_ text: RecordingText) throws(RecordingFlaw) -> RecordedTrack {
    var (track, failure) = RecordingXML.read(text.bytes)
    if let failure { track = try repaired(text.bytes, failure) }
    guard var track else { throw RecordingFlaw("it is neither GPX nor TCX") }
    if text.damagedLineCount > 0 {
      track.notes.add(.noCharacter, line: text.damagedLine, count: text.damagedLineCount)
    }
    return track
  }

  /// Reads the undamaged parts of a document.
  ///
  /// - Throws: The original failure when too little can be read.
  private static func repaired(_ document: [UInt8], _ failure: RecordingXML.Failure) throws(RecordingFlaw)
    -> RecordedTrack
  {
    guard !failure.isRefusal else { throw RecordingFlaw(failure.reason) }
    let flaw = RecordingFlaw(failure.reason, line: failure.line, column: failure.column)
    guard let repair = RecordingRepair(document) else { throw flaw }
    let again = RecordingXML.read(repair.document, repaired: true)
    guard again.failure == nil, var track = again.track, track.points.count >= RecordingRepair.pointsMin else {
      throw flaw
    }
    guard track.points.count >= repair.lostPoints else {
      let all = track.points.count + repair.lostPoints
      throw RecordingFlaw(
        "\(failure.reason); only \(track.points.count) of its \(all) trackpoints can be read", line: failure.line,
        column: failure.column)
    }
    if repair.endsEarly { track.isWhole = false }
    track.notes.damage = repair.sentence(failure)
    return track
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
