import Foundation
import RunBus

/// The badges that the runner of a bus was given, in a file beside the stores of the bus: a badge stays when its run is
/// removed.
struct BadgeBook {
  /// No device has this name.
  private static let name = "_badges"
  private static let version = 1

  /// The file: JSON.
  private struct File: Codable {
    struct Line: Codable {
      let badge: String
      let run: String
      let moment: Int64
    }
    var version: Int
    var badges: [Line]
  }
  private let files: KeyFiles

  init(of location: BusLocation) { files = KeyFiles(of: "the badges", in: location.stateDirectory) }

  /// Gives what runs and results have brought and was not given yet, and keeps it.
  ///
  /// - Returns: All badges that were given, and which of them are new.
  /// - Throws: ``Failure`` with 74 when the file cannot be read or written.
  func look(at deeds: [BadgeDeed]) throws(Failure) -> (given: [Badges.Given], new: [Badges.Given]) {
    let lines = try read()
    var badges = Badges(given: lines.compactMap(Self.given))
    let new = badges.look(at: deeds)
    guard !new.isEmpty else { return (badges.given, []) }
    // Those of a later version stay.
    let later = lines.filter { Self.given($0) == nil }
    let own = badges.given.map { File.Line(badge: $0.badge.rawValue, run: $0.run.description, moment: $0.moment) }
    do throws(RunBusError) {
      try files.write(
        Array((Output.json(File(version: Self.version, badges: own + later)) + "\n").utf8), as: Self.name)
    } catch {
      throw Failure(error)
    }
    return (badges.given, new)
  }

  /// Gives what the records of a bus have brought, before one of them is removed. What is in the way of that is told, and
  /// does not keep the record.
  static func giveBeforeRemoval(on location: BusLocation) async {
    do {
      let summaries = try await RecordCatalogue(location).entries.map(\.summary)
      let deeds = Badges.deeds(of: summaries, RunCalendar(), now: Date().timeIntervalSince1970)
      _ = try BadgeBook(of: location).look(at: deeds)
    } catch {
      Output.complain("busnode: " + Tongue.say(.noBadgeGiven, ["reason": (error as? Failure)?.message ?? "\(error)"]))
    }
  }

  private func read() throws(Failure) -> [File.Line] {
    let bytes: [UInt8]?
    do throws(RunBusError) { bytes = try files.read(Self.name) } catch { throw Failure(error) }
    guard let bytes else { return [] }
    guard let file = try? JSONDecoder().decode(File.self, from: Data(bytes)), file.version == Self.version else {
      throw Failure(
        code: "store",
        message: Tongue.say(.badgesDamaged, ["path": files.path(of: Self.name)]),
        exitStatus: ExitStatus.diskError)
    }
    return file.badges
  }

  private static func given(_ line: File.Line) -> Badges.Given? {
    guard let badge = Badge(rawValue: line.badge), let run = RunID(line.run) else { return nil }
    return Badges.Given(badge, run: run, moment: line.moment)
  }
}
