import Foundation
import RunCore
import Synchronization
import TestSupport
import Testing

@testable import RunBus

@Suite("The loop")
struct LoopTests {
  /// An actor that is pinned to a loop.
  actor Pinned {
    nonisolated let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var count = 0
    init(_ loop: Loop) { self.loop = loop }
    func increment() { count += 1 }
    func incremented() -> Int {
      increment()
      return count
    }
  }

  @Test("Code that a loop calls runs isolated to the actors that are pinned to it")
  func isolation() async throws {
    let loop = try Loop()
    let actor = Pinned(loop)
    let log = EventLog<String>()
    loop.submit {
      actor.assumeIsolated { $0.increment() }
      let pipe = PipeSource(log) { _ in
        actor.assumeIsolated { $0.increment() }
        return false
      }
      let timer = Box<LoopTimer>()
      timer.value = loop.makeTimer {
        actor.assumeIsolated { $0.increment() }
        loop.remove(pipe)
        timer.value = nil
        log.append("timer")
      }
      loop.add(pipe)
      timer.value?.deadline = Loop.now
    }
    try await log.wait(for: "the timer") { $0.contains("timer") ? true : nil }
    #expect(await actor.count == 3)
    await actor.increment()
    #expect(await actor.count == 4)
    #expect(!loop.isCurrent)
  }

  @Test("A turn drains its sources, and those that become ready meanwhile, before it fires timers")
  func socketsFirst() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    loop.submit {
      let second = PipeSource(log, name: "second") { source in
        if source.read() { log.append("second") }
        return false
      }
      let first = PipeSource(log, name: "first") { source in
        guard source.read() else { return false }
        log.append("first")
        // As with a reply on another socket: the second source becomes ready while the first is drained.
        second.write()
        return false
      }
      let timer = Box<LoopTimer>()
      timer.value = loop.makeTimer {
        log.append("timer")
        loop.remove(first)
        loop.remove(second)
        timer.value = nil
      }
      timer.value?.deadline = Loop.now - .seconds(1)
      loop.add(second)
      loop.add(first)
      first.write()
    }
    try await log.wait(for: "the timer") { $0.contains("timer") ? true : nil }
    #expect(log.events == ["first", "second", "timer"])
  }

  @Test("A source that is always ready stops neither jobs nor other sources nor timers")
  func floodedSource() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    let isOver = Mutex(false)
    defer { isOver.withLock { $0 = true } }
    loop.submit {
      let flood = PipeSource(log) { _ in !isOver.withLock { $0 } }
      let other = PipeSource(log) { source in
        if source.read() { log.append("other") }
        return false
      }
      let timer = Box<LoopTimer>()
      timer.value = loop.makeTimer {
        log.append("timer")
        loop.remove(flood)
        loop.remove(other)
        timer.value = nil
      }
      loop.add(flood)
      loop.add(other)
      other.write()
      timer.value?.deadline = Loop.now
    }
    loop.submit { log.append("work") }
    try await log.wait(for: "work, the other source and the timer") { $0.count == 3 ? true : nil }
    #expect(Set(log.events) == ["work", "other", "timer"])
  }

  @Test("Jobs that submit jobs stop neither sources nor timers")
  func floodedInbox() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    let isOver = Mutex(false)
    defer { isOver.withLock { $0 = true } }
    @Sendable func again() {
      if !isOver.withLock({ $0 }) { loop.submit { again() } }
    }
    loop.submit {
      let source = PipeSource(log) { source in
        if source.read() { log.append("source") }
        return false
      }
      let timer = Box<LoopTimer>()
      timer.value = loop.makeTimer {
        log.append("timer")
        loop.remove(source)
        timer.value = nil
      }
      timer.value?.deadline = Loop.now
      loop.add(source)
      source.write()
      again()
    }
    try await log.wait(for: "the source and the timer") { $0.count == 2 ? true : nil }
    #expect(Set(log.events) == ["source", "timer"])
  }

  @Test("A touched source is drained though its descriptor is not ready")
  func touch() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    loop.submit {
      let source = PipeSource(log) { _ in
        log.append("drained")
        return false
      }
      loop.add(source)
      loop.submit { loop.touch(source.unsafeSelf) }
    }
    // Once because it was added, once because it was touched.
    try await log.wait(for: "two drains") { $0.count == 2 ? true : nil }
  }

  @Test("A source may remove itself and the next one while it is drained")
  func removalWhileDraining() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    loop.submit {
      let sources = Box<[PipeSource]>()
      sources.value = ["a", "b", "c"].map { name in
        PipeSource(log, name: name) { source in
          log.append(name)
          if name == "a" {
            loop.remove(source)
            if let next = sources.value?[1] { loop.remove(next) }
          } else if name == "c" {
            loop.remove(source)
            sources.value = nil
            log.append("end")
          }
          return false
        }
      }
      for source in sources.value ?? [] { loop.add(source) }
    }
    try await log.wait(for: "the last one") { $0.contains("end") ? true : nil }
    #expect(log.events == ["a", "c", "end"])
  }

  @Test("Timers fire in the order of their deadlines, never early, and not after they were turned off or released")
  func timers() async throws {
    let loop = try Loop()
    let log = EventLog<String>()
    loop.submit {
      let start = Loop.now
      let timers = Box<[LoopTimer]>()
      timers.value = ([30, 10, 20, 15] as [Int64]).map { milliseconds in
        let timer = Box<LoopTimer>()
        let deadline = start + .milliseconds(milliseconds)
        timer.value = loop.makeTimer {
          log.append(Loop.now < deadline ? "early" : "\(milliseconds)")
          if milliseconds == 10 { timers.value?[3].deadline = nil }
          if milliseconds == 30 { timers.value = nil }
        }
        timer.value?.deadline = deadline
        defer { timer.value = nil }
        return timer.value!
      }
      // Nobody keeps a reference to this timer.
      loop.makeTimer { log.append("let go") }.deadline = start
    }
    try await log.wait(for: "the last timer") { $0.contains("30") ? true : nil }
    #expect(log.events == ["10", "20", "30"])
  }

  @Test("Jobs of many threads are all run, those of each thread in order")
  func manyThreads() async throws {
    let loop = try Loop()
    let seen = Seen()
    let log = EventLog<Int>()
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for number in 1...2_000 {
            loop.submit {
              if !seen.isNext(number, of: task) { log.append(-1) }
              if number == 2_000 { log.append(task) }
            }
          }
        }
      }
    }
    let events = try await log.wait(for: "all work") { $0.count >= 8 ? $0 : nil }
    #expect(Set(events) == Set(0..<8))
  }
}

