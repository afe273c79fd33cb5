import RunCore

/// The kind of a journal row that is no reading. The numbers are part of the file format and never reused.
///
/// The column of a reading is NULL, so that the index of kinds has only the few other rows. Readings of a kind that a
/// later version adds have a number: so this version finds them.
enum JournalKind: Int64 {
  case transition = 1
  case lap = 2
  case gap = 3
  /// A transition without a revision: it amended a run that was over, or belongs to a run that arrived whole.
  case amendment = 10
  case setup = 11

  /// The kind of an event, `nil` for a reading. Whether a transition is an amendment, its revision does not tell.
  init?(_ event: LedgerEvent) {
    switch event {
    case .transition: self = .transition
    case .lap: self = .lap
    case .gap: self = .gap
    case .setup: self = .setup
    case .sample: return nil
    }
  }

  /// Whether a row with this number, NULL for `nil`, can hold an event.
  static func isConsistent(_ number: Int64?, with event: LedgerEvent) -> Bool {
    if case .transition = event, number == amendment.rawValue { return true }
    return number == JournalKind(event)?.rawValue
  }
}
