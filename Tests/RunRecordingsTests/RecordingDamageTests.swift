import Foundation
import RunBus
import RunCore
import RunRecordings
import Testing

@Suite("Damaged recordings")
struct RecordingDamageTests {
  private func replacing(_ document: String, _ target: String, _ replacement: String) throws -> String {
    let range = try #require(document.range(of: target))
    return document.replacingCharacters(in: range, with: replacement)
  }

  @Test(
    "One damaged trackpoint is lost alone, and the warning names its line",
    arguments: [
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z</tjme>"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z<time>"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time & 2026-03-01T10:00:20Z</time>"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z</time><a>&nothing;</a>"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z</time></extensions>"),
      ("<time>2026-03-01T10:00:20Z</time>", "<time>2026-03-01T10:00:20Z</time><!-- "),
    ])
  func onePoint(target: String, replacement: String) throws {
    let recording = try Documents.read(replacing(Documents.gpx(0...60), target, replacement))
    #expect(recording.positionCount == 60)
    #expect(recording.duration == .seconds(60))
    #expect(recording.timerStops.isEmpty)
    #expect(recording.warnings.count == 1)
    let warning = try #require(recording.warnings.first)
    #expect(warning.hasPrefix("damaged at line "), "\(warning)")
    #expect(warning.hasSuffix("1 trackpoint skipped (line 24)"), "\(warning)")
  }

  @Test("A damaged start costs only its own trackpoint", arguments: ["<trkpt lat=\"50.00054\"", "<trkpt"])
  func mangledStart(start: String) throws {
    let line = Documents.gpxPoint(20)
    let mangled = try replacing(line, start, "<trkqt")
    let recording = try Documents.read(replacing(Documents.gpx(0...60), line, mangled))
    #expect(recording.positionCount == 60)
    #expect(recording.warnings.first?.contains("1 trackpoint skipped") == true)
    let unclosed = try Documents.read(
      replacing(Documents.gpx(0...60), line, replacing(line, "</trkpt>", "</trkp")))
    #expect(unclosed.positionCount == 60)
    #expect(unclosed.warnings.first?.contains("1 trackpoint skipped (line 24)") == true)
  }

