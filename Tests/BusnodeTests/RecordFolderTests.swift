import Foundation
import RunBus
import Testing

@testable import busnode

@Suite("A directory of exported runs")
struct RecordFolderTests {
  private func summary(at unixSeconds: Double, offset: Int?) -> RecordSummary {
    RecordSummary(
      runID: RunID(high: 0xC6FA_42D5, low: 2), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "",
      startedAtUnixSeconds: unixSeconds, elapsed: .seconds(300), active: .seconds(300), utcOffsetSeconds: offset)
  }

  @Test("A file has the day of the run's own clock and its whole id; the clock of this machine does not matter")
  func names() {
    let id = "00000000c6fa42d50000000000000002"
    // An hour before midnight in UTC.
    let moment = 1_767_308_400.0
    #expect(RecordFileName.name(summary(at: moment, offset: nil), ending: "gpx") == "2026-01-01-\(id).gpx")
    #expect(RecordFileName.name(summary(at: moment, offset: 32_400), ending: "gpx") == "2026-01-02-\(id).gpx")
    #expect(RecordFileName.name(summary(at: moment, offset: -3600), ending: "csv") == "2026-01-01-\(id).csv")
    #expect(RecordFileName.name(summary(at: 253_402_300_799, offset: 0), ending: "json").hasPrefix("9999-12-31-"))
  }

  @Test("Progress is shown from half a second on, and ten times a second at most")
  func pace() {
    let began = ContinuousClock.now
    var pace = ProgressPace(began: began)
    let shown = (0..<2000).filter { pace.isDue(at: began + .milliseconds($0)) }
    #expect(shown.first == 500 && shown.count == 15)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 == 100 })
  }

  @Test("A file that is right is left alone, another is replaced, and what a killed export left is removed")
  func writes() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "runbus-\(UInt64.random(in: .min ... .max))")
    defer { try? FileManager.default.removeItem(at: place) }
    let path = place.appending(path: "a/b").path
    do {
      let folder = try RecordFolder(path: path)
      #expect(try folder.write("one", to: "1.gpx"))
      #expect(try !folder.write("one", to: "1.gpx"))
      #expect(try folder.write("two", to: "1.gpx"))
      #expect(throws: Failure.self) { _ = try RecordFolder(path: path) }
    }
    for name in [".busnode-all-12.tmp", ".busnode-34.tmp", "mine.txt"] {
      #expect(FileManager.default.createFile(atPath: path + "/" + name, contents: Data("part".utf8)))
    }
    let next = try RecordFolder(path: path + "/")
    #expect(next.file("1.gpx") == path + "/1.gpx")
    // The temporary file of an export of one run is not its own.
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: path)) == [".busnode-34.tmp", "1.gpx", "mine.txt"])
    #expect(try String(contentsOfFile: path + "/1.gpx", encoding: .utf8) == "two")
    #expect(throws: Failure.self) { _ = try RecordFolder(path: path + "/mine.txt") }
    #expect(throws: Failure.self) { _ = try RecordFolder(path: path + "/mine.txt/c") }
  }

  // Once broken: In a folder that others may write, a link of theirs chose which file was written, and a pipe blocked.
  @Test("A link or a pipe under the name of a run is refused, and nothing is written through it")
  func planted() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "runbus-\(UInt64.random(in: .min ... .max))")
    defer { try? FileManager.default.removeItem(at: place) }
    let folder = try RecordFolder(path: place.path)
    let other = folder.file("other")
    #expect(FileManager.default.createFile(atPath: other, contents: Data("mine".utf8)))
    try FileManager.default.createSymbolicLink(atPath: folder.file("1.gpx"), withDestinationPath: other)
    try FileManager.default.createSymbolicLink(atPath: folder.file("2.gpx"), withDestinationPath: "nothing")
    #expect(mkfifo(folder.file("3.gpx"), 0o600) == 0)
    for name in ["1.gpx", "2.gpx", "3.gpx"] {
      #expect(throws: Failure.self, "\(name)") { _ = try folder.write("mine", to: name) }
    }
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
    #expect(!FileManager.default.fileExists(atPath: folder.file("nothing")))
  }
}
