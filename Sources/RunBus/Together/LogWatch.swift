import RunCore
import SystemC

/// Tells that one of some files or directories has changed. Used on one thread.
protocol FileWatch: ~Copyable {
  /// Becomes readable when something has changed.
  var descriptor: CInt { get }
  /// Watches what is at a path now; again for a path whose file was replaced.
  mutating func watch(file path: String)
  /// Watches which files a directory has, and not what is written to them.
  mutating func watch(directory path: String)
  /// Forgets what was told.
  mutating func clear()
}

#if canImport(Darwin)
  typealias SystemFileWatch = QueueWatch

  /// The kernel's queue of events, with a descriptor a path.
  struct QueueWatch: FileWatch, ~Copyable {
    let descriptor: CInt
    private var watched: [String: CInt] = [:]

    init?() {
      descriptor = kqueue()
      guard descriptor >= 0 else { return nil }
    }
    deinit {
      for entry in watched.values { close(entry) }
      close(descriptor)
    }

    mutating func watch(file path: String) { watch(path) }
    mutating func watch(directory path: String) { watch(path) }
    private mutating func watch(_ path: String) {
      let file = open(path, O_EVTONLY | O_CLOEXEC | O_NOFOLLOW)
      if let former = watched.updateValue(file, forKey: path) { close(former) }
      guard file >= 0 else { return watched[path] = nil }
      var change = kevent()
      change.ident = UInt(file)
      change.filter = Int16(EVFILT_VNODE)
      change.flags = UInt16(EV_ADD | EV_CLEAR)
      change.fflags = UInt32(NOTE_WRITE | NOTE_DELETE | NOTE_RENAME)
      _ = kevent(descriptor, &change, 1, nil, 0, nil)
    }
    mutating func clear() {
      var events = [kevent](repeating: kevent(), count: 16)
      var now = timespec()
      while kevent(descriptor, nil, 0, &events, CInt(events.count), &now) == CInt(events.count) {}
    }
  }
#else
  typealias SystemFileWatch = InotifyWatch

  /// Linux's notices about files. A path that is watched already is watched on.
  struct InotifyWatch: FileWatch, ~Copyable {
    let descriptor: CInt

    /// `nil` when this user has as many of them as the system allows.
    init?() {
      descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
      guard descriptor >= 0 else { return nil }
    }
    deinit { close(descriptor) }

    mutating func watch(file path: String) {
      _ = inotify_add_watch(descriptor, path, UInt32(IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW))
    }
    mutating func watch(directory path: String) {
      _ = inotify_add_watch(
        descriptor, path,
        UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW))
    }
    mutating func clear() {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(descriptor, &bytes, bytes.count) > 0 {}
    }
  }
#endif
