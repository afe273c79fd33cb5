import Foundation

extension Recording {
  /// A longer file is no recording of a run: a day at one point per second takes about 30 MB.
  static let bytesMax = 64 << 20

  /// Reads a GPX 1.1 or TCX file; which of them it is, its content says.
  ///
  /// A file that is damaged gives what can be read, as long as that is ten trackpoints and half of those in it; what was
  /// skipped stands in ``warnings``, with the lines.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` with one line that says what is wrong and where, when the file cannot be
  ///   used.
  public static func read(contentsOf path: String) throws(RunBusError) -> Recording {
    let name = URL(fileURLWithPath: path).lastPathComponent
    return try read(contents(of: path), name: name, path: path)
  }

  /// Reads a GPX 1.1 or TCX document from memory.
  ///
  /// - Parameters:
  ///   - name: What it is called when it does not say.
  ///   - path: How messages call it; the name by default.
  /// - Throws: ``RunBusError/Code/badInput``, as ``read(contentsOf:)``.
  public static func read(_ document: [UInt8], name: String, path: String? = nil) throws(RunBusError) -> Recording {
    try read(Data(document), name: name, path: path ?? name)
  }

  private static func read(_ data: Data, name: String, path: String) throws(RunBusError) -> Recording {
    guard data.count <= bytesMax else { throw .unreadable(path, "it is larger than \(bytesMax >> 20) MB") }
    guard !data.isEmpty else { throw .unreadable(path, "it is empty") }
    do throws(RecordingFlaw) {
      return try read(RecordingText(data), name: name)
    } catch {
      throw .unreadable(path, error.reason, line: error.line, column: error.column)
    }
  }

  private static func read(_ text: RecordingText, name: String) throws(RecordingFlaw) -> Recording {
    // Neither format has one, and entities are how a small file becomes a large one or reads another.
    guard Data(text.bytes).range(of: Data("<!DOCTYPE".utf8)) == nil else {
      throw RecordingFlaw("it has a document type declaration, which neither GPX nor TCX has")
    }
    var (track, failure) = RecordingXML.read(text.bytes)
    if let failure { track = try repaired(text.bytes, failure) }
    guard var track else { throw RecordingFlaw("it is neither GPX nor TCX") }
    for line in text.damagedLines { track.notes.add(.noCharacter, line: line) }
    return try track.recording(named: name)
  }

  /// What can be read of a document that breaks; the failure as it was when that is too little.
  private static func repaired(_ document: [UInt8], _ failure: RecordingXML.Failure) throws(RecordingFlaw)
    -> RecordedTrack
  {
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

  private static func contents(of path: String) throws(RunBusError) -> Data {
    let url = URL(fileURLWithPath: path)
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
      // A pipe would block and a device never ends.
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        throw RunBusError.unreadable(path, "it is not a file")
      }
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      // One byte more than allowed tells a file that is too long, even if it grows meanwhile.
      return try file.read(upToCount: bytesMax + 1) ?? Data()
    } catch let error as RunBusError {
      throw error
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      throw .unreadable(path, "there is no such file", cause: error)
    } catch {
      throw .unreadable(path, "it cannot be opened; check its permissions", cause: error)
    }
  }
}

extension RunBusError {
  fileprivate static func unreadable(
    _ path: String, _ reason: String, line: Int? = nil, column: Int? = nil, cause: (any Error)? = nil
  ) -> RunBusError {
    var place = path
    if let line { place += ":\(line)" }
    if let column { place += ":\(column)" }
    return RunBusError(.badInput, "\(place): cannot read this recording: \(reason)", cause: cause)
  }
}
