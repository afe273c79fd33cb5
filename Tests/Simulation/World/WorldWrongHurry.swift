import RunCore

// Wrong members that are faster than any device, and what that may come to.
extension World {
  /// Much more of one thing than a paired device may do at once.
  mutating func hurry(_ member: Int) {
    let place = voice(of: member)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      // One connection, and ever new stores.
      tally.count("hurry: hellos")
      for _ in 0..<150 {
        (self[place].store, self[place].next) = (wrong.identifier(), [:])
        self[place].lastVerdict = 0
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
