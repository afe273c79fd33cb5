import RunCore

/// The entries of a room that are a member's own, counted for the bound of what a log takes: each number once, however
/// often the entry was appended, and nothing that another has put under the member's key.
struct AuthorEntries {
  /// The number of rows that are checked. Rows that another has written under the member's key do not count.
  var rowsMax: Int { 2 * max }

  private let max: Int
  private let author: MemberID
  private let room: RoomID
  private var numbers: Set<UInt64> = []

  /// - Parameter max: How many a log takes.
  init(of author: MemberID, in room: RoomID, max: Int) { (self.author, self.room, self.max) = (author, room, max) }

  /// Whether the log takes no more of the member's.
  var isFull: Bool { numbers.count >= max }

  /// Counts a row that has the member's key.
  mutating func take(_ body: [UInt8]) {
    // A number that is known needs no second signature: copies of one entry cost a writer nothing but bytes.
    guard let content = EntrySigning.content(of: body, room: room, author: author, unless: { numbers.contains($0) })
    else { return }
    numbers.insert(content.number)
  }
}
