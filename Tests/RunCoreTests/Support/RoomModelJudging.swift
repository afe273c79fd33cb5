@testable import RunCore

/// How the model judges an entry: the table of the rules, line by line.
extension RoomModel {
  /// A reason to refuse: whether it applies, and which it is.
  private typealias Reason = (applies: Bool, refusal: RoomRefusal)

  // MARK: Numbers

  mutating func answer(to entry: RoomEntry) -> Folded {
    let own = heard.filter { $0.entry.author == entry.author && $0.isJudged }
    if entry.number > 600 || own.isEmpty && !hasRoomForStranger(entry.author) { return .leftOut }
    if entry.number == 0 || entry.number > UInt64(own.count) + 1 { return .gap }
    if let before = own.first(where: { $0.entry.number == entry.number }) {
      if case .verdict(let verdict) = before.answer, verdict != .rejected(.tooMany) { return .known(verdict) }
      return .known(nil)
    }
    if let refusal = refusal(of: entry) { return .verdict(.rejected(refusal)) }
    return .verdict(effect(of: entry))
  }

  /// Whether the author has ever had a place.
  private func everCame(_ author: MemberID) -> Bool {
    facts.contains { if case .came(author, _, _) = $0.fact { true } else { false } }
  }

  private func hasRoomForStranger(_ author: MemberID) -> Bool {
    // Looked at only when there may be too many, because it takes long.
    guard heard.count >= 1024, !everCame(author) else { return true }
    return Set(heard.filter(\.isJudged).map(\.entry.author)).filter { !everCame($0) }.count < 1024
  }

  /// Whether the author has read another history than this one.
  func statesOtherHistory(_ entry: RoomEntry) -> Bool {
    let seen = entry.seen
    if seen.count == 0 { return false }
    if seen.count > UInt64(heard.count) { return true }
    if heard.count - Int(seen.count) >= 4096 { return false }
    return heard[Int(seen.count) - 1].digest != seen.digest
  }

  // MARK: Refusals

  private func refusal(of entry: RoomEntry) -> RoomRefusal? {
    (reasonsOfAll(entry) + reasons(entry)).first { $0.applies }?.refusal
  }

  /// The refusals that come before those of the kind.
  private func reasonsOfAll(_ entry: RoomEntry) -> [Reason] {
    let isExempt: Bool
    switch entry.ask {
    case .leave, .record: isExempt = true
    default: isExempt = false
    }
    let isOver: Bool
    switch stage {
    case .over, .cancelled: isOver = true
    default: isOver = false
    }
    return [
      (entry.number > (everCame(entry.author) ? 512 : 16) && !isExempt, .tooMany),
      (isOver, .over),
      (stage == .none && !entry.ask.isOpen, .unknownRoom),
      (stage != .none && entry.ask.isOpen, .known),
      (stage != .none && !roster.contains(entry.author) && !entry.ask.isEnter, .notIn),
      (entry.ask == .unknown, .unsupported),
    ]
  }

  /// The refusals of a row of the table, in the order given there.
  private func reasons(_ entry: RoomEntry) -> [Reason] {
    let isMatched = isMatched
    let isOwner = !isMatched && roster.first == entry.author
    let isRecruiting = stage == .recruiting
    let isGathering = stage == .gathering
    var isFrozen = false
    var isCounting = false
    var isOn = false
    switch stage {
    case .countdown(let start):
      isCounting = true
      isFrozen = now >= start - .seconds(1)
    case .running, .settling: isOn = true
    default: break
    }

    switch entry.ask {
    case .open(let terms, _): return [(!entry.ownsRoom, .notYours), (terms.rules != 1, .unsupported)]
    case .enter(let card, let metres, let seek):
      // Before the room is open the entry is refused anyway.
      guard let terms else { return [] }
      return [
        (roster.contains(entry.author), .alreadyIn), (!isRecruiting, .notRecruiting),
        (barred.contains(entry.author), .barred), (terms.circle != nil && terms.circle != card.circle, .otherCircle),
        (terms.start != nil && (metres ?? .max) > 1000, .tooFar(metres: metres)),
      ] + misfits(card, seek) + [(roster.count >= terms.places, .full)]
    case .ready(let on):
      return [(!isRecruiting, .notRecruiting), (on && isMatched && roster.count < 2, .tooFew)]
    case .begin:
      let missing = roster.filter { !isReady($0) }
      return [
        (!isOwner, .notOwner), (!isRecruiting, .notRecruiting), (roster.count < 2, .tooFew),
        (!missing.isEmpty, .notReady(missing)),
      ]
    case .here: return [(!isGathering, .notGathering)]
    case .proceed:
      let missing = roster.filter { !isHere($0) }
      return [(!isOwner, .notOwner), (!isGathering, .notGathering), (!missing.isEmpty, .notHere(missing))]
    case .hold: return [(!isCounting, .notCounting), (isFrozen, .tooLate)]
    case .leave: return [(isFrozen, .tooLate), (isOn, .alreadyRunning)]
    case .remove(let who):
      return [
        (!isOwner, .notOwner), (!isRecruiting && !isGathering, .notRecruiting), (!roster.contains(who), .notIn),
      ]
    case .close: return [(!isMatched, .unsupported), (!isRecruiting, .notRecruiting), (roster.count > 1, .matched)]
    case .cancel: return [(!isOwner, .notOwner), (isFrozen || isOn, .tooLate)]
    case .mark(let mark):
      return [(!isOn, .notRunning), (isImplausible(mark.decimetres, in: mark.elapsed), .implausible)]
    case .record(let record):
      return [(!isOn, .notRunning), (isImplausible(record.decimetres, in: record.elapsed), .implausible)]
    case .stay, .tick, .unknown: return []
    }
  }

