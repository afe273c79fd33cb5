import Foundation

/// One connection through a ``FaultProxy``: a peer's socket and the socket to the hub that was opened for it.
struct ProxyConnection {
  /// The data in one direction.
  struct Flow {
    var pieces = ZMTPPieces()
    /// Data that waits to be forwarded, and the earliest time for each piece.
    private(set) var queue: [(bytes: ArraySlice<UInt8>, at: ContinuousClock.Instant)] = []
    private var queuedBytes = 0
    private var isFreeAt = ContinuousClock.now
    /// Whether incoming data is dropped.
    var isSwallowed = false
    /// Whether the sending side has closed.
    var hasEnded = false

    /// More than a socket's own buffers hold; beyond it the sender has to wait.
    private static let queuedBytesMax = 1 << 20
    /// The most that is forwarded at once under a throttle: a part of most frames.
    private static let throttledBytes = 64

    var takesMore: Bool { !hasEnded && queuedBytes < Self.queuedBytesMax }
    var nextAt: ContinuousClock.Instant? { queue.first?.at }

    mutating func enqueue(_ bytes: [UInt8], under fault: LinkFault?) {
      queuedBytes += bytes.count
      switch fault {
      case .throttle(let bytesPerSecond):
        var rest = bytes[...]
        while !rest.isEmpty {
          let piece = rest.prefix(Self.throttledBytes)
          rest = rest.dropFirst(piece.count)
          isFreeAt = max(isFreeAt, .now) + .seconds(Double(piece.count) / Double(bytesPerSecond))
          queue.append((piece, isFreeAt))
        }
      case .delay(let milliseconds): queue.append((bytes[...], .now + .milliseconds(milliseconds)))
      default: queue.append((bytes[...], .now))
      }
    }

    /// Allows waiting data to be forwarded at once.
    mutating func release() {
      for index in queue.indices { queue[index].at = .now }
      isFreeAt = .now
    }

    /// The receiving side is gone: drops what waits and what still comes.
    mutating func abandon() {
      isSwallowed = true
      queue = []
      queuedBytes = 0
    }

    /// Forwards what is due; `false` if the receiving side is gone.
    mutating func flush(to socket: ProxySocket) -> Bool {
      while let (bytes, at) = queue.first, at <= .now {
        guard let count = socket.write(bytes) else { return false }
        queuedBytes -= count
        guard count == bytes.count else {
          queue[0].bytes = bytes.dropFirst(count)
          return true
        }
        queue.removeFirst()
      }
      return true
    }
  }

  let peer: ProxySocket
  let hub: ProxySocket
  let isControl: Bool
  var flows: [LinkFault.Direction: Flow] = [.up: Flow(), .down: Flow()]
  /// Whether bytes were dropped, so that the connection cannot continue.
  var isDoomed: Bool { flows.values.contains { $0.isSwallowed } }

  func source(_ direction: LinkFault.Direction) -> ProxySocket { direction == .up ? peer : hub }
  func target(_ direction: LinkFault.Direction) -> ProxySocket { direction == .up ? hub : peer }

  mutating func swallow(_ directions: Set<LinkFault.Direction>) {
    for direction in directions { flows[direction]?.isSwallowed = true }
  }

  func close(reset: Bool) {
    peer.close(reset: reset)
    hub.close(reset: reset)
  }
}
