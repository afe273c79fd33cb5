/// A record that is being made in pieces: of the ledger of the run that is shown, as long as that is the run, or of entries
/// of its own.
struct RecordInMaking: Sendable {
  /// The run.
  let run: RunID
  /// When its making began: the next piece is due as soon as anything else is done.
  let since: BusTime
  private let settings: MetricsSettings
  private var maker: RecordMaker
  /// The entries that were read from the journal, or those of a run that is shown no more; `nil` for the ledger's.
  private var own: [LedgerEntry]?
  /// The insertions into the ledger of which the maker has seen all.
  private var insertions: Int?
  /// How often readings came that sent the maker back to the beginning.
  private var restarts = 0

  /// After so many restarts the maker copies the ledger's entries with the next reading: a device that sends all the time
  /// must not keep a run from its record.
  private static let restartsMax = 3

  init(_ run: RunID, since: BusTime, settings: MetricsSettings, entries: [LedgerEntry]?) {
    (self.run, self.since, self.settings) = (run, since, settings)
    maker = RecordMaker(settings: settings)
    guard var entries else { return }
    LedgerEntry.sort(&entries)
    own = entries
  }

  /// Whether it is done.
  var isDone: Bool { maker.isDone }
  /// What was made; `nil` when the run is not over.
  var made: RecordMaker.Made? { maker.made }

  /// Makes a piece.
  ///
  /// - Parameter ledger: The ledger of the run that is shown.
  mutating func advance(_ ledger: RunLedger, by work: Int) {
    if let own { return maker.advance(own, by: work) }
    if let insertions, insertions != ledger.insertions {
      maker = RecordMaker(settings: settings)
      restarts += 1
    }
    insertions = ledger.insertions
    if restarts == Self.restartsMax { own = ledger.entries }
    maker.advance(ledger.entries, by: work)
  }

  /// Keeps the entries of a ledger that is about to change or to go.
  mutating func hold(_ ledger: RunLedger) {
    guard own == nil else { return }
    if let insertions, insertions != ledger.insertions { maker = RecordMaker(settings: settings) }
    own = ledger.entries
  }
}

// The record that is being made.
extension RecordKeeping {
  /// Begins to make the record of a run: of its journal's entries, or of the ledger that is shown.
  mutating func beginMaking(_ run: RunID, settings: MetricsSettings, entries: [LedgerEntry]? = nil) {
    guard let since = expected[run]?.dueAt else { return }
    // A part that came while a journal was read may not be in it.
    if entries == nil { noteUnchanged(run) }
    making = [RecordInMaking(run, since: since, settings: settings, entries: entries)]
  }

  /// Makes a piece of the record that is being made.
  ///
  /// - Parameter ledger: The ledger of the run that is shown.
  /// - Returns: what was made, once it is done; `made` is `nil` when the run is not over.
  mutating func makePiece(_ work: Int, of ledger: RunLedger) -> (run: RunID, made: RecordMaker.Made?)? {
    guard !making.isEmpty else { return nil }
    repeat { making[0].advance(ledger, by: work) } while isHurried && !making[0].isDone
    guard making[0].isDone else { return nil }
    let done = making.removeFirst()
    return (done.run, done.made)
  }

  /// The ledger of the run that is shown is about to change or to go.
  mutating func hold(_ ledger: RunLedger) {
    if !making.isEmpty { making[0].hold(ledger) }
  }
}
