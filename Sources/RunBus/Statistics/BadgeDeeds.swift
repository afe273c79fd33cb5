package import RunCore

// What a runner has done, as badges look at it: on the day and in the month of its end.
extension BadgeDeed {
  /// A run that is kept, by the wall clock of the run where its UTC offset is known.
  ///
  /// - Parameter bound: The latest moment at which the run can have ended, in seconds since 1970; `nil` for none. A
  ///   simulated run is longer than the real time that it took.
  package init?(_ summary: RecordSummary, _ calendar: RunCalendar, by bound: Double? = nil) {
    let start = summary.startedAtUnixSeconds
    let length = min(summary.elapsed.seconds, max(0, (bound ?? .infinity) - start))
    let shown = calendar.wallClock(summary) + length
    self.init(
      run: summary.runID, endedAt: start + length, shown: shown,
      .run(metres: summary.distanceMeters ?? 0), calendar)
  }

  /// A result that has settled.
  ///
  /// - Parameters:
  ///   - run: The own run in the room.
  ///   - endedAt: When the room's run was over, in seconds since 1970.
  package init?(_ outcome: RoomResult.Outcome, run: RunID, endedAt: Double, _ calendar: RunCalendar) {
    self.init(run: run, endedAt: endedAt, shown: endedAt, .result(outcome), calendar)
  }

  private init?(run: RunID, endedAt: Double, shown: Double, _ kind: Kind, _ calendar: RunCalendar) {
    guard let month = calendar.month(shown), let moment = Int64(exactly: (endedAt * 1000).rounded()) else { return nil }
    self.init(run: run, moment: moment, day: calendar.day(shown), month: month, kind: kind)
  }
}

extension Badges {
  /// What all runs that are kept have brought: a run that is kept twice counts once.
  ///
  /// - Parameters:
  ///   - ends: When the runs of rooms were over by the log's clock, in seconds since 1970.
  ///   - now: The present moment, at which every run is over that is kept.
  package static func deeds(
    of summaries: [RecordSummary], _ calendar: RunCalendar, ends: [RunID: Double] = [:], now: Double
  ) -> [BadgeDeed] {
    let doubles = RecordDoubles(summaries)
    return summaries.filter { doubles.original(of: $0.runID) == nil }
      .compactMap { BadgeDeed($0, calendar, by: min(ends[$0.runID] ?? now, now)) }
  }
}

extension RunCalendar {
  /// The month of a moment of a log on one machine, whose clock began with the wall clock.
  package func month(_ time: LogTime) -> CalendarMonth? { month(time.unixSeconds) }
}

extension LogTime {
  /// The moment in seconds since 1970: the clock of a log on one machine began with the wall clock.
  package var unixSeconds: Double { Double(nanoseconds) / 1e9 }
}
