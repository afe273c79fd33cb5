import RunCore
import Synchronization
import SystemC

/// The thread that watches the bells of a log and of its live messages; all followers of a process share it.
final class LogWatcher: Sendable {
  /// A bell, and what to do when it was rung, when its directory has changed, and now and then.
  struct Target: Sendable {
    let directory: String
    let bell: LogBell
    /// Called on the watcher's thread with what was rung last; `nil` for nothing: something may have changed all the same.
    let heard: @Sendable (LogBell.Note?) -> Void
  }

  /// A bell can be missed, when its ringer dies before it rings: so often the followers look without it.
  fileprivate static let pace = BusDuration.seconds(10)
  /// How often bells are read when the system tells of no changes.
  fileprivate static let paceWithoutNotices = BusDuration.milliseconds(200)

  private let core: Core
  private let thread: Mutex<SystemThread?>

  init() throws(RunBusError) {
    let core = try Core()
    self.core = core
    thread = Mutex(try SystemThread(name: "runbus-bell") { core.work() })
  }

  /// Watches a bell from now on.
  func add(_ target: Target) { core.change { $0.targets.append(target) } }

  /// Ends the thread and waits for it.
  func end() {
    core.change { $0.isEnding = true }
    thread.withLock { $0.take() }?.join()
  }
}

/// What the thread of a watcher keeps.
private final class Core: Sendable {
  struct State {
    var targets: [LogWatcher.Target] = []
    var isEnding = false
  }
  private let state = Mutex(State())
  private let wakeUp: WakePipe

  init() throws(RunBusError) { wakeUp = try WakePipe() }

  func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    wakeUp.wake()
  }

  func work() {
    var watch = SystemFileWatch()
    var rung: [LogBell.Note?] = []
    var look = Loop.now
    while true {
      let (targets, isEnding) = state.withLock { ($0.targets, $0.isEnding) }
      if isEnding { return }
      for target in targets {
        // What was replaced is watched anew: a watch belongs to the file, not to its name.
        target.bell.prepare()
        watch?.watch(directory: target.directory)
        watch?.watch(file: target.bell.path)
      }
      var isDue = Loop.now >= look
      if isDue { look = Loop.now + LogWatcher.pace }
      rung += Array(repeating: nil, count: targets.count - rung.count)
      for (place, target) in targets.enumerated() {
        let note = target.bell.read()
        if isDue || watch != nil || note != rung[place] { target.heard(note) }
        rung[place] = note
      }
      isDue = false
      let patience = watch == nil ? LogWatcher.paceWithoutNotices : max(.zero, look - Loop.now)
      var descriptors = [pollfd(fd: wakeUp.readEnd, events: Int16(POLLIN), revents: 0)]
      if let descriptor = watch?.descriptor {
        descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
      }
      _ = pollDescriptors(&descriptors, timeout: patience)
      if descriptors[0].revents != 0 { wakeUp.clear() }
      watch?.clear()
    }
  }
}
