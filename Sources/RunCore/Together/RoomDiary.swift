/// Which views of a room are worth a line in the log of a device: what its runner cares for has changed since the last
/// line.
///
/// Views come with each change and every 3 s in the run. Standings, distances and spans alone are no news.
package struct RoomDiary: Hashable, Sendable {
  /// What a line tells. Two views with the same are one line.
  private struct Line: Hashable {
    let room: String
    let stage: RoomView.Stage
    let isLost: Bool
    let hasPlace: Bool
    /// Who is in, and who is missing at the gate.
    let members: [Standing]
    let settled: RoomView.Settled?
    /// What came out, once all records are in.
    let finishes: [RoomView.Finish]

    struct Standing: Hashable {
      let id: String
      let isMissing: Bool
    }

    init(_ view: RoomView) {
      (room, stage, isLost, hasPlace) = (view.room, view.stage, view.isLost, view.own != nil)
      members = view.members.map { member in
        let isMissing: Bool =
          switch view.stage {
          case .recruiting: !member.isReady
          case .gathering: !member.isHere
          case .countdown, .running, .settling, .over, .cancelled, .unknown: false
          }
        return Standing(id: member.id, isMissing: isMissing)
      }
      settled = view.settled
      finishes = view.settled == .provisional ? [] : view.members.compactMap(\.finish)
    }
  }
  /// The distances to the start that are each told once on the way there, metres.
  private static let milestones = [100, 200, 500, 1000]

  private var told: Told?
  private struct Told: Hashable {
    var order: RoomView.Order
    var line: Line
    /// How few milestones have lain between the runner and the start in this stage.
    var milestonesLeft: Int
  }

  /// A diary without a line.
  package init() {}

  /// Takes a view, and returns whether it is worth a line. One that is repeated for a new subscriber is not, nor is a room
  /// in which the runner has no place any more, once that is told. The start of the run has a cue.
  package mutating func take(_ view: RoomView) -> Bool {
    if let told, view.order <= told.order { return false }
    let before = told.flatMap { $0.line.room == view.room ? $0 : nil }
    let line = Line(view)
    var left = milestonesLeft(view)
    let isSameStage = before?.line.stage == line.stage
    let isNearer = isSameStage && before.map { left < $0.milestonesLeft } == true
    if isSameStage, let before { left = min(left, before.milestonesLeft) }
    told = Told(order: view.order, line: line, milestonesLeft: left)
    guard let before else { return line.hasPlace }
    guard line.hasPlace || before.line.hasPlace else { return false }
    let isStart = before.line.stage == .countdown && line.stage == .running
    return isNearer || before.line != line && !isStart
  }

  /// How many milestones lie between the runner and the start; one more than there are while that is not known or does
  /// not matter.
  private func milestonesLeft(_ view: RoomView) -> Int {
    guard view.stage == .gathering, view.own?.isHere == false, let meters = view.metersToStart else {
      return Self.milestones.count + 1
    }
    return Self.milestones.count { $0 < meters }
  }
}
