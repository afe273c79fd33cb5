import RunCore
import SwiftProtobuf

// What the entries of rooms ask.
extension Codec {
  /// The longest time of a run: a day, and another one for a clock that was wrong or a goal that was exceeded.
  private static let roomElapsedMax = BusDuration.seconds(48 * 3600)
  /// More metres than there are between two places on earth.
  private static let roomMetersMax: UInt32 = 50_000_000
  /// 1,000 km.
  private static let roomDecimetersMax: UInt32 = 10_000_000
  /// The most parts of a record: two sources that this version knows, and two of later ones.
  private static let roomPartsMax = 4

  static func ask(_ ask: RoomAskKind, nonce: RoomNonce?) -> WireRoomContent.OneOf_Ask? {
    switch ask {
    case .open(let terms, let card):
      var open = WireRoomOpen()
      if let nonce { open.nonce = data(nonce) }
      open.terms = message(terms)
      open.card = message(card)
      return .open(open)
    case .enter(let card, let metres, let seek):
      var enter = WireRoomEnter()
      enter.card = message(card)
      if let metres { enter.meters = count(metres) }
      if let seek { enter.seek = message(seek) }
      return .enter(enter)
    case .ready(let isOn): return .ready(isOn)
    case .here(let isOn): return .here(isOn)
    case .leave: return .leave(WireEmpty())
    case .close: return .close(WireEmpty())
    case .begin: return .begin(WireEmpty())
    case .proceed: return .proceed(WireEmpty())
    case .hold: return .hold(WireEmpty())
    case .cancel: return .cancel(WireEmpty())
    case .remove(let who): return .remove(data(who))
    case .stay: return .stay(WireEmpty())
    case .tick: return .tick(WireEmpty())
    case .mark(let mark):
      return .mark(message(mark))
    case .record(let record): return .record(message(record))
    case .unknown: return nil
    }
  }

  /// Whether something in an ask is of a later version. Nothing else in it is checked then, and its entry keeps its
  /// number: left out, it would leave a gap before all later entries of its author.
  static func isUnknown(_ ask: WireRoomContent.OneOf_Ask?) -> Bool {
    switch ask {
    case .open(let open):
      return (open.hasTerms && isUnknown(open.terms)) || isUnknown(open.card.gender)
    case .enter(let enter): return isUnknown(enter.card.gender) || isUnknown(enter.seek.wish)
    case .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick, .mark, .record:
      return false
    case nil: return true
    }
  }

  private static func isUnknown(_ terms: WireRoomTerms) -> Bool {
    switch terms.kind {
    case .opened: false
    case .matched(let matched): isUnknown(matched.seek.wish)
    case nil: true
    }
  }

  private static func isUnknown(_ word: WireRoomGender) -> Bool {
    if case .UNRECOGNIZED = word { true } else { false }
  }

  /// Reads an ask in which nothing is unknown.
  static func value(_ ask: WireRoomContent.OneOf_Ask?) throws(WireError) -> RoomAskKind {
    switch ask {
    case .open(let open):
      guard open.hasTerms, open.hasCard else { throw .malformed("room without terms or card") }
      return .open(try value(open.terms), try value(open.card))
    case .enter(let enter):
      guard enter.hasCard else { throw .malformed("entering without a card") }
      return .enter(
        try value(enter.card), metres: enter.hasMeters ? try meters(enter.meters) : nil,
        seek: enter.hasSeek ? try value(enter.seek) : nil)
    case .ready(let isOn): return .ready(isOn)
    case .here(let isOn): return .here(isOn)
    case .leave: return .leave
    case .close: return .close
    case .begin: return .begin
    case .proceed: return .proceed
    case .hold: return .hold
    case .cancel: return .cancel
    case .remove(let who): return .remove(try bytes32(who, "member"))
    case .stay: return .stay
    case .tick: return .tick
    case .mark(let mark):
      return .mark(try value(mark))
    case .record(let record): return .record(try value(record))
    case nil: return .unknown
    }
  }

  // MARK: Marks and records

  static func message(_ mark: RoomMark) -> WireRoomMark {
    var message = WireRoomMark()
    message.elapsedNs = moment(mark.elapsed)
    message.decimeters = count(mark.decimetres)
    return message
  }

  static func value(_ message: WireRoomMark) throws(WireError) -> RoomMark {
    RoomMark(elapsed: try roomElapsed(message.elapsedNs), decimetres: try decimeters(message.decimeters))
  }

  static func message(_ record: RoomRecord) -> WireRoomRecord {
    var message = WireRoomRecord()
    message.version = record.version
    if let decimetres = record.decimetres { message.decimeters = count(decimetres) }
    message.elapsedNs = moment(record.elapsed)
    message.finished = record.isFinished
    message.parts = record.parts.prefix(roomPartsMax).map { part in
      var message = WireRoomPart()
      message.source = word(part.source)
      message.meters = count(part.metres)
      return message
    }
    message.run = data(record.run)
    return message
  }

  static func value(_ message: WireRoomRecord) throws(WireError) -> RoomRecord {
    guard message.version >= 1 else { throw .malformed("version of a record is missing") }
    guard message.parts.count <= roomPartsMax else { throw .malformed("more than \(roomPartsMax) parts of a record") }
    var parts: [RoomRecord.Part] = []
    for part in message.parts {
      let source = source(part.source)
      // Two sources of later versions are both unknown here.
      guard source == .unknown || !parts.contains(where: { $0.source == source }) else {
        throw .malformed("two parts of a record have one source")
      }
      parts.append(RoomRecord.Part(source: source, metres: try meters(part.meters)))
    }
    return RoomRecord(
      version: message.version, decimetres: message.hasDecimeters ? try decimeters(message.decimeters) : nil,
      elapsed: try roomElapsed(message.elapsedNs), isFinished: message.finished, parts: parts,
      run: try identifier(message.run, "run id"))
  }

  // MARK: Numbers

  private static func meters(_ value: UInt32) throws(WireError) -> Int {
    guard value <= roomMetersMax else { throw .malformed("a distance of more than \(roomMetersMax) m") }
    return Int(value)
  }

  static func decimeters(_ value: UInt32) throws(WireError) -> Int {
    guard value <= roomDecimetersMax else { throw .malformed("a distance of more than \(roomDecimetersMax) dm") }
    return Int(value)
  }

  static func roomElapsed(_ nanoseconds: Int64) throws(WireError) -> BusDuration {
    try roomSpan(nanoseconds, "time of a run", in: .zero...roomElapsedMax)
  }

  static func roomSpan(
    _ nanoseconds: Int64, _ name: String, in bounds: ClosedRange<BusDuration>
  ) throws(WireError) -> BusDuration {
    let span = BusDuration(nanoseconds: nanoseconds)
    guard bounds.contains(span) else { throw .malformed("\(name) is out of range") }
    return span
  }
}
