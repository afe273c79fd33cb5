import RunCore

/// Runs of a GPX file, and what a file without a run holds.
extension RecordedTrack {
  /// More runs than a file of years holds; further tracks are left out.
  static let runsMax = 1000

  /// The runs of a file of several tracks, in file order. A track that begins up to an hour after the end of the one
  /// before goes on with its run, after a stop. A track of a single point is no run, and one that overlaps a run in time
  /// is the same run again: both are left out.
  func separated() -> [RecordedTrack] {
    let starts = tracks.compactMap(\.firstPoint).filter { $0 < points.count }
    guard starts.count > 1 else { return [named(by: tracks)] }
    var runs: [[Range<Int>]] = []
    var others: [Range<Int>] = []
    for (start, end) in zip(starts, starts.dropFirst() + [points.count]) where start < end {
      let range = start..<end
      guard let last = runs.last?.last else {
        runs.append([range])
        continue
      }
      let isFirstAPoint = runs.count == 1 && runs[0].count == 1 && last.count < 2
      let gap = points[start].time - points[last.upperBound - 1].time
      if isFirstAPoint {
        others.append(last)
        runs[0] = [range]
      } else if gap >= 0, gap <= Self.trackGapMax {
        runs[runs.count - 1].append(range)
      } else if range.count < 2 || runs.count == Self.runsMax || runs.contains(where: { overlaps($0, range) }) {
        others.append(range)
      } else {
        runs.append([range])
      }
    }
    guard runs.count > 1 || !others.isEmpty else { return [named(by: tracks)] }
    let figures = Dictionary(grouping: tracks) { $0.firstPoint ?? points.count }
    var separated = runs.map { run(of: $0, figures) }
    for index in separated.indices.dropFirst() { separated[index].notes = ReadingNotes() }
    for index in separated.indices.dropLast() { separated[index].isWhole = true }
    if let first = others.first {
      separated[0].notes.add(.otherTrack, line: points[first.lowerBound].line, count: others.count)
    }
    return separated
  }

  /// Whether a run shares more than half of the shorter one's time with another.
  func overlaps(_ other: RecordedTrack) -> Bool {
    guard let start = points.first?.time, let end = points.last?.time, let otherStart = other.points.first?.time,
      let otherEnd = other.points.last?.time
    else { return false }
    let shared = min(end, otherEnd) - max(start, otherStart)
    return shared > 0 && shared * 2 > min(end - start, otherEnd - otherStart)
  }

  /// Whether a track and a run share more than half of the shorter one's time.
  private func overlaps(_ run: [Range<Int>], _ track: Range<Int>) -> Bool {
    guard let first = run.first, let last = run.last else { return false }
    let (start, end) = (points[first.lowerBound].time, points[last.upperBound - 1].time)
    let (trackStart, trackEnd) = (points[track.lowerBound].time, points[track.upperBound - 1].time)
    let shared = min(end, trackEnd) - max(start, trackStart)
    return shared > 0 && shared * 2 > min(end - start, trackEnd - trackStart)
  }

  /// The run of some of the tracks, with their marks and figures, and with the laps that lie in its time.
  private func run(of ranges: [Range<Int>], _ figures: [Int: [TrackLap]]) -> RecordedTrack {
    var run = RecordedTrack()
    run.pedometerIsTotal = pedometerIsTotal
    run.utcOffsetSeconds = utcOffsetSeconds
    run.notes = notes
    run.isWhole = isWhole
    for range in ranges {
      let shift = range.lowerBound - run.points.count
      run.points += points[range]
      for mark in range {
        if breaksBefore.contains(mark), mark > shift { run.breaksBefore.insert(mark - shift) }
        if damageBefore.contains(mark) { run.damageBefore.insert(mark - shift) }
      }
      for var track in figures[range.lowerBound] ?? [] {
        track.firstPoint = range.lowerBound - shift
        run.tracks.append(track)
      }
    }
    if let first = run.points.first?.time, let last = run.points.last?.time {
      for lap in laps where lap.time.map({ $0 >= first - Self.roomSlack && $0 <= last }) ?? false {
        run.add(lap, line: 0)
      }
    }
    return run.named(by: run.tracks)
  }

  private func named(by tracks: [TrackLap]) -> RecordedTrack {
    var run = self
    run.name = tracks.lazy.compactMap(\.name).first
    run.note = tracks.lazy.compactMap(\.note).first
    return run
  }

  /// Refuses a file that holds no recording.
  ///
  /// - Throws: What the file is, and what to do.
  func refuseOtherContent() throws(RecordingFlaw) {
    let timeless = notes.count(of: .noTime) + notes.count(of: .badTime)
    guard points.count >= timeless else {
      let all = points.count + timeless
      let count = points.isEmpty ? "none" : "only \(points.count)"
      let isCourse = notes.count(of: .noTime) > notes.count(of: .badTime)
      throw RecordingFlaw(
        "\(count) of its \(all) trackpoints \(points.count > 1 ? "have" : "has") a time that can be read"
          + (isCourse ? ": it is a planned course; export the activity itself" : "; export it again"))
    }
    if points.isEmpty {
      let what =
        if routePointCount > 0 {
          "it is a planned route of \(routePointCount) points without times"
        } else if waypointCount > 0 {
          "it holds \(waypointCount) waypoint\(waypointCount == 1 ? "" : "s") and no track"
        } else if courseCount > 0 {
          "it is a planned course"
        } else {
          "it holds no trackpoints"
        }
      throw RecordingFlaw("\(what), so there is no run in it; export the recorded activity")
    }
    if notes.count(of: .decimalComma) * 2 > points.count {
      throw RecordingFlaw(
        "its coordinates have decimal commas, which neither GPX nor TCX has; export it again with decimal points"
      )
    }
  }
}
