import ArgumentParser
import RunBus

/// Which fleet of this machine.
struct FleetOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The fleet: who shares its rooms (default: all of this machine).", valueName: "name"))
  var together: BusName?

  /// Reads from the log of each fleet.
  ///
  /// - Throws: ``Failure`` with 74 when a log cannot be read.
  func reading<Value>(_ body: (SQLiteLog, FleetID) async throws(SharedLogError) -> [Value]) async throws -> [Value] {
    var values: [Value] = []
    for place in together.map({ [LogPlace($0)] }) ?? LogPlace.all() {
      let log = SQLiteLog(place)
      do throws(SharedLogError) {
        values += try await body(log, .made(name: place.name))
      } catch {
        throw Failure(
          code: "log", message: "the log of the rooms of \(place.name): \(error)", exitStatus: ExitStatus.diskError)
      }
      await log.close()
    }
    return values
  }
}

struct RoomList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the rooms of a fleet that take runners in; with --all every room.",
    discussion: "Without a phone: it reads the log of the fleet.")

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Rooms at every stage.")
  var all = false
  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    let reports = try await fleet.reading { log, id throws(SharedLogError) in
      try await RoomFolds.all(of: log, fleet: id)
    }
    let shown = reports.filter { all || $0.state.stage == .recruiting }
    if json { return try shown.forEach { try Output.jsonLine(RoomJSON($0)) } }
    guard !shown.isEmpty else { return try Output.line("no room takes runners in") }
    for report in shown { try Output.line(line(report)) }
  }

  private func line(_ report: RoomReport) -> String {
    let (state, terms) = (report.state, report.state.terms)
    let names = state.members.map(\.card.nickname.text).joined(separator: ", ")
    let goal = terms.map { "\(Int($0.goal.seconds / 60)) min" } ?? ""
    let start = terms?.start.map { "  at \($0.label)" } ?? ""
    return
      "\(RoomText.short(report.room))  \(state.stage.word)  \(goal)  \(state.members.count)/\(terms?.places ?? 0)  \(names)\(start)"
  }
}
