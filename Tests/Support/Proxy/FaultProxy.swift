import Foundation
import Synchronization

/// A TCP proxy between peers and a hub that disturbs their connections as networks do: see ``LinkFault``.
///
/// Peers connect to ``port`` as if the hub listened there. The hub's welcome names its events endpoint; the proxy
/// replaces it by one of its own of the same length, and so carries both connections of a peer. It cannot read a welcome
/// with keys, so it is told the hub's port for events then, and the peer is told ``eventsPort``. It runs on a thread of
/// its own until its last reference is gone.
package final class FaultProxy: Sendable {
  /// Where peers connect for control.
  package let port: UInt16
  /// Where peers connect for events.
  package let eventsPort: UInt16
  /// The faults that had an effect, in order: a connection was cut, bytes were changed or delayed.
  package let effects: EventLog<LinkFault.Kind>
  private let orders: ProxyOrders
  private let ended = DispatchSemaphore(value: 0)

  /// Creates a proxy for a hub that listens for control connections on a port, now or later.
  ///
  /// - Parameters:
  ///   - hubPort: The hub's port for control.
  ///   - hubEventsPort: Its port for events; `nil` if its welcomes say so and can be read.
  ///   - hub: The hub's address.
  ///   - host: The address at which peers connect.
  package init(
    before hubPort: UInt16, events hubEventsPort: UInt16? = nil, of hub: String = "127.0.0.1",
    at host: String = "127.0.0.1"
  ) throws {
    let (effects, orders) = (EventLog<LinkFault.Kind>(), try ProxyOrders())
    (self.effects, self.orders) = (effects, orders)
    let (control, events) = (try ProxySocket.listening(at: host), try ProxySocket.listening(at: host))
    (port, eventsPort) = (control.port, events.port)
    let ended = ended
    Thread.detachNewThread {
      var worker = ProxyWorker(
        control: control, events: events, hub: hub, hubPort: hubPort, hubEventsPort: hubEventsPort, orders: orders,
        effects: effects)
      worker.run()
      ended.signal()
    }
  }

  deinit {
    orders.give(.end)
    ended.wait()
  }

  /// Begins a fault, which replaces the present one and ends after `duration`.
  package func apply(_ fault: LinkFault, for duration: Duration = .seconds(3600)) {
    orders.give(.fault(fault, until: .now + duration))
  }

  /// Ends the present fault.
  package func heal() { orders.give(.heal) }
}

/// Orders to a proxy, from any thread.
final class ProxyOrders: Sendable {
  enum Order {
    case fault(LinkFault, until: ContinuousClock.Instant)
    case heal
    case end
  }
  private let orders = Mutex<[Order]>([])
  /// Readable while there are orders.
  let wakeDescriptor: Int32
  private let writeDescriptor: Int32

  init() throws {
    var pipes: [Int32] = [-1, -1]
    guard pipe(&pipes) == 0 else { throw CocoaError(.featureUnsupported) }
    for descriptor in pipes {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    (wakeDescriptor, writeDescriptor) = (pipes[0], pipes[1])
  }

  deinit {
    close(wakeDescriptor)
    close(writeDescriptor)
  }

  func give(_ order: Order) {
    orders.withLock { $0.append(order) }
    var byte: UInt8 = 0
    _ = write(writeDescriptor, &byte, 1)
  }

  func take() -> [Order] {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(wakeDescriptor, &bytes, bytes.count) > 0 {}
    return orders.withLock { orders in
      defer { orders = [] }
      return orders
    }
  }
}