  /// What does not fit between one who seeks and the one who is there.
  private func misfits(_ card: RoomCard, _ seek: Seek?) -> [Reason] {
    guard case .matched(_, let left) = terms!.kind, roster.count == 1, let there = roster.first else { return [] }
    let allowed = now >= openedAt! + BusDuration(nanoseconds: left.nanoseconds / 2) ? 1 : 0
    let member = self.card(there)!
    let pleasesMember = [nil, card.gender].contains(self.seek(there)?.wish)
    let pleasesEntrant = [nil, member.gender].contains(seek?.wish)
    return [
      (seek?.goal != terms!.goal, .unfit(.goal)),
      (!pleasesMember || !pleasesEntrant, .unfit(.gender)),
      (abs(card.level - member.level) > allowed, .unfit(.level)),
    ]
  }

  /// More than 10 m/s: more than 1 dm in 10,000,000 ns.
  private func isImplausible(_ decimetres: Int?, in elapsed: BusDuration) -> Bool {
    guard let decimetres, let goal = terms?.goal else { return false }
    let nanoseconds = min(elapsed, goal).nanoseconds
    let (high, low) = Int64(decimetres).multipliedFullWidth(by: 10_000_000)
    return (high, low) > (nanoseconds < 0 ? -1 : 0, UInt64(bitPattern: nanoseconds))
  }

  // MARK: Effects

  private mutating func effect(of entry: RoomEntry) -> RoomVerdict {
    let author = entry.author
    func note(_ facts: Fact...) { for fact in facts { self.note(fact, at: now) } }

    switch entry.ask {
    case .open(let terms, let card):
      var seek: Seek?
      if case .matched(let own, _) = terms.kind { seek = own }
      note(.opened(terms), .came(author, card, seek), .stage(.recruiting))
      return .opened
    case .enter(let card, _, let seek):
      note(.came(author, card, seek))
      if isMatched { note(.nobodyReady) }
      return .entered
    case .ready(let on):
      note(.ready(author, on))
      if isMatched, roster.count == 2, roster.allSatisfy(isReady) { note(.stage(countdown)) }
      return .noted
    case .begin:
      if terms!.start == nil { note(.stage(countdown)) } else { note(.nobodyHere, .stage(.gathering)) }
      return .begun
    case .proceed:
      note(.stage(countdown))
      return .begun
    case .here(let on):
      note(.here(author, on))
      return .noted
    case .hold:
      note(.held)
      goBack(at: now)
      return .held
    case .leave:
      go([author], at: now)
      return .left
    case .remove(let who):
      note(.barred(who))
      go([who], at: now)
      return .removed
    case .close:
      note(.stage(.cancelled(.closed)))
      return .closed
    case .cancel:
      note(.stage(.cancelled(.owner)))
      return .cancelled
    case .mark(let mark):
      note(.marked(author, mark))
      return .noted
    case .record(let record):
      note(.recorded(author, record))
      if case .running(let start) = stage, roster.allSatisfy({ self.record($0)?.isFinished == false }) {
        note(.stage(.settling(startsAt: start, endedAt: now)))
      }
      return .noted
    case .stay, .tick, .unknown: return .noted
    }
  }

  /// The countdown that begins now.
  private var countdown: RoomStage { .countdown(startsAt: now + terms!.countdown) }
}

extension RoomAskKind {
  fileprivate var isOpen: Bool { if case .open = self { true } else { false } }
  fileprivate var isEnter: Bool { if case .enter = self { true } else { false } }
}
