import RunCore

/// How far a reader of a room has come: gives each row once, and notices when the log has lost one that was given.
///
/// Each read begins at the row that was given last, which must be there again.
struct LogCursor: Hashable, Sendable {
  let room: RoomID
  /// Where the next read begins.
  private(set) var position: UInt64
  private var last: LogRow?
  private var log: LogID

  /// A reader that wants the rows from a position on, that one included.
  init(_ room: RoomID, from position: UInt64, in log: LogID) {
    self.room = room
    self.position = position
    self.log = log
  }

  /// Takes what was read from ``position`` on.
  ///
  /// - Parameter mayLack: Whether the log may lack a row in order (``LogKeeping``). Asked only when it does.
  /// - Returns: The rows that come next, and whether the log is another one or lacks the row that was given last.
  mutating func take(
    _ found: [LogRow], of log: LogID, mayLack: (LogRow) -> Bool
  ) -> (rows: [LogRow], isReplaced: Bool) {
    var (rows, isReplaced) = (found, log != self.log)
    if let last, !isReplaced {
      if rows.first == last {
        rows.removeFirst()
      } else {
        isReplaced = rows.first?.position == last.position || !mayLack(last)
      }
    }
    self.log = log
    if isReplaced { last = nil }
    if let newest = rows.last {
      (position, last) = (newest.position, newest)
    }
    return (rows, isReplaced)
  }
}
