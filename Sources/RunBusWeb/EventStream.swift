import FlyingFox
import FlyingSocks
import Foundation

/// The body of `/events`: each element is sent as it comes. The stream ends when the viewer closes the connection.
struct EventStream: AsyncBufferedSequence {
  typealias Element = UInt8

  struct Iterator: AsyncBufferedIteratorProtocol {
    var events: AsyncStream<Data>.Iterator
    private var rest = Data()

    init(_ events: AsyncStream<Data>) { self.events = events.makeAsyncIterator() }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
      if rest.isEmpty {
        guard let next = await events.next(isolation: #isolation) else { return nil }
        rest = next
      }
      defer { rest = Data() }
      return rest
    }

    mutating func next() async throws -> UInt8? {
      if rest.isEmpty {
        guard let next = await events.next(isolation: #isolation) else { return nil }
        rest = next
      }
      return rest.popFirst()
    }
  }

  let events: AsyncStream<Data>
  func makeAsyncIterator() -> Iterator { Iterator(events) }
}
