import ArgumentParser
import Foundation
import RunBus
import RunScripts

/// Which fleet of this machine.
struct FleetOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The fleet: who shares its rooms (default: all of this machine).", valueName: "name"))
  var together: BusName?

  /// Reads from the log of each fleet. A log that cannot be read keeps nobody from those of other fleets.
  ///
  /// - Throws: ``Failure`` with 74 when a log cannot be read and none gave anything.
  func reading<Value>(_ body: (SQLiteLog, FleetID) async throws(SharedLogError) -> [Value]) async throws -> [Value] {
    var (values, unread): ([Value], [String]) = ([], [])
    for place in try places() {
      let log = SQLiteLog(place)
      do throws(SharedLogError) {
        values += try await body(log, .made(name: place.name))
      } catch {
        unread.append(Tongue.say(.logOf, ["fleet": place.name, "reason": error]))
      }
      await log.close()
    }
    guard let first = unread.first, values.isEmpty else {
      for sentence in unread { Output.complain("busnode: \(sentence)") }
      return values
    }
    throw Failure(code: "log", message: first, exitStatus: ExitStatus.diskError)
  }
}

extension FleetOptions {
  /// Where the logs are. Looking makes none.
  private func places() throws -> [LogPlace] {
    guard let together else { return LogPlace.all() }
    let place = LogPlace(together)
    guard FileManager.default.fileExists(atPath: place.file) else {
      throw Failure(
        code: "unknownFleet", message: Tongue.say(.noSuchFleet, ["fleet": together]),
        exitStatus: ExitStatus.noBus)
    }
    return [place]
  }

  /// Reads from the log that has a room.
  ///
  /// - Parameters:
  ///   - digits: The room's id, or at least 4 of its first digits.
  ///   - list: The command that lists the rooms that may be meant.
  /// - Throws: ``Failure`` with 3 when there is no such room, and with 64 when there are several.
  func room<Value>(
    _ digits: String, listedBy list: String = "busnode room ls --all",
    _ body: (RoomID, SQLiteLog, FleetID) async throws(SharedLogError) -> Value
  ) async throws -> Value {
    func unknown(_ what: String) -> Failure {
      Failure(code: "unknownRoom", message: "\(what): \(list)", exitStatus: ExitStatus.rejected)
    }
    guard digits.count >= 4 else {
      throw unknown(Tongue.say(.roomTooShort, ["digits": digits]))
    }
    let named = try await reading { log, fleet throws(SharedLogError) in
      let rooms = try await log.rooms().map(\.room).filter { $0.description.hasPrefix(digits.lowercased()) }
      return rooms.map { (room: $0, fleet: fleet) }
    }
    guard let first = named.first else { throw unknown(Tongue.say(.noRoom, ["digits": digits])) }
    // What nobody has opened is no room, and makes no other one ambiguous, whatever fleet's log has it.
    let open =
      named.count == 1
      ? named
      : try await reading { log, fleet throws(SharedLogError) in
        var open: [(room: RoomID, fleet: FleetID)] = []
        for one in named where one.fleet == fleet {
          if try await RoomFolds.fold(one.room, of: log, fleet: fleet) != nil { open.append(one) }
        }
        return open
      }
    let (room, fleet) = open.first ?? first
    guard open.count <= 1 else {
      throw Failure(
        code: "unknownRoom",
        message: open.allSatisfy { $0.room == room }
          ? Tongue.say(.fleetsHaveRoom, ["count": open.count, "digits": digits])
          : Tongue.say(.roomsBegin, ["count": open.count, "digits": digits]),
        exitStatus: ExitStatus.usage)
    }
    let values = try await reading { log, id throws(SharedLogError) in
      id == fleet ? [try await body(room, log, id)] : []
    }
    guard let value = values.first else { throw unknown(Tongue.say(.noRoom, ["digits": digits])) }
    return value
  }

  /// The results of the fleets, and the names of their runners.
  func history() async throws -> RoomHistory {
    var history = RoomHistory()
    _ = try await reading { log, id throws(SharedLogError) in [try await history.add(log, fleet: id)] }
    return history
  }
}

struct RoomList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the rooms of a fleet that take runners in; with --all every room.",
    discussion: """
      Without a phone: it reads the log of the fleet. A search is a room of busnode match, which others find by a search of \
      their own.
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Rooms at every stage.")
  var all = false
  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    let lists = try await fleet.reading { log, id throws(SharedLogError) in
      [try await RoomFolds.all(of: log, fleet: id, isFresh: !all)]
    }
    let unread = lists.flatMap(\.unread)
    if !unread.isEmpty { Output.complain(Self.sentence(unread: unread)) }
    let shown = lists.flatMap(\.reports).filter { all || $0.state.stage == .recruiting }
    if json { return try shown.forEach { try Output.jsonLine(RoomJSON($0)) } }
    guard !shown.isEmpty else { return try Output.line(Tongue.say(.noRoomTakes)) }
    for report in shown { try Output.line(Self.line(report)) }
  }

  /// The rooms in which so much is written, or so many, that a list does not wait for them.
  static func sentence(unread: [RoomID]) -> String {
    let named = unread.prefix(4).map(RoomText.short).joined(separator: ", ")
    let more = unread.count > 4 ? Tongue.say(.roomsMore, ["count": unread.count - 4]) : ""
    return Tongue.say(.roomsUnread, ["rooms": named + more])
  }

  /// `32d9626b  recruiting  5:00  1/4  Anna`; a search for another runner is no room to enter, and says so.
  static func line(_ report: RoomReport) -> String {
    let (state, terms) = (report.state, report.state.terms)
    let names = state.members.map(\.card.nickname.text).joined(separator: ", ")
    let goal = terms.map { DurationText.clock($0.goal) } ?? ""
    let start = terms?.start.map { Tongue.say(.roomAt, ["label": $0.label]) } ?? ""
    let isSearch = terms?.isMatched == true && state.stage == .recruiting
    return
      "\(RoomText.short(report.room))  \(isSearch ? Tongue.say(.viewSearch) : state.stage.spoken)  \(goal)  \(state.members.count)/\(terms?.places ?? 0)  \(names)\(start)"
  }
}
