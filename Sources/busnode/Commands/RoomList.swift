import ArgumentParser
import RunBus

/// Which fleet of this machine.
struct FleetOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The fleet: who shares its rooms (default: default).", valueName: "name"))
  var together: BusName = "default"

  func log() -> SQLiteLog { SQLiteLog(LogPlace(together)) }

  /// Reads from the log, with its errors as failures of the command.
  func reading<Value>(_ body: () async throws(SharedLogError) -> Value) async throws -> Value {
    do {
      return try await body()
    } catch {
      throw Failure(
        code: "log", message: "the log of the rooms of \(together): \(error)", exitStatus: ExitStatus.diskError)
    }
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
    let log = fleet.log()
    let reports = try await fleet.reading { () async throws(SharedLogError) in
      try await RoomFolds.all(of: log, fleet: .made(name: fleet.together))
    }
    await log.close()
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
