package import RunCore

/// A button press in a recording.
package struct RecordedPress: Hashable, Sendable {
  /// When it was pressed, from the recording's start.
  package let offset: BusDuration
  /// What was pressed.
  package let kind: CommandKind

  /// A press from its parts.
  package init(offset: BusDuration, kind: CommandKind) {
    self.offset = offset
    self.kind = kind
  }
}

extension Recording {
  /// The default length of the hub's window. The hub may coalesce or supersede presses that are closer together.
  static let pressSpacing = BusDuration.milliseconds(500)

  /// The presses of a replay, in order: start, the recorded pauses and resumes, the laps, stop.
  ///
  /// A hub with the default window applies every one of them, so that a live replay and an offline measurement have the
  /// same transitions and laps. For that, presses that are closer together than the window are changed here: timer
  /// stops are joined, and shorter ones dropped; a lap moves to the time of a pause or resume, and is dropped near the
  /// start and the stop; of several laps only the first stays.
  package var presses: [RecordedPress] {
    var presses = [RecordedPress(offset: .zero, kind: .start)]
    for stop in spacedStops {
      presses.append(RecordedPress(offset: stop.pausedAt, kind: .pause))
      presses.append(RecordedPress(offset: stop.resumedAt, kind: .resume))
    }
    presses.append(RecordedPress(offset: duration, kind: .stop))
    return Self.merged(presses, spacedLaps(between: presses.map(\.offset)))
  }

  private var spacedStops: [TimerStop] {
    var stops: [TimerStop] = []
    for stop in timerStops {
      if let last = stops.last, stop.pausedAt - last.resumedAt < Self.pressSpacing {
        stops[stops.count - 1] = TimerStop(
          pausedAt: last.pausedAt, resumedAt: max(last.resumedAt, stop.resumedAt))
      } else {
        stops.append(stop)
      }
    }
    return stops.filter { $0.resumedAt - $0.pausedAt >= Self.pressSpacing }
  }

  /// The times of the laps.
  ///
  /// - Parameter transitions: The times of the other presses, in order.
  private func spacedLaps(between transitions: [BusDuration]) -> [BusDuration] {
    var laps: [BusDuration] = []
    var next = transitions.startIndex
    for mark in lapMarks.sorted() {
      while next < transitions.endIndex, transitions[next] < mark { next += 1 }
      let neighbours = transitions[max(next - 1, 0)..<min(next + 1, transitions.count)]
      let nearest = neighbours.min { abs($0 - mark) < abs($1 - mark) }
      let lap = nearest.flatMap { abs($0 - mark) < Self.pressSpacing ? $0 : nil } ?? mark
      guard lap > .zero, lap < duration, laps.last.map({ lap - $0 >= Self.pressSpacing }) ?? true else { continue }
      laps.append(lap)
    }
    return laps
  }

  /// Merges both in order of time. At equal times a transition comes before a lap.
  private static func merged(_ transitions: [RecordedPress], _ laps: [BusDuration]) -> [RecordedPress] {
    var presses: [RecordedPress] = []
    var laps = laps[...]
    for transition in transitions {
      while let lap = laps.first, lap < transition.offset {
        presses.append(RecordedPress(offset: lap, kind: .lap))
        laps.removeFirst()
      }
      presses.append(transition)
    }
    return presses
  }
}

private func abs(_ span: BusDuration) -> BusDuration { max(span, .zero - span) }
