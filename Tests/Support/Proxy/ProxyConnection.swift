import Foundation

/// One connection through a ``FaultProxy``: a peer's and the one to the hub that was made for it.
struct ProxyConnection {
  /// What goes one way.
  struct Flow {
    var pieces = ZMTPPieces()
    /// What waits to go on, and when it may.
    private(set) var queue: [(bytes: ArraySlice<UInt8>, at: ContinuousClock.Instant)] = []
    private var queuedBytes = 0
    private var isFreeAt = ContinuousClock.now
    /// What comes is thrown away.
    var isSwallowed = false
    /// The side that it comes from says nothing more.
    var hasEnded = false

    /// More than a socket's own buffers would hold; then the sender has to wait.
    private static let queuedBytesMax = 1 << 20
    /// What goes at once under a throttle: a part of most frames.
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

    /// What waits may go now.
    mutating func release() {
      for index in queue.indices { queue[index].at = .now }
      isFreeAt = .now
    }

    /// There is nobody any more for what waits, nor for what comes.
    mutating func abandon() {
      isSwallowed = true
      queue = []
      queuedBytes = 0
    }

    /// Hands on what may go; `false` when there is nobody any more.
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
  /// Bytes are missing: it cannot go on.
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
