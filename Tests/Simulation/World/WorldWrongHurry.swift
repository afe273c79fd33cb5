import RunCore

// Wrong members that are faster than any device, and what that may come to.
extension World {
  /// Much more of one thing than a paired device may do at once.
  mutating func hurry(_ member: Int) {
    let place = voice(of: member)
    let kind = Int.random(in: 0..<17, using: &random)
    // Rare, because the key is shut out for ten minutes then.
    if kind == 16 { return burden() }
    switch kind % 4 {
    case 0:
      // One connection, and ever new stores, or one store again and again: a key has no more than its share of stores.
      tally.count("hurry: hellos")
      let isNew = chance(50)
      for _ in 0..<150 {
        if isNew {
          (self[place].store, self[place].next) = (wrong.identifier(), [:])
          self[place].lastVerdict = 0
        }
        greet(place)
      }
    case 1:
      tally.count("hurry: readings")
      for _ in 0..<8 {
        var samples: [SampleTransmission] = []
        for _ in 0..<100 { samples.append(someSample(self[place].place(.samples))) }
        say(.samples(samples), by: place)
      }
    case 2:
      tally.count("hurry: questions")
      let questions: [PeerMessage] = [
        .query, .inquire(.report), .inquire(.series), .inquire(.route(from: 0)), .inquire(.records(from: 0)),
        .fetchRecord(RecordFetch(after: 0, from: 0)),
      ]
      for _ in 0..<900 { say(questions.randomElement(using: &random)!, by: place) }
    default:
      tally.count("hurry: messages")
      for _ in 0..<400 { say(someValue(key: "hurry"), by: place) }
    }
  }

  /// Burdens the hub's transport more than a key may. That shuts out this key, and no other one.
  private mutating func burden() {
    guard hub.core != nil, isHungUntil(.hub) <= now else { return }
    tally.count("hurry: burdens")
    var expected = owner.admitted
    if case .key(let key) = wrong.identity { expected.remove(key) }
    for (burden, kind) in [(ConnectionBurden.unknownTopic, PacedKind.unknownTopics), (.manyParts, .manyParts)] {
      for _ in 0...kind.burst { feedHub(.burden(burden, by: wrong.identity)) }
    }
    if owner.admitted != expected { faults.append("burdens of one key shut out another, or not their own") }
  }

  /// Whether the hub reads a frame of this identity, as its driver asks before it decodes one.
  mutating func readsFrame(ofBytes count: Int, by identity: ConnectionIdentity) -> Bool {
    let time = hub.busClock.bus(at: hubNow)
    return hub.core?.readsFrame(ofBytes: count, by: identity, at: time) ?? true
  }

  /// Checks that a key gets answers at its pace: within ten seconds not more than at once and ten times what comes each
  /// second, with room for what was on its way. Answers of an earlier life of the hub may still arrive.
  mutating func noteAnswer(to kind: PacedKind) {
    guard case .key = wrong.identity else { return }
    var (life, times) = wrong.paced[kind] ?? (hub.life, [])
    if life != hub.life { (life, times) = (hub.life, []) }
    times = times.filter { now - $0 < .seconds(10) } + [now]
    wrong.paced[kind] = (life, times)
    let most = 2 * kind.burst + Int(kind.perSecond) * 10 + 5
    if times.count > most { faults.append("a key gets answers to more than \(most) \(kind.rawValue) in ten seconds") }
  }
}
