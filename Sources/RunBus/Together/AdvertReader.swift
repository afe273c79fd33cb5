import RunCore

/// Reads the adverts of a class, and leaves out what is not its author's, of this class and of this fleet.
struct AdvertReader {
  private struct Row: Hashable {
    let author: MemberID
    let body: [UInt8]
  }
  private let fleet: FleetID
  private let listedAs: String
  /// The number of signatures that one reading checks, about 20 ms of work; a reading comes every second. A flood of
  /// adverts delays other adverts and costs no more processor time.
  private let checksMax: Int
  /// The rows that were there last time, with what they say; `nil` for one that is left out. A signature is checked once.
  private var known: [Row: RoomAdvert?] = [:]

  init(fleet: FleetID, listedAs: String, checksMax: Int = 256) {
    (self.fleet, self.listedAs, self.checksMax) = (fleet, listedAs, checksMax)
  }

  /// The adverts in the order of the log, without those for which there was no time yet.
  mutating func read(_ rows: [LogAdvert]) -> [RoomAdvert] {
    var adverts: [RoomAdvert] = []
    var seen: [Row: RoomAdvert?] = [:]
    var checks = 0
    for row in rows {
      let key = Row(author: row.author, body: row.body)
      if seen[key] != nil { continue }
      if known[key] == nil, checks == checksMax { continue }
      let advert: RoomAdvert?
      if let read = known[key] {
        advert = read
      } else {
        checks += 1
        advert = try? EntrySigning.read(advert: row.body, listedAs: listedAs, fleet: fleet, author: row.author)
      }
      seen[key] = .some(advert)
      if let advert { adverts.append(advert) }
    }
    known = seen
    return adverts
  }
}
