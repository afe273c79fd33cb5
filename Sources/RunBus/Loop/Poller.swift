import RunCore
import SystemC

#if canImport(CEpoll)
  import CEpoll
#endif

/// Waits until one of many descriptors is readable. A loop has one, and uses it on its thread only.
protocol DescriptorPoller {
  /// Watches a descriptor.
  mutating func add(_ descriptor: CInt)
  /// Stops watching a descriptor, which is still open.
  mutating func remove(_ descriptor: CInt)
  /// Waits until a descriptor is readable or the time-out has passed; `nil` waits without a limit.
  ///
  /// - Parameter ready: Called for each readable descriptor. With very many of them, the others follow in the next call.
  mutating func wait(_ timeout: BusDuration?, ready: (CInt) -> Void)
  /// Releases what the poller holds.
  mutating func close()
}

#if canImport(CEpoll)
  typealias SystemPoller = EpollPoller
#else
  typealias SystemPoller = PollPoller
#endif

/// Hands all descriptors to the system in each call, so a wake-up costs more the more of them there are. For systems
/// without epoll, where a process has a few nodes.
struct PollPoller: DescriptorPoller {
  private var descriptors: [pollfd] = []

  init() throws(RunBusError) {}

  mutating func add(_ descriptor: CInt) {
    descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
  }

  mutating func remove(_ descriptor: CInt) { descriptors.removeAll { $0.fd == descriptor } }

  mutating func wait(_ timeout: BusDuration?, ready: (CInt) -> Void) {
    guard pollDescriptors(&descriptors, timeout: timeout) > 0 else { return }
    for entry in descriptors where entry.revents != 0 {
      precondition(
        entry.revents & Int16(POLLNVAL) == 0, "a source closed its descriptor before it was removed")
      ready(entry.fd)
    }
  }

  mutating func close() { descriptors = [] }
}

#if canImport(CEpoll)
  /// Linux keeps the list of descriptors, so a wake-up costs the same with three of them and with ten thousand.
  struct EpollPoller: DescriptorPoller {
    private let list: CInt
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    init() throws(RunBusError) {
      list = epoll_create1(CInt(EPOLL_CLOEXEC))
      guard list >= 0 else { throw RunBusError(.transport, "no poller for the loop: \(systemReason(errno))") }
    }

    mutating func add(_ descriptor: CInt) {
      var event = epoll_event(events: runbus_epollin, data: epoll_data_t(fd: descriptor))
      let code = epoll_ctl(list, EPOLL_CTL_ADD, descriptor, &event)
      precondition(code == 0, "a source has a descriptor that cannot be polled: \(systemReason(errno))")
    }

    mutating func remove(_ descriptor: CInt) {
      var event = epoll_event()
      let code = epoll_ctl(list, EPOLL_CTL_DEL, descriptor, &event)
      precondition(code == 0, "a source closed its descriptor before it was removed")
    }

    mutating func wait(_ timeout: BusDuration?, ready: (CInt) -> Void) {
      let count = epoll_wait(list, &events, CInt(events.count), timeout.map(pollMilliseconds) ?? -1)
      if count < 0 {
        let code = errno
        // A signal has interrupted the call: the loop polls again.
        return precondition(code == EINTR, "epoll_wait: \(systemReason(code))")
      }
      for index in 0..<Int(count) { ready(events[index].data.fd) }
    }

    mutating func close() { _ = SystemC.close(list) }
  }
#endif
