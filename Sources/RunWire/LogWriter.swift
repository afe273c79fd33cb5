import RunCore

/// Writes a commit of a log as the schema's `StoredCommit`, field by field: a press waits for it, and building the
/// library's messages took half of the time. `CodecLogTests` compares its bytes with the library's.
struct LogWriter {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(1024) }

  /// The numbers of the fields of a `StoredOperation`.
  private enum Field: UInt8 {
    case kind = 1
    case id, other, stream, sequence, through, time, name, value, tries, uncertain, bus
  }

  /// Writes an operation; `false` when it has no form, and the bytes are of no use then.
  mutating func put(_ operation: StoreOperation) -> Bool {
    bytes.append(1 << 3 | 2)
    let place = bytes.count
    // Most operations are longer than 127 bytes or shorter by far; what is shorter moves by a byte.
    bytes.append(0)
    bytes.append(0)
    guard fields(of: operation) else { return false }
    let length = bytes.count - place - 2
    if length < 1 << 7 {
      bytes[place] = UInt8(length)
      bytes.remove(at: place + 1)
    } else if length < 1 << 14 {
      bytes[place] = UInt8(truncatingIfNeeded: length) | 0x80
      bytes[place + 1] = UInt8(length >> 7)
    } else {
      var more: [UInt8] = []
      Self.put(UInt64(length), into: &more)
      bytes.replaceSubrange(place..<place + 2, with: more)
    }
    return true
  }

  /// Writes the other fields of the commit.
  mutating func end(wallSeconds: Double, bootID: String) {
    if wallSeconds != 0 {
      bytes.append(2 << 3 | 1)
      withUnsafeBytes(of: wallSeconds.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }
    if !bootID.isEmpty {
      bytes.append(3 << 3 | 2)
      Self.put(UInt64(bootID.utf8.count), into: &bytes)
      bytes.append(contentsOf: bootID.utf8)
    }
  }

  private mutating func fields(of operation: StoreOperation) -> Bool {
    switch operation {
    case .accept(let press, let admission): put(.accept, Codec.stored(press, admission))
    case .claim(let command, let store):
      put(.claim, command)
      put(.other, store)
    case .judge(let verdict, let press, let judgedAt):
      put(.judge, Codec.stored(verdict, of: press, judgedAt: judgedAt))
    case .setWatermark(let stream, let mark):
      put(.setWatermark, stream.sender)
      if let id = mark.id { put(.other, id) }
      put(.stream, number: Self.number(of: stream.kind))
      put(.sequence, number: mark.sequence)
    case .append(let run, let entry):
      put(.append, run)
      put(.sequence, number: entry.position)
      if case .sample(_, let device) = entry.event { put(.name, bytes: device.rawValue.utf8) }
      put(.value, bytes: Codec.stored(entry.event, at: entry.time, device: 0))
    case .settle(let window): put(.settle, Codec.stored(window))
    case .setAlias(let alias, let run):
      put(.setAlias, alias)
      put(.other, run)
    case .endJournal(let run, let moment):
      put(.endJournal, run)
      put(.time, moment)
    case .setClock(let real, let bus):
      put(.setClock)
      put(.time, real)
      put(.bus, bus)
    case .setView(let view): put(.setView, Codec.stored(view))
    case .setFailureMark(let mark): put(.setFailureMark, Codec.stored(mark))
    case .enqueue(let row):
      put(.enqueue, row.stream, sequence: row.sequence)
      put(.time, row.since)
      if let item = row.item { put(.value, bytes: Codec.stored(item)) }
      put(.tries, number: UInt64(row.tries))
      put(.uncertain, number: row.isUncertain ? 1 : 0)
    case .acknowledge(let stream, let through):
      put(.acknowledge, stream, sequence: 0)
      put(.through, number: through)
    case .remove(let stream, let sequence): put(.remove, stream, sequence: sequence)
    case .tombstone(let stream, let sequence): put(.tombstone, stream, sequence: sequence)
    case .countTries(let stream, let first, let last):
      put(.countTries, stream, sequence: first)
      put(.through, number: last)
    case .quarantine(let quarantined):
      put(.quarantine)
      put(.time, quarantined.since)
      put(.value, bytes: Codec.stored(quarantined))
    case .setLatest(let row): put(.setLatest, Codec.stored(row))
    case .receiveLatest(let row): put(.receiveLatest, Codec.stored(row))
    case .setTerm, .reclassify, .forgetStream, .forgetVerdicts, .expectRecord, .forgetExpected, .keepRecord, .dateRun,
      .dropJournal, .setUnanswered, .discard, .editRecord, .removeRecord, .skipChanges, .setRecordsThrough, .setStoreID,
      .setHub, .meet, .forgetDevice, .own, .disown, .pair, .unpair, .setMemberVersion, .renumber, .drop, .shiftRows,
      .unquarantine, .keepRoom, .forgetRoom:
      return false
    }
    return true
  }

  // MARK: Fields

  private mutating func put(_ kind: WireStoredOperationKind) { put(.kind, number: UInt64(kind.rawValue)) }

  private mutating func put(_ kind: WireStoredOperationKind, _ value: [UInt8]) {
    put(kind)
    put(.value, bytes: value)
  }

  private mutating func put<Kind>(_ kind: WireStoredOperationKind, _ id: Identifier<Kind>) {
    put(kind)
    put(.id, id)
  }

  private mutating func put(_ kind: WireStoredOperationKind, _ stream: OutboundStreamID, sequence: UInt64) {
    put(kind, stream.receiver)
    put(.stream, number: Self.number(of: stream.kind))
    put(.sequence, number: sequence)
  }

  private mutating func put<Kind>(_ field: Field, _ id: Identifier<Kind>) {
    bytes.append(field.rawValue << 3 | 2)
    bytes.append(16)
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes.append(contentsOf: $0) }
  }

  private mutating func put(_ field: Field, _ moment: BusTime) {
    put(field, number: UInt64(bitPattern: StoredNumber.nanoseconds(moment)))
  }

  /// Zero is the number of a field that is not there.
  private mutating func put(_ field: Field, number: UInt64) {
    guard number != 0 else { return }
    bytes.append(field.rawValue << 3)
    Self.put(number, into: &bytes)
  }

  private mutating func put(_ field: Field, bytes value: some Collection<UInt8>) {
    guard !value.isEmpty else { return }
    bytes.append(field.rawValue << 3 | 2)
    Self.put(UInt64(value.count), into: &bytes)
    bytes.append(contentsOf: value)
  }

  private static func put(_ number: UInt64, into bytes: inout [UInt8]) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func number(of kind: StreamID.Kind) -> UInt64 {
    let word: WireStoredStreamKind =
      switch kind {
      case .commands: .commands
      case .samples: .samples
      case .messages: .messages
      case .verdicts: .verdicts
      }
    return UInt64(word.rawValue)
  }
}
