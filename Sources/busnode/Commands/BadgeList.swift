import ArgumentParser
import Foundation
import RunBus

struct BadgeList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "badges",
    abstract: "List the badges of the runner of a bus.",
    discussion: """
      Badges are given for the first run, for runs of 5 km, 10 km, a half marathon and a marathon, for 100 km in a calendar \
      month, for running on 7 days in a row, for the first win in a room and for 3 wins in a row.

      They are given when this command is asked, for the records that are kept then (records ls) and the results in the logs \
      of this machine, each as of the end of the run that brought it (at the latest when the command is asked: a simulated run is \
      longer than the time that it took; in a room the room's end counts); and before a record is removed (records rm, or on \
      the page). One that was given stays, in the state directory of the bus, whatever becomes of the run. A run counts on the day and in the month of its end, by its own clock; a run \
      that was imported and is likely kept already does not count.
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    bus.startLog()
    let (location, calendar) = (try bus.location(), RunCalendar())
    let summaries = try await RecordCatalogue(location).entries.map(\.summary)
    let rooms = try await results(of: location)
    let ends = Dictionary(rooms.map { ($0.run, $0.endsAt) }) { one, _ in one }
    let deeds =
      Badges.deeds(of: summaries, calendar, ends: ends, now: Date().timeIntervalSince1970)
      + rooms.compactMap { room in
        room.outcome.flatMap { BadgeDeed($0, run: room.run, endedAt: room.endsAt, calendar) }
      }
    let given = try BadgeBook(of: location).look(at: deeds).given
    if json { return try given.forEach { try Output.jsonLine(BadgeJSON($0)) } }
    guard !given.isEmpty else { return try Output.line(Tongue.say(.noBadge)) }
    for line in RankingText.lines(given) { try Output.line(line) }
  }

  /// A room of which the runner has a result: the own run in it, when the room's run was over, and what came out.
  private struct OwnRoom {
    let run: RunID
    let endsAt: Double
    let outcome: RoomResult.Outcome?
  }

  /// The runner's own results in rooms.
  private func results(of location: BusLocation) async throws -> [OwnRoom] {
    let key: MemberKey?
    do throws(RunBusError) {
      key = try MemberKey.present(location.keyName, in: KeyFiles())
    } catch {
      throw Failure(error)
    }
    guard let me = key?.id else { return [] }
    return try await fleet.history().rooms.compactMap { room in
      room.result.rows.first { $0.member == me }.map { row in
        OwnRoom(
          run: .made(room: room.room, member: me), endsAt: room.endsAt.unixSeconds, outcome: row.outcome)
      }
    }
  }
}
