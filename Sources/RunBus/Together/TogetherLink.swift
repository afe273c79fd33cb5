package import RunCore
import Synchronization

/// Connects a hub's desk with the log of its fleet: follows rooms, checks and hashes what is read, signs and appends.
///
/// All work is on Swift's pool; the log has a thread of its own. What is read is told in the order of the log.
package final class TogetherLink: Sendable {
  /// How long after a failed try the log is tried again.
  private static let again = Duration.seconds(1)

  private let log: any SharedLog
  private let signing: EntrySigning
  private let fleet: FleetID
  private let tell: @Sendable (HubCore.RoomNews) -> Void
  private let complain: @Sendable (String) -> Void
  /// What is read and said, each by a task of its own.
  private enum Work: Hashable { case entries(RoomID), live(RoomID), proof(RoomID), adverts, announcement }
  private let works = Mutex<[Work: Task<Void, Never>]>([:])
  /// The entries whose append has not returned yet; it is not repeated meanwhile.
  private let appending = Mutex<Set<Appending>>([])
  private struct Appending: Hashable {
    let room: RoomID
    let number: UInt64
  }
  /// What was compared of the rooms that are followed.
  private let proofs = Mutex<[RoomID: RoomProof]>([:])
  /// The rooms of which it was told that a time of what is left out cannot be true.
  private let misdated = Mutex<Set<RoomID>>([])
  private enum Side { case reading, writing }
  /// The trouble that was told last with reading and with writing, which is told once for as long as it lasts.
  private let trouble = Mutex<[Side: String]>([:])

  /// A link of a hub.
  ///
  /// - Parameters:
  ///   - tell: Takes what the desk is to hear.
  ///   - complain: Takes a sentence for the log of the hub.
  package init(
    _ log: any SharedLog, key: MemberKey, fleet: FleetID, tell: @escaping @Sendable (HubCore.RoomNews) -> Void,
    complain: @escaping @Sendable (String) -> Void
  ) {
    self.log = log
    signing = EntrySigning(key)
    self.fleet = fleet
    self.tell = tell
    self.complain = complain
  }

  deinit { end() }

  /// The keys of an ask that needs some; `nil` for another.
  private func keys(for ask: RoomAsk) -> RoomKeys? {
    switch ask.wish {
    case .open: keys(toEnter: nil)
    case .enter(let room, _): keys(toEnter: room)
    case .ready, .leave, .begin, .proceed, .hold, .cancel, .close, .remove, .match, .unmatch: nil
    }
  }

  /// The keys to enter a room; for `nil` to open one.
  private func keys(toEnter entered: RoomID?) -> RoomKeys {
    let nonce = RoomNonce.random()
    let room = entered ?? .made(owner: signing.key.id, nonce: nonce)
    return RoomKeys(room: room, nonce: nonce, run: .made(room: room, member: signing.key.id))
  }

  /// Does what the desk wants.
  package func carryOut(_ act: HubCore.RoomAct) {
    switch act {
    case .follow(let room, let reading): follow(room, reading)
    case .unfollow(let room):
      set(nil, for: .entries(room))
      set(nil, for: .live(room))
      set(nil, for: .proof(room))
      proofs.withLock { $0[room] = nil }
    case .prove(let room, let reading): prove(room, reading)
    case .append(let content): append(content)
    case .prepare(let ask, let asker): tell(.ask(ask, keys(for: ask), asker))
    case .listen(let room): listen(room)
    case .shout(let live):
      log.shout(signing.signed(live), kind: .standing, room: live.room, author: live.author)
    case .event, .warn: break
    case .seek(let name): read(adverts: name)
    case .key(let room): tell(.keys(keys(toEnter: room)))
    case .advertise(let advert, let name): announce(advert, listedAs: name)
    }
  }

  /// Stops following.
  package func end() {
    let tasks = works.withLock { works in
      defer { works = [:] }
      return works.values
    }
    for task in tasks { task.cancel() }
  }

  private func set(_ task: Task<Void, Never>?, for work: Work) {
    works.withLock { works in
      defer { works[work] = task }
      return works[work]
    }?.cancel()
  }

  /// Hears what the members of a room tell beside the log. What is not its author's is left out.
  private func listen(_ room: RoomID) {
    let task = Task { [log, fleet, tell] in
      // A room without live messages is a room all the same.
      guard let feed = try? await log.listen(room) else { return }
      for await rows in feed {
        for row in rows where row.kind == .standing {
          let live = try? EntrySigning.read(live: row.body, room: room, fleet: fleet, author: row.author)
          if let live { tell(.heard(live, at: row.sent)) }
        }
      }
    }
    set(task, for: .live(room))
  }

  private func follow(_ room: RoomID, _ reading: RoomReading) {
    let task = Task { [weak self] in
      var told: SharedLogError?
      while !Task.isCancelled {
        guard let self else { return }
        do throws(SharedLogError) {
          return await read(try await log.follow(room, from: reading.from), of: room, reading)
        } catch {
          note(error.description, .reading)
          if error != told { tell(.unreachable(room, because: error.description)) }
          told = error
        }
        try? await Task.sleep(for: Self.again)
      }
    }
    set(task, for: .entries(room))
  }

  private func read(_ feed: LogFeed, of room: RoomID, _ reading: RoomReading) async {
    var reader = RoomReader(room: room, fleet: fleet, reading)
    for await news in feed {
      switch news {
      case .rows(let batch):
        trouble.withLock { $0[.reading] = nil }
        let entries = LogStamps.believed(reader.read(batch.rows), by: batch.clock)
        noteLeftOut(batch, entries, of: room)
        tell(.read(room, entries, isEnd: !batch.hasMore, reading: reading.number, heard: batch.heard))
      case .replaced: return tell(.replaced(room, reading: reading.number))
      case .unavailable(let sentence):
        note(sentence, .reading)
        tell(.unreachable(room, because: sentence))
      }
    }
  }

  /// Tells of a time ahead of the log's clock on what is left out, once in a room. Of entries the desk tells it.
  private func noteLeftOut(_ batch: LogBatch, _ entries: [ReadEntry], of room: RoomID) {
    let ahead = batch.rows.filter { LogStamps.isAhead($0.time, of: batch.clock) }.map(\.position)
    guard !Set(ahead).subtracting(entries.map(\.entry.position)).isEmpty else { return }
    guard misdated.withLock({ $0.insert(room).inserted }) else { return }
    complain(
      "room \(room.description.prefix(8)): what is not its author's entry has a time that cannot be true; it is left out"
    )
  }

  /// Compares what a room's log has with what the desk has read. A log that is out of reach is compared the next time.
  private func prove(_ room: RoomID, _ reading: RoomReading) {
    let task = Task { [weak self, log, fleet, tell] in
      var proof = self?.proofs.withLock { $0[room] } ?? RoomProof(room: room, fleet: fleet)
      guard let found = try? await proof.digest(in: log, through: reading.from), !Task.isCancelled else { return }
      self?.proofs.withLock { [proof] in $0[room] = proof }
      tell(.proved(room, reading, found: found))
    }
    set(task, for: .proof(room))
  }

  /// Tells of trouble with the log, once for as long as it lasts.
  private func note(_ sentence: String, _ side: Side) {
    let isNew = trouble.withLock { told in
      defer { told[side] = sentence }
      return !told.values.contains(sentence)
    }
    if isNew { complain("the rooms are out of reach: \(sentence)") }
  }

  // MARK: Adverts

  /// Reads the adverts of a class every second.
  private func read(adverts name: String?) {
    let task = name.map { name in
      Task { [weak self] in
        var reader: AdvertReader?
        while !Task.isCancelled {
          guard let self else { return }
          do throws(SharedLogError) {
            let rows = try await log.adverts([name])
            let time = try await log.now()
            var next = reader ?? AdvertReader(fleet: fleet, listedAs: name)
            let adverts = next.read(rows)
            reader = next
            tell(.adverts(adverts, at: time))
          } catch {
            note(error.description, .reading)
          }
          try? await Task.sleep(for: Self.again)
        }
      }
    }
    set(task, for: .adverts)
  }

  /// Says an advert, or takes back the one before, until the log has it.
  private func announce(_ advert: RoomAdvert?, listedAs name: String) {
    let (bytes, author) = (advert.map { signing.signed($0) }, signing.key.id)
    works.withLock { works in
      let former = works[.announcement]
      former?.cancel()
      works[.announcement] = Task { [weak self] in
        // One after the other, so that the last one stands.
        await former?.value
        while !Task.isCancelled {
          guard let self else { return }
          do throws(SharedLogError) {
            return try await log.announce(bytes, class: name, author: author)
          } catch {
            note(error.description, .writing)
          }
          try? await Task.sleep(for: Self.again)
        }
      }
    }
  }

  private func append(_ content: RoomContent) {
    let entry = Appending(room: content.room, number: content.number)
    guard appending.withLock({ $0.insert(entry).inserted }) else { return }
    let bytes = signing.signed(content)
    Task {
      defer { appending.withLock { _ = $0.remove(entry) } }
      do throws(SharedLogError) {
        try await log.append(bytes, author: content.author, to: content.room)
        trouble.withLock { $0[.writing] = nil }
      } catch {
        // What does not fit never will; everything else is appended again in a second.
        switch error {
        case .full: tell(.refused(content.room, number: content.number))
        case .busy, .unavailable: tell(.unreachable(content.room, because: error.description))
        case .closed: break
        }
        note(error.description, .writing)
      }
    }
  }
}