@Suite("The end of a loop")
struct LoopEndTests {
  @Test("A stopped loop has run its jobs, and its thread and descriptors are gone")
  func stop() throws {
    let count = Mutex(0)
    weak var core: LoopCore?
    do {
      let loop = try Loop()
      core = loop.core
      for _ in 0..<100 { loop.submit { loop.submit { count.withLock { $0 += 1 } } } }
      loop.stop()
      loop.stop()
      #expect(count.withLock { $0 } == 100)
    }
    // The thread held the core, and the core holds the pipe.
    #expect(core == nil)
  }

  @Test("A loop without references ends by itself")
  func release() throws {
    weak var core: LoopCore?
    do {
      let loop = try Loop()
      core = loop.core
    }
    #expect(core == nil)
  }

  @Test("A loop may be released on its own thread")
  func releaseInside() async throws {
    let log = EventLog<String>()
    LoopBox(try Loop()).submitRelease(log)
    try await log.wait(for: "the end") { $0.contains("released") ? true : nil }
  }

  @Test("An actor of a stopped loop still runs its jobs, one at a time")
  func lateJobs() async throws {
    let loop = try Loop()
    let actor = LoopTests.Pinned(loop)
    loop.stop()
    let log = EventLog<Int>()
    await withDiscardingTaskGroup { group in
      for _ in 0..<50 {
        // Submitted, not awaited: a lost job must fail the test instead of hanging it.
        group.addTask {
          for _ in 0..<20 { loop.submit { actor.assumeIsolated { log.append($0.incremented()) } } }
        }
      }
    }
    let counts = try await log.wait(for: "all late work") { $0.count == 1_000 ? $0 : nil }
    #expect(counts == Array(1...1_000))
    #expect(await actor.count == 1_000)
  }

  /// Holds the last reference to a loop until the loop's own thread releases it.
  private final class LoopBox: Sendable {
    private let loop: Mutex<Loop?>
    init(_ loop: Loop) { self.loop = Mutex(loop) }
    func submitRelease(_ log: EventLog<String>) {
      loop.withLock { $0 }?.submit { [self] in
        let last = loop.withLock { $0.take() }
        log.append(last == nil ? "lost" : "released")
      }
    }
  }
}

/// The last number that was seen in each row.
private final class Seen: Sendable {
  private let last = Mutex<[Int: Int]>([:])
  func isNext(_ number: Int, of row: Int) -> Bool {
    last.withLock { last in
      defer { last[row] = number }
      return last[row, default: 0] == number - 1
    }
  }
}

/// A value that is used on one thread only, in closures for which the compiler cannot know that.
private final class Box<Value>: @unchecked Sendable {
  // Unchecked: every test touches it on its loop's thread only.
  var value: Value?
}

/// A pipe that a test writes to and its loop reads.
private final class PipeSource: LoopSource, @unchecked Sendable {
  // Unchecked: used on its loop's thread only.
  let descriptor: CInt
  private let writeEnd: CInt
  private let onDrain: (PipeSource) -> Bool
  var unsafeSelf: PipeSource { self }

  init(_ log: EventLog<String>, name: String = "", onDrain: @escaping (PipeSource) -> Bool) {
    var ends: [CInt] = [-1, -1]
    if pipe(&ends) != 0 { log.append("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    descriptor = ends[0]
    writeEnd = ends[1]
    self.onDrain = onDrain
  }
  func drain() -> Bool { onDrain(self) }
  func write() {
    var byte: UInt8 = 1
    _ = Foundation.write(writeEnd, &byte, 1)
  }
  func read() -> Bool {
    var byte: UInt8 = 0
    return Foundation.read(descriptor, &byte, 1) == 1
  }
  deinit {
    close(descriptor)
    close(writeEnd)
  }
}
