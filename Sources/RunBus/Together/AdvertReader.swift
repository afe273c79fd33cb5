import RunCore

/// Reads the adverts of a class, and leaves out what is not its author's, of this class and of this fleet.
struct AdvertReader {
  private struct Row: Hashable {
    let author: MemberID
    let body: [UInt8]
  }
  private let fleet: FleetID
  private let listedAs: String
  /// What was there last time, `nil` for what is left out: a signature is checked once.
  private var known: [Row: RoomAdvert?] = [:]

  init(fleet: FleetID, listedAs: String) { (self.fleet, self.listedAs) = (fleet, listedAs) }

  /// The adverts in the order of the log.
  mutating func read(_ rows: [LogAdvert]) -> [RoomAdvert] {
    var adverts: [RoomAdvert] = []
    var seen: [Row: RoomAdvert?] = [:]
    for row in rows {
      let key = Row(author: row.author, body: row.body)
      let advert: RoomAdvert? =
        known[key] ?? (try? EntrySigning.read(advert: row.body, listedAs: listedAs, fleet: fleet, author: row.author))
      seen[key] = .some(advert)
      if let advert { adverts.append(advert) }
    }
    known = seen
    return adverts
  }
}
