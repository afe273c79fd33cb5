/// One write of a node. The operations of a commit are durable together or not at all, in their order.
public enum StoreOperation: Hashable, Sendable {
  /// The hub's life number; on a peer the highest one it has seen.
  case setTerm(UInt64)
  /// A command was accepted: its row appears.
  case accept(Press, PressClass)
  /// An accepted command stands otherwise now.
  case reclassify(CommandID, PressClass)
  /// The watermark of a stream moves.
  case setWatermark(StreamID, sequence: UInt64)
  /// A command was judged: its row among the accepted goes, its verdict is kept for the sender and for dedupe.
  case judge(Verdict, Press, judgedAt: BusTime)
  /// Verdicts judged before this moment are too old to be asked for.
  case forgetVerdicts(judgedBefore: BusTime)
  /// An entry is appended to the journal of a run.
  case append(RunID, LedgerEntry)
  /// A run's id is another name for a run.
  case setAlias(RunID, of: RunID)
  /// A window that applied something has settled.
  case settle(SettledWindow)
  /// Where bus time stood when the monotonic clock showed `real`; the store adds which boot that was, and wall time.
  case setClock(real: BusTime, bus: BusTime)
}

/// What a clock showed, so that bus time goes on in the next life.
public struct ClockMark: Hashable, Sendable, Codable {
  /// The monotonic clock.
  public let real: BusTime
  /// Bus time at that reading.
  public let bus: BusTime
  /// Which boot of the machine the monotonic clock belongs to; empty when unknown.
  public let bootID: String
  /// Seconds since 1970 at that reading, used only across boots.
  public let wallSeconds: Double

  /// A mark from its parts.
  public init(real: BusTime, bus: BusTime, bootID: String, wallSeconds: Double) {
    self.real = real
    self.bus = bus
    self.bootID = bootID
    self.wallSeconds = wallSeconds
  }
}

/// All that a hub's store holds when it opens.
public struct HubHistory: Sendable {
  /// The last life's number; 0 when there was none.
  public var term: UInt64 = 0
  /// The last transitions of all runs, oldest first, at most ``ControlHistory/transitionsMax``.
  public var transitions: [PastTransition] = []
  /// The last settled windows, oldest first, at most ``ControlHistory/windowsMax``.
  public var windows: [SettledWindow] = []
  /// Accepted commands without a verdict, in order of acceptance.
  public var accepted: [(press: Press, class: PressClass)] = []
  /// Kept verdicts, in order of judgement, with the press that each answers and when it was judged.
  public var verdicts: [(verdict: Verdict, press: Press, judgedAt: BusTime)] = []
  /// The watermarks.
  public var watermarks: [StreamID: UInt64] = [:]
  /// Run ids that are another name for a run.
  public var aliases: [RunID: RunID] = [:]
  /// The journal of ``presentRun``, in order of position.
  public var journal: [LedgerEntry] = []
  /// The highest journal position ever used.
  public var lastPosition: UInt64 = 0
  /// The last clock mark.
  public var clock: ClockMark?

  /// A history without a past.
  public init() {}

  /// The run that is on, or the last one: that of the last transition that made a revision. What amended a run that was
  /// over, and runs that arrived whole, made none.
  public var presentRun: RunID? {
    transitions.reduce(nil as PastTransition?) { last, next in
      next.revision > last?.revision ?? 0 ? next : last
    }?.runID
  }
}
