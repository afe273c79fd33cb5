import ArgumentParser
import Foundation
import RunBus
import RunRecordings

/// What lock screens get of recordings: bytes, pushes an hour by kind, and how far the screen is behind.
struct Live: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What lock screens get of recordings: bytes, pushes an hour, worst age of what is visible.")

  @Argument(help: "GPX and TCX files, or folders of them.")
  var files: [String]

  func run() async throws {
    print(
      "| recording | minutes | bytes, largest | phase | numbers | alive | pushes an hour | worst age | worst clock |")
    print("|---|---|---|---|---|---|---|---|---|")
    for file in files.flatMap(Self.recordings) {
      let recording: Recording
      do { recording = try Recording.read(contentsOf: file) } catch {
        print("| \(URL(fileURLWithPath: file).lastPathComponent) | cannot be read: \(error) | | | | | | | |")
        continue
      }
      let replay = LiveReplay(recording)
      let hours = max(replay.duration.seconds, 1) / 3600
      func count(_ kinds: LivePushKind...) -> Int { replay.pushes.count { kinds.contains($0.kind) } }
      let bytes = try replay.pushes.map { try JSONEncoder().encode(LiveMessage(push: $0, age: .zero)).count }.max() ?? 0
      print(
        "| \(URL(fileURLWithPath: file).lastPathComponent) | \(Int(hours * 60)) | \(bytes) | \(count(.phase, .final)) "
          + "| \(count(.numbers)) | \(count(.alive)) | \(Int(Double(replay.pushes.count) / hours)) "
          + "| \(Int(replay.worstAge.seconds.rounded())) s | \(Int(replay.worstClock.seconds * 1000)) ms |")
    }
  }

  private static func recordings(in path: String) -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return [path] }
    return names.filter { $0.hasSuffix(".gpx") || $0.hasSuffix(".tcx") }.sorted().map { path + "/" + $0 }
  }
}
