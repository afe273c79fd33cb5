import RunBus
import Testing

@Suite("A loop with a steered clock", .timeLimit(.minutes(1)))
struct SteeredLoopTests {
  /// A timer that notes when it fires and sets itself anew.
  private actor Ticker {
    nonisolated let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var timer: LoopTimer?
    private(set) var fired: [BusTime] = []

    init(_ loop: Loop) { self.loop = loop }

    func start(every span: BusDuration) {
      timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.fire(every: span) } }
      timer?.deadline = loop.now + span
    }
    private func fire(every span: BusDuration) {
      fired.append(loop.now)
      timer?.deadline = loop.now + span
    }
  }

  private static func steered() throws -> (Loop, SteeredClock) {
    let clock = SteeredClock(wallSeconds: 1_000_000, seed: 1)
    return (try Loop(steeredBy: clock), clock)
  }

  @Test("Timers fire at their deadlines, in order, and only when the clock is moved on")
  func order() async throws {
    let (loop, clock) = try Self.steered()
    let (two, three) = (Ticker(loop), Ticker(loop))
    await two.start(every: .seconds(2))
    await three.start(every: .seconds(3))
    let begin = clock.now
    _ = await loop.idle()
    #expect(await two.fired == [])
    while await loop.step(to: begin + .seconds(7)) { _ = await loop.idle() }
    #expect(clock.now == begin + .seconds(7))
    #expect(clock.wallSeconds == 1_000_007)
    #expect(await two.fired == [2, 4, 6].map { begin + .seconds($0) })
    #expect(await three.fired == [3, 6].map { begin + .seconds($0) })
    loop.stop()
  }

  @Test("A loop is idle only when the work that follows from its work is done")
  func idle() async throws {
    let (loop, _) = try Self.steered()
    let before = await loop.idle()
    @Sendable func chain(_ left: Int) { if left > 0 { loop.submit { chain(left - 1) } } }
    chain(1000)
    #expect(await loop.idle() == before + 1000)
    loop.stop()
  }

  @Test("Those who wait for a loop to be idle are answered when it stops")
  func stop() async throws {
    let (loop, clock) = try Self.steered()
    loop.stop()
    _ = await loop.idle()
    _ = await loop.step(to: clock.now)
  }

  @Test("Tasks on a loop's thread run in turn with its actors")
  func tasks() async throws {
    let (loop, _) = try Self.steered()
    let executor = LoopTaskExecutor(loop)
    let ticker = Ticker(loop)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask(executorPreference: executor) {
          #expect(loop.isCurrent)
          _ = await ticker.fired
          #expect(loop.isCurrent)
        }
      }
    }
    loop.stop()
  }
}