  @Test("Bytes that are no characters cost only the reading that contains them")
  func noCharacters() throws {
    for bytes in [[0xFF], [0x00], [0x01, 0x02], [0xC3]] as [[UInt8]] {
      var document = Array(Documents.gpx(0...60).utf8)
      let place = try #require(Data(document).range(of: Data(":00:20Z".utf8))).lowerBound
      document.replaceSubrange(place..<place + bytes.count, with: bytes)
      let recording = try Documents.read(document)
      #expect(recording.positionCount == 60)
      #expect(
        recording.warnings == [
          "1 line with bytes that are no characters, which were replaced (first at line 24)",
          "1 trackpoint with an unreadable time skipped (first at line 24)",
        ])
    }
  }

  @Test("A gap that damage left is not a pause")
  func noPause() throws {
    let lines = (0...120).map { second in
      (30..<80).contains(second)
        ? Documents.gpxPoint(second).replacing("</time>", with: "</tame>") : Documents.gpxPoint(second)
    }
    let recording = try Documents.read(Documents.gpx(points: lines))
    #expect(recording.positionCount == 71)
    #expect(recording.timerStops.isEmpty)
    #expect(recording.warnings.first?.hasSuffix("50 trackpoints skipped (lines 34 to 83)") == true)
  }

  @Test("A truncated file gives the trackpoints before the cut with a warning that the rest is missing, or is refused")
  func cutOff() throws {
    let document = Array(Documents.gpx(0...30).utf8)
    let ends = document.indices.filter { document[$0...].starts(with: "</trkpt>".utf8) }.map { $0 + 8 }
    for length in stride(from: 0, to: document.count - "</gpx>\n".utf8.count, by: 5) {
      let points = ends.count { $0 <= length }
      if points < 10 {
        #expect(throws: RunBusError.self) { try Documents.read(Array(document.prefix(length))) }
      } else {
        let recording = try Documents.read(Array(document.prefix(length)))
        #expect(recording.positionCount == points)
        #expect(recording.warnings.count == 1)
        #expect(recording.warnings.first?.hasSuffix("the file ends early, and what followed is missing") == true)
      }
    }
  }

  @Test("A truncated TCX keeps the laps but not their totals, which cover more than was read")
  func cutLaps() throws {
    let whole = Documents.tcx([Documents.tcxLap(Array(0..<40)), Documents.tcxLap(Array(40..<80))])
    #expect(try Documents.read(whole).summary?.distanceMeters == 240)
    let cut = try #require(whole.range(of: Documents.tcxPoint(60)))
    let recording = try Documents.read(String(whole[..<cut.lowerBound]))
    #expect(recording.positionCount == 60)
    #expect(recording.lapMarks == [.seconds(40)])
    #expect(recording.summary?.distanceMeters == nil)
    #expect(recording.summary?.laps.first?.distanceMeters == 120)
  }

  @Test(
    "Damaged tags around the trackpoints cost no trackpoint",
    arguments: [
      "<Track>", "</Track></Lap>", "<Lap StartTime=\"2026-03-01T10:00:40Z\">", "</Activity>", "</Activities>",
    ])
  func frames(tag: String) throws {
    let whole = Documents.tcx([Documents.tcxLap(Array(0..<40)), Documents.tcxLap(Array(40..<80))])
    let recording = try Documents.read(replacing(whole, tag, "<" + tag.dropFirst(3)))
    #expect(recording.positionCount == 80)
    #expect(recording.duration == .seconds(79))
    #expect(recording.timerStops.isEmpty)
    #expect(recording.warnings.count == 1)
    #expect(recording.lapMarks == [.seconds(40)])
  }

  @Test("Of two documents in one file the first is read, with a note")
  func twoDocuments() throws {
    let document = Documents.gpx(0...60)
    let recording = try Documents.read(document + document)
    #expect(recording.positionCount == 61)
    #expect(recording.warnings.count == 2)
    #expect(recording.warnings.last == "1 further track in the file skipped (first at line 69)")
    let activity = Documents.tcx([Documents.tcxLap(Array(0..<40))])
    let second = try Documents.read(activity + activity)
    #expect(second.positionCount == 40)
    #expect(second.summary?.distanceMeters == 120)
    #expect(second.warnings.last?.hasPrefix("1 further activity in the file skipped") == true)
  }

  // Once broken: A GPX or TCX with a processing instruction that is only a name (`<?a?>`) ended the process.
  @Test(
    "A processing instruction is ignored anywhere",
    arguments: ["<?a?>", "<?a ?>", "<?a b?>", "<?a b>c?>", "<?xml-stylesheet\nhref=\"a\"?>", "<?\u{FFFD}x?><?b?>"])
  func instruction(instruction: String) throws {
    let document = Documents.gpx(0...60)
    let plain = try Documents.read(document)
    for place in ["<gpx", "<trkseg>", "<trkpt lat=\"50.00054\"", "</trkpt>", "</gpx>"] {
      let read = try Documents.read(replacing(document, place, instruction + place))
      #expect(read.samples == plain.samples)
      #expect(read.warnings.isEmpty, "\(read.warnings)")
    }
    // A truncated one is damage, but must not crash.
    #expect(throws: RunBusError.self) { try Documents.read(instruction) }
    _ = try? Documents.read(replacing(document, "</gpx>", String(instruction.dropLast())))
  }

  @Test("Text before the XML declaration costs nothing, and blanks there give no warning")
  func before() throws {
    #expect(try Documents.read("\n\n  " + Documents.gpx(0...60)).warnings.isEmpty)
    let recording = try Documents.read("HTTP/1.1 200 OK\n\n" + Documents.gpx(0...60))
    #expect(recording.positionCount == 61)
    #expect(recording.warnings.count == 1)
    #expect(recording.warnings.first?.contains("no trackpoint was lost") == true)
  }

  @Test("A file of which less than half can be read is refused in one line that says how much that was")
  func mostlyDamaged() throws {
    let lines = (0..<60).map { second in
      second < 40 ? Documents.gpxPoint(second).replacing("</time>", with: "</tame>") : Documents.gpxPoint(second)
    }
    let error = #expect(throws: RunBusError.self) { try Documents.read(Documents.gpx(points: lines)) }
    #expect(
      error?.message.hasSuffix(
        "an XML end tag does not match its start tag; only 20 of its 60 trackpoints can be read") == true)
    #expect(error?.message.hasPrefix("f:4:") == true)
  }

  @Test(
    "One wrong time stamp costs only its trackpoint, wherever it is", arguments: [0, 1, 30, 59, 60], ["2016", "2028"])
  func wrongTime(second: Int, year: String) throws {
    let lines = (0...60).map { index in
      index == second ? Documents.gpxPoint(index).replacing("2026", with: year) : Documents.gpxPoint(index)
    }
    let recording = try Documents.read(Documents.gpx(points: lines))
    #expect(recording.positionCount == 60)
    #expect(recording.warnings.count == 1)
    #expect(recording.warnings.first?.hasSuffix("skipped (first at line \(second + 4))") == true)
  }

  @Test(
    "Any single damage costs a few trackpoints at most, and always gives a warning", arguments: 0..<300)
  func onePlace(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let isTCX = seed.isMultiple(of: 2)
    let text =
      isTCX
      ? Documents.tcx([Documents.tcxLap(Array(0..<60)), Documents.tcxLap(Array(60..<120))]) : Documents.gpx(0..<120)
    let whole = Array(text.utf8)
    // Damage after the first line only: the first line says what kind of file it is.
    let start = try #require(whole.firstIndex(of: 0x0A)) + 1
    var document = whole
    let place = start + generator.below(whole.count - start - 30)
    switch generator.below(4) {
    case 0: document[place] = UInt8(truncatingIfNeeded: generator.next())
    case 1: document[place] ^= 1 << UInt8(generator.below(7))
    case 2: document.removeSubrange(place..<place + 1 + generator.below(30))
    default: document.insert(contentsOf: whole[place..<place + 1 + generator.below(30)], at: place)
    }
    do {
      let recording = try Documents.read(document)
      #expect(recording.positionCount >= 117, "seed \(seed): \(recording.warnings)")
      #expect(recording.positionCount >= 120 || !recording.warnings.isEmpty, "seed \(seed)")
      #expect(recording.warnings.allSatisfy { !$0.contains("\n") })
      _ = measure(recording)
    } catch {
      Issue.record("seed \(seed): \(error.message)")
    }
  }

  @Test("A file with much damage is read or refused in one line, and never crashes", arguments: 0..<200)
  func manyPlaces(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var document = Array(
      (seed.isMultiple(of: 2) ? Documents.tcx([Documents.tcxLap(Array(0..<40))]) : Documents.gpx(0..<40)).utf8)
    for _ in 0..<1 + generator.below(12) {
      let place = generator.below(document.count)
      let end = min(document.count, place + 1 + generator.below(600))
      switch generator.below(4) {
      case 0: document[place] = UInt8(truncatingIfNeeded: generator.next())
      case 1: document[place] = UInt8(truncatingIfNeeded: generator.next()) & 0x7F
      case 2: document.removeSubrange(place..<end)
      default: document.insert(contentsOf: document[place..<end], at: generator.below(document.count))
      }
      if document.isEmpty { break }
    }
    do {
      let recording = try Documents.read(document)
      let metrics = measure(recording)
      #expect(metrics.elapsed >= metrics.active, "seed \(seed)")
    } catch {
      #expect(error.code == .badInput, "seed \(seed)")
      #expect(!error.message.contains("\n"), "seed \(seed)")
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
