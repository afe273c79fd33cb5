import RunCore
import Testing

@Suite("What of a room is worth a line")
final class RoomDiaryTests {
  private var diary = RoomDiary()
  private var number: UInt64 = 0

  private static func view(_ stage: RoomView.Stage, _ names: [String], missing: [String] = []) -> RoomView {
    RoomView(
      order: RoomView.Order(term: 1, number: 1), room: "one", goal: .seconds(300), places: 4, stage: stage,
      members: names.map {
        RoomView.Member(
          id: $0, nickname: $0, isSelf: $0 == "Ben", isReady: !missing.contains($0), isHere: !missing.contains($0))
      })
  }

  /// Whether the next view is worth a line.
  private func tells(_ view: RoomView, _ change: (inout RoomView) -> Void = { _ in }) -> Bool {
    var view = view
    number += 1
    view.order = RoomView.Order(term: 1, number: number)
    change(&view)
    return diary.take(view)
  }

  @Test("Who comes, goes, and is missing at the gate is told; what is repeated, and the order of members, is not")
  func gate() {
    let alone = Self.view(.recruiting, ["Ben"], missing: ["Ben"])
    #expect(tells(alone))
    #expect(!tells(alone) { $0.gate = .tooFew })
    let two = Self.view(.recruiting, ["Ben", "Anna"], missing: ["Ben", "Anna"])
    #expect(tells(two) && !tells(two))
    #expect(tells(Self.view(.recruiting, ["Ben", "Anna"], missing: ["Ben"])))
    #expect(tells(Self.view(.recruiting, ["Ben"], missing: ["Ben"])))
    var old = two
    old.order = RoomView.Order(term: 0, number: 99)
    let isTold = diary.take(old)
    #expect(!isTold, "a view from before is not")
  }

  @Test("On the way to the start a few distances are told, each once")
  func way() {
    let view = Self.view(.gathering, ["Ben", "Anna"], missing: ["Ben"])
    #expect(tells(view))
    let told = [1400, 990, 1010, 995, 700, 499, 520, 480, 199, 130, 99, 98].filter { meters in
      tells(view) { $0.metersToStart = meters }
    }
    #expect(told == [1400, 990, 499, 199, 99])
    #expect(tells(Self.view(.gathering, ["Ben", "Anna"])))
  }

  @Test("A run is one line at its end and one when its result is complete, whatever comes every three seconds")
  func run() {
    let names = ["Ben", "Anna"]
    #expect(tells(Self.view(.recruiting, names)) && tells(Self.view(.countdown, names)))
    #expect(!tells(Self.view(.countdown, names)) { $0.startsIn = .seconds(1) })
    // The start has a cue.
    for meters in 0..<20 {
      let standing = RoomView.Standing(place: 1, meters: Double(meters), phase: .running, isStale: false)
      let running = Self.view(.running, names)
      #expect(!tells(running) { ($0.members[0].standing, $0.isProvisional) = (standing, meters < 2) })
    }
    func finish(_ meters: Double?, _ settled: RoomView.Settled) -> (inout RoomView) -> Void {
      { view in
        view.settled = settled
        view.members[0].finish = RoomView.Finish(place: 1, meters: meters, isConfirmed: true, outcome: nil)
      }
    }
    let settling = Self.view(.settling, names)
    #expect(tells(settling, finish(nil, .provisional)) && !tells(settling, finish(500, .provisional)))
    #expect(tells(settling, finish(500, .complete)) && !tells(settling, finish(500, .complete)))
    #expect(tells(settling, finish(510, .complete)), "a record that was amended")
  }

  @Test("A device that comes late is told where the room stands, also in the run")
  func late() {
    #expect(tells(Self.view(.running, ["Ben", "Anna"])))
    #expect(!tells(Self.view(.running, ["Ben", "Anna"])))
  }

  @Test("That the runner has no place any more is told once, and nothing of that room after it")
  func gone() {
    #expect(tells(Self.view(.recruiting, ["Ben", "Anna"])) && tells(Self.view(.recruiting, ["Anna"])))
    #expect(!tells(Self.view(.recruiting, ["Anna", "Cleo"])) && !tells(Self.view(.cancelled, [])))
    #expect(tells(Self.view(.recruiting, ["Ben"])) { $0.room = "two" })
    #expect(!tells(Self.view(.recruiting, ["Anna"])) { $0.room = "three" }, "a room that it has left already")
  }
}
