@testable import RunCore
import Testing

@Suite("Slots for commands without a verdict")
struct CommandQueueTests {
  private static func device(_ name: String) -> CommandQueue.Sender { .device(DeviceID(name)!) }
  private var queue = CommandQueue()
  private var count: UInt64 = 0

  /// Charges commands to a sender until it has no slot left; returns how many.
  private mutating func fill(_ sender: CommandQueue.Sender) -> Int {
    var filled = 0
    while queue.hasSlot(for: sender) {
      count += 1
      queue.accept(CommandID(high: 1, low: count), from: sender, isHeld: false)
      filled += 1
    }
    return filled
  }

  @Test("One sender has 256 slots; many together leave those that are reserved for devices and for the hub itself")
  mutating func shares() {
    queue.keepSlots(for: DeviceID("watch"), isHere: { _ in true })
    let first = fill(.stated(DeviceID("shell0")))
    #expect(first == 256)
    var shared = 256
    for number in 1...9 { shared += fill(.stated(DeviceID("shell\(number)")!)) }
    let reserved = 64 + 32 * 8
    #expect(shared == CommandQueue.slotsMax - reserved)
    let left = [fill(Self.device("band")), fill(Self.device("watch")), fill(.own)]
    #expect(left == [0, 8, 64])
  }

  @Test("A held command uses no slot until it is released, and a judged one frees its slot")
  mutating func held() {
    let (first, second) = (CommandID(high: 2, low: 1), CommandID(high: 2, low: 2))
    queue.accept(first, from: .own, isHeld: true)
    queue.accept(second, from: .own, isHeld: false)
    #expect(queue.slots(of: .own) == 1)
    queue.release([first, first, CommandID(high: 2, low: 9)])
    #expect(queue.slots(of: .own) == 2)
    queue.judge(first)
    queue.judge(first)
    #expect(queue.slots(of: .own) == 1)
  }

  @Test("A further device gets the reserved slots of one that is gone and uses none")
  mutating func reserved() {
    for number in 0..<32 { queue.keepSlots(for: DeviceID("watch\(number)")!, isHere: { _ in true }) }
    let late = DeviceID("late")
    queue.keepSlots(for: late, isHere: { _ in true })
    #expect(!queue.devices.contains(late))
    queue.accept(CommandID(high: 3, low: 1), from: Self.device("watch0"), isHeld: false)
    let here = DeviceID("watch2")
    queue.keepSlots(for: late, isHere: { $0 >= here })
    #expect(queue.devices.contains(late) && queue.devices.contains(DeviceID("watch0")))
    #expect(!queue.devices.contains(DeviceID("watch1")) && queue.devices.count == 32)
  }

  @Test("Of a series of refusals the first is logged, and another one after a minute without any")
  func notes() {
    var notes = BusyNotes()
    let seconds: [Int64] = [0, 1, 60, 119, 180]
    let logged = seconds.filter { notes.refuse(at: .zero + .seconds($0)) }
    #expect(logged == [0, 180])
  }
}
