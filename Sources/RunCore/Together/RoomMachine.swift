/// Folds the log of a room: every hub that has read the same entries has the same room (docs/together.md, "Rules").
///
/// ``apply(_:digest:)`` judges an entry. Time passes only in it and in ``advance(to:)``, by the log's clock, so that a fold
/// does not depend on when it is made.
///
/// ```swift
/// var room = RoomMachine()
/// let folded = room.apply(entry, digest: digest)
/// if case .verdict(.rejected(let reason)) = folded { … }
/// ```
package struct RoomMachine: Hashable, Sendable {
  /// How many entries of a member are judged, and how many of a stranger.
  package static let (memberEntriesMax, strangerEntriesMax): (UInt64, UInt64) = (512, 16)
  /// How many entries of an author are read at all; the logs take no more.
  package static let numberMax: UInt64 = 600
  /// How many strangers are followed.
  package static let strangersMax = 1024
  /// Of how many entries the digests are kept.
  package static let digestsMax = 4096
  /// How far from the start a runner may be who enters.
  package static let metresMax = 1000

  /// What is known of an author.
  private struct Author: Hashable {
    /// The last number that was used up.
    var used: UInt64 = 0
    /// The verdicts by number; `nil` for one that is not kept.
    var verdicts: [RoomVerdict?] = []
    var hadPlace = false
  }

  /// The room as it stands.
  package private(set) var state = RoomState()
  /// What the last call of ``apply(_:digest:)`` or ``advance(to:)`` brought, in order.
  package private(set) var events: [RoomEvent] = []
  private var authors: [MemberID: Author] = [:]
  private var strangers = 0
  private var clocks = RoomClocks()
  /// Whom the members of a matched room seek.
  private var seeks: [MemberID: Seek] = [:]
  /// How many entries were applied, and the beginnings of the digests after the last ones.
  private var (count, digests): (UInt64, [UInt64]) = (0, [])

  /// A room of whose log nothing was read yet.
  package init() {}

  /// How many entries were applied.
  package var entryCount: UInt64 { count }

  /// The next number of an author that is judged.
  package func nextNumber(of author: MemberID) -> UInt64 { (authors[author]?.used ?? 0) + 1 }

  /// The verdict of an author's entry, if it was judged and its verdict is kept.
  package func verdict(of author: MemberID, number: UInt64) -> RoomVerdict? {
    guard let kept = authors[author]?.verdicts, number > 0, number <= UInt64(kept.count) else { return nil }
    return kept[Int(number - 1)]
  }

  // MARK: Entries

  /// Applies the next entry of the log.
  ///
  /// - Parameters:
  ///   - entry: The entry; its reader has checked the signature.
  ///   - digest: The digest of the log after it.
  /// - Returns: What became of it.
  package mutating func apply(_ entry: RoomEntry, digest: LogHash) -> Folded {
    events = []
    pass(to: entry.time)
    defer { note(digest) }
    return fold(entry)
  }

  private mutating func fold(_ entry: RoomEntry) -> Folded {
    guard entry.number <= Self.numberMax else { return .leftOut }
    let author = authors[entry.author]
    if author == nil, strangers >= Self.strangersMax { return .leftOut }
    let used = author?.used ?? 0
    if entry.number > 0, entry.number <= used { return .known(verdict(of: entry.author, number: entry.number)) }
    guard entry.number == used + 1 else { return .gap }

    let isOver = entry.number > (author?.hadPlace == true ? Self.memberEntriesMax : Self.strangerEntriesMax)
    let isTooMany = isOver && !entry.ask.isAlwaysJudged
    let wasIn = state.member(entry.author) != nil
    let verdict = isTooMany ? .rejected(.tooMany) : judge(entry)
    use(entry, isTooMany ? nil : verdict)
    let isIn = state.member(entry.author) != nil
    if isIn { clocks.signs[entry.author] = state.time }
    // Who reads another history may well leave for it.
    if wasIn || isIn { check(entry.seen, of: entry.author) }
    // What began to hold in the past.
    pass(to: state.time)
    return .verdict(verdict)
  }

  /// Uses up an entry's number.
  private mutating func use(_ entry: RoomEntry, _ verdict: RoomVerdict?) {
    if authors[entry.author] == nil { strangers += 1 }
    authors[entry.author, default: Author()].used = entry.number
    let hasPlace = state.member(entry.author) != nil
    if hasPlace, authors[entry.author]?.hadPlace == false {
      authors[entry.author]?.hadPlace = true
      strangers -= 1
    }
    guard let verdict, var kept = authors[entry.author]?.verdicts else { return }
    while UInt64(kept.count) < entry.number - 1 { kept.append(nil) }
    kept.append(verdict)
    authors[entry.author]?.verdicts = kept
  }

  private mutating func judge(_ entry: RoomEntry) -> RoomVerdict {
    let stage = state.stage
    if stage.isEnd { return .rejected(.over) }
    if case .open(let terms, let card) = entry.ask {
      return stage == .none ? open(terms, card, entry) : .rejected(.known)
    }
    guard stage != .none, let terms = state.terms else { return .rejected(.unknownRoom) }
    if case .enter(let card, let metres, let seek) = entry.ask {
      return enter(entry.author, card, metres, seek, terms)
    }
    guard state.member(entry.author) != nil else { return .rejected(.notIn) }
    let isOwner = !terms.isMatched && state.owner == entry.author
    return switch entry.ask {
    case .open, .enter: .rejected(.known)
    case .ready(let isReady): ready(isReady, entry.author, terms)
    case .here(let isHere): here(isHere, entry.author)
    case .begin: isOwner ? begin(terms) : .rejected(.notOwner)
    case .proceed: isOwner ? proceed(terms) : .rejected(.notOwner)
    case .hold: hold()
    case .leave: leave(entry.author)
    case .remove(let who): isOwner ? remove(who) : .rejected(.notOwner)
    case .close: close(terms)
    case .cancel: isOwner ? cancel() : .rejected(.notOwner)
    case .mark(let mark): keep(mark, of: entry.author, terms)
    case .record(let record): keep(record, of: entry.author, terms)
    case .stay, .tick: .noted
    case .unknown: .rejected(.unsupported)
    }
  }

  private mutating func open(_ terms: RoomTerms, _ card: RoomCard, _ entry: RoomEntry) -> RoomVerdict {
    guard entry.ownsRoom else { return .rejected(.notYours) }
    guard terms.rules == RoomTerms.rules else { return .rejected(.unsupported) }
    state.terms = terms
    if case .matched(let seek, _) = terms.kind { seeks[entry.author] = seek }
    clocks.openedAt = state.time
    clocks.aloneAt = state.time
    go(to: .recruiting)
    add(entry.author, card)
    state.owner = entry.author
    return .opened
  }

  private mutating func enter(
    _ author: MemberID, _ card: RoomCard, _ metres: Int?, _ seek: Seek?, _ terms: RoomTerms
  ) -> RoomVerdict {
    if state.member(author) != nil { return .rejected(.alreadyIn) }
    guard state.stage == .recruiting else { return .rejected(.notRecruiting) }
    if state.barred.contains(author) { return .rejected(.barred) }
    if let circle = terms.circle, card.circle != circle { return .rejected(.otherCircle) }
    if terms.start != nil, metres.map({ $0 > Self.metresMax }) ?? true { return .rejected(.tooFar(metres: metres)) }
    if let unfit = unfit(card, seek, terms) { return .rejected(.unfit(unfit)) }
    guard state.members.count < terms.places else { return .rejected(.full) }
    if terms.isMatched {
      for place in state.members.indices { state.members[place].isReady = false }
      seeks[author] = seek
    }
    add(author, card)
    if state.members.count == 2 {
      clocks.pairAt = state.time
      clocks.readyFrom = state.time
    }
    return .entered
  }

  private mutating func add(_ author: MemberID, _ card: RoomCard) {
    state.members.append(RoomState.Member(id: author, card: card))
    events.append(.entered(author))
  }

  /// What does not fit between the one who waits in a matched room and the one who comes.
  private func unfit(_ card: RoomCard, _ seek: Seek?, _ terms: RoomTerms) -> RoomRefusal.Unfit? {
    guard case .matched(_, let left) = terms.kind, state.members.count == 1, let other = state.members.first,
      let wish = seeks[other.id]
    else { return nil }
    let isLate = state.time >= clocks.openedAt + BusDuration(nanoseconds: left.nanoseconds / 2)
    return SeekFit.unfit(
      (card, seek), (other.card, Seek(goal: terms.goal, wish: wish.wish)), levelDifference: isLate ? 1 : 0)
  }

  private mutating func ready(_ isReady: Bool, _ author: MemberID, _ terms: RoomTerms) -> RoomVerdict {
    guard state.stage == .recruiting else { return .rejected(.notRecruiting) }
    if terms.isMatched, isReady, state.members.count < 2 { return .rejected(.tooFew) }
    change(author) { $0.isReady = isReady }
    events.append(.ready(author, isReady))
    if terms.isMatched, state.notReady.isEmpty { countDown(terms) }
    return .noted
  }

  private mutating func begin(_ terms: RoomTerms) -> RoomVerdict {
    guard state.stage == .recruiting else { return .rejected(.notRecruiting) }
    guard state.members.count >= 2 else { return .rejected(.tooFew) }
    guard state.notReady.isEmpty else { return .rejected(.notReady(state.notReady)) }
    if terms.start == nil { countDown(terms) } else { go(to: .gathering) }
    return .begun
  }

  private mutating func here(_ isHere: Bool, _ author: MemberID) -> RoomVerdict {
    guard state.stage == .gathering else { return .rejected(.notGathering) }
    change(author) { $0.isHere = isHere }
    events.append(.here(author, isHere))
    return .noted
  }

  private mutating func proceed(_ terms: RoomTerms) -> RoomVerdict {
    guard state.stage == .gathering else { return .rejected(.notGathering) }
    guard state.notHere.isEmpty else { return .rejected(.notHere(state.notHere)) }
    countDown(terms)
    return .begun
  }

  private mutating func countDown(_ terms: RoomTerms) { go(to: .countdown(startsAt: state.time + terms.countdown)) }

  private mutating func hold() -> RoomVerdict {
    guard case .countdown(let startsAt) = state.stage else { return .rejected(.notCounting) }
    guard state.time < startsAt - RoomClocks.freeze else { return .rejected(.tooLate) }
    go(to: .recruiting)
    clocks.readyFrom = state.time
    return .held
  }

  private mutating func leave(_ author: MemberID) -> RoomVerdict {
    if let refusal = state.stage.refusesLeaving(at: state.time) { return .rejected(refusal) }
    depart(author, .left)
    return .left
  }

  private mutating func remove(_ who: MemberID) -> RoomVerdict {
    guard state.stage.isOpenToRemoval else { return .rejected(.notRecruiting) }
    guard state.member(who) != nil else { return .rejected(.notIn) }
    state.barred.insert(who)
    depart(who, .removed)
    return .removed
  }

  private mutating func close(_ terms: RoomTerms) -> RoomVerdict {
    guard terms.isMatched else { return .rejected(.unsupported) }
    guard state.stage == .recruiting else { return .rejected(.notRecruiting) }
    guard state.members.count < 2 else { return .rejected(.matched) }
    go(to: .cancelled(.closed))
    return .closed
  }

  private mutating func cancel() -> RoomVerdict {
    guard state.stage.refusesLeaving(at: state.time) == nil else { return .rejected(.tooLate) }
    go(to: .cancelled(.owner))
    return .cancelled
  }

  private mutating func keep(_ mark: RoomMark, of author: MemberID, _ terms: RoomTerms) -> RoomVerdict {
    guard state.stage.takesRecords else { return .rejected(.notRunning) }
    guard min(mark.elapsed, terms.goal).isEnough(toRun: mark.decimetres) else { return .rejected(.implausible) }
    change(author) { member in
      if member.mark.map({ $0.elapsed < mark.elapsed }) ?? true { member.mark = mark }
    }
    return .noted
  }

  private mutating func keep(_ record: RoomRecord, of author: MemberID, _ terms: RoomTerms) -> RoomVerdict {
    guard state.stage.takesRecords else { return .rejected(.notRunning) }
    guard min(record.elapsed, terms.goal).isEnough(toRun: record.decimetres) else { return .rejected(.implausible) }
    guard state.member(author)?.record.map({ $0.version < record.version }) ?? true else { return .noted }
    change(author) { $0.record = record }
    events.append(.recorded(author))
    if case .running(let startsAt) = state.stage, state.members.allSatisfy({ $0.record?.isFinished == false }) {
      go(to: .settling(startsAt: startsAt, endedAt: state.time))
    }
    return .noted
  }

  private mutating func change(_ id: MemberID, _ body: (inout RoomState.Member) -> Void) {
    guard let place = state.members.firstIndex(where: { $0.id == id }) else { return }
    body(&state.members[place])
  }

  // MARK: Stages and places

  private mutating func go(to stage: RoomStage) {
    state.stage = stage
    if stage == .recruiting || stage == .gathering {
      for place in state.members.indices {
        state.members[place].isHere = false
        if stage == .recruiting { state.members[place].isReady = false }
      }
    }
    events.append(.stage(stage))
  }

  private mutating func depart(_ who: MemberID, _ how: RoomEvent.Departure) {
    state.members.removeAll { $0.id == who }
    seeks[who] = nil
    clocks.signs[who] = nil
    events.append(.departed(who, how))
    let next = state.members.first?.id
    if state.owner == who {
      state.owner = next
      if let next { events.append(.owner(next)) }
    }
    if state.members.isEmpty { return go(to: .cancelled(.left)) }
    if state.members.count == 1 { clocks.aloneAt = state.time }
    switch state.stage {
    case .countdown: go(to: .recruiting)
    case .gathering where state.members.count < 2: go(to: .recruiting)
    case .none, .recruiting, .gathering, .running, .settling, .over, .cancelled: break
    }
  }

  // MARK: Time

  /// Lets the log's time pass. Idempotent; earlier moments change nothing.
  ///
  /// What is due by one's own estimate of the log's time is provisional until an entry at or after it was read: advance a
  /// copy.
  package mutating func advance(to time: LogTime) {
    events = []
    pass(to: time)
  }

  /// When time alone changes something next; `nil` when it never does.
  package var deadline: LogTime? { clocks.due(state)?.at }

  private mutating func pass(to time: LogTime) {
    while let (at, rule) = clocks.due(state), at <= max(time, state.time) {
      state.time = at
      switch rule {
      case .silent(let who): depart(who, .gone)
      case .notReady:
        for who in state.notReady where !state.stage.isEnd { depart(who, .gone) }
      case .nobodyCame: go(to: .cancelled(state.terms?.isMatched == true ? .nobodyFound : .nobodyCame))
      case .stage(let stage): go(to: stage)
      }
    }
    state.time = max(state.time, time)
  }

  // MARK: History

  private mutating func note(_ digest: LogHash) {
    count += 1
    digests.append(digest.prefix)
    // In larger pieces, because the rest moves.
    if digests.count >= 2 * Self.digestsMax { digests.removeFirst(Self.digestsMax) }
  }

  /// Compares what a member says to have read with what was read here.
  private mutating func check(_ seen: Seen, of author: MemberID) {
    guard seen.count > 0, !state.disputes.contains(author) else { return }
    if seen.count <= count {
      let back = count - seen.count
      guard back < UInt64(min(digests.count, Self.digestsMax)) else { return }
      if digests[digests.count - 1 - Int(back)] == seen.digest { return }
    }
    state.disputes.insert(author)
    events.append(.disputed(author))
  }

  // MARK: Invariants

  /// What is wrong with the machine; `nil` when everything that always holds does.
  package func check() -> String? {
    let ids = state.members.map(\.id)
    if Set(ids).count != ids.count { return "a member is in the roster twice" }
    if !state.barred.isDisjoint(with: ids) { return "a member is barred" }
    if let terms = state.terms, ids.count > terms.places { return "more members than places" }
    if (state.terms == nil) != (state.stage == .none) { return "terms and stage do not belong together" }
    if let owner = state.owner {
      if ids.first != owner { return "the owner is not the longest there" }
    } else if !ids.isEmpty {
      return "a room with members has no owner"
    }
    if strangers != authors.values.count(where: { !$0.hadPlace }) { return "strangers are counted wrong" }
    if ids.contains(where: { authors[$0]?.hadPlace != true }) { return "a member counts as a stranger" }
    switch state.stage {
    case .none, .cancelled: return nil
    case .recruiting: return ids.isEmpty ? "an open room is empty" : nil
    case .gathering, .countdown:
      if ids.count < 2 { return "fewer than two gather or count down" }
      if !state.notReady.isEmpty { return "somebody is not ready" }
      if case .countdown = state.stage, state.terms?.start != nil, !state.notHere.isEmpty {
        return "somebody is not at the start"
      }
      return nil
    case .running, .settling, .over: return ids.count < 2 ? "fewer than two run" : nil
    }
  }
}
