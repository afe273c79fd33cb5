import Foundation
import RunBus

/// A line of `monitor --json` and of a node's own `--json`: an event with the time of day at which this process heard of
/// it. ``DatedEvent`` is the same for the events of the bus alone.
package struct EventLineJSON: Codable, Hashable, Sendable {
  private enum Key: String, CodingKey { case at }

  /// RFC 3339 in UTC, with milliseconds.
  package let at: String
  package let event: EventJSON

  /// An event of now.
  package init(_ event: EventJSON) {
    at = DayTime.text(unixSeconds: Date().timeIntervalSince1970)
    self.event = event
  }

  /// Reads a line that a node wrote; `nil` when the line is not an event.
  package init?(line: String) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else { return nil }
    self = read
  }

  package init(from decoder: any Decoder) throws {
    at = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .at)
    event = try EventJSON(from: decoder)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(at, forKey: .at)
    try event.encode(to: encoder)
  }
}

/// An event together with the node that shows it: a line of `up --json`.
package struct NodeEventJSON: Encodable {
  private enum Key: String, CodingKey { case node }
  package let node: SpawnedNode
  package let line: EventLineJSON

  package init(node: SpawnedNode, line: EventLineJSON) { (self.node, self.line) = (node, line) }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(node, forKey: .node)
    try line.encode(to: encoder)
  }
}
