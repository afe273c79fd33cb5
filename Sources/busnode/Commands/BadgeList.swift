import ArgumentParser
import RunBus

struct BadgeList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "badges",
    abstract: "List the badges of the runner of a bus.",
    discussion: """
      Badges are given for the first run, for runs of 5 km, 10 km, a half marathon and a marathon, for 100 km in a calendar \
      month, for running on 7 days in a row, for the first win in a room and for 3 wins in a row.

      They are given when this command is asked, for the records that are kept then (records ls) and the results in the logs \
      of this machine, each as of the end of the run that brought it; and before a record is removed (records rm, or on \
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
    let deeds = Badges.deeds(of: summaries, calendar) + (try await results(of: location, calendar))
    let given = try BadgeBook(of: location).look(at: deeds).given
    if json { return try given.forEach { try Output.jsonLine(BadgeJSON($0)) } }
    guard !given.isEmpty else { return try Output.line("no badge yet: the first run brings one") }
    for line in RankingText.lines(given) { try Output.line(line) }
  }

  /// The runner's own results in rooms.
  private func results(of location: BusLocation, _ calendar: RunCalendar) async throws -> [BadgeDeed] {
    let key: MemberKey?
    do throws(RunBusError) {
      key = try MemberKey.present(location.keyName, in: KeyFiles())
    } catch {
      throw Failure(error)
    }
    guard let me = key?.id else { return [] }
    return try await fleet.history().rooms.compactMap { room in
      guard let outcome = room.result.rows.first(where: { $0.member == me })?.outcome else { return nil }
      return BadgeDeed(
        outcome, run: .made(room: room.room, member: me), endedAt: room.endsAt.unixSeconds, calendar)
    }
  }
}