/// Reads the entries of a room in their order, and leaves out what is not its author's, of this room and of this fleet.
///
/// Whether the log has lost something is the desk's decision.
struct RoomReader {
  let room: RoomID
  let fleet: FleetID
  /// The digest after what was read.
  private(set) var digest = EntryDigest.none
  /// The digest after the entry at a position, where the reading begins; `nil` once that is read.
  private var first: (position: UInt64, digest: LogHash)?

  /// A reader from a place on; without one, from the beginning.
  init(room: RoomID, fleet: FleetID, _ reading: RoomReading? = nil) {
    self.room = room
    self.fleet = fleet
    first = reading.flatMap { reading in reading.digest.map { (reading.from, $0) } }
  }

  /// The next entries.
  mutating func read(_ rows: [LogRow]) -> [ReadEntry] {
    var entries: [ReadEntry] = []
    for row in rows {
      do throws(SignedFault) {
        let signed = try EntrySigning.read(entry: row.body, room: room, fleet: fleet, author: row.author)
        if let known = first, known.position == row.position {
          digest = EntryDigest(count: 0, hash: known.digest)
        } else {
          digest = digest.next(position: row.position, time: row.time, hash: signed.hash)
        }
        first = nil
        entries.append(
          ReadEntry(
            entry: signed.entry(position: row.position, time: row.time), hash: signed.hash, digest: digest.hash))
      } catch {
        // Every reader leaves it out.
        continue
      }
    }
    return entries
  }
}
