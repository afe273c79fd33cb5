extension HubCore {
  /// How a hub is set up.
  public struct Settings: Sendable {
    /// The device's name.
    public var deviceID: DeviceID
    /// The node.
    public var nodeID: NodeID
    /// Its store.
    public var storeID: StoreID
    /// The window in bus time.
    public var debounce: BusDuration
    /// The bus clock: its speed, and how it relates to the monotonic clock.
    public var clock: BusClock
    /// How the numbers are computed: the runner's weight, auto-pause.
    public var metrics: MetricsSettings
    /// What becomes of a run that was on when the last life ended.
    public var recovery: RecoveryChoice
    /// Whether the time without a hub counts as active in a run that goes on.
    public var downtime: Downtime
    /// A run that was without its hub for longer than this is over, in bus time.
    public var recoveryAgeMax = BusDuration.seconds(86_400)
    /// A run takes no more readings in once its ledger holds this many entries: two days of five readings a second. They
    /// are 88 MB in memory and 38 MB in the store, and a later life reads them back in seconds.
    public var ledgerEntriesMax = 1_000_000
    /// Readings that one life of a hub takes in of a run that is over: five devices that were away all the time.
    public var pastReadingsMax = 200_000
    /// Verdicts that all stores together may leave untaken; beyond it each has a share of 16.
    public var owedVerdictsMax = 65_536
    /// The version of the program, as records name it.
    public var appVersion: String
    /// Jitter and new store ids follow from it; drawn at random for each life by whoever drives the machine.
    public var seed: UInt64

    /// The thresholds without what the runner chose: that stands in each run's own ledger.
    var unchosenMetrics: MetricsSettings {
      var metrics = metrics
      metrics.setup = RunSetup()
      return metrics
    }

    /// Settings from their parts.
    public init(
      deviceID: DeviceID, nodeID: NodeID, storeID: StoreID, debounce: BusDuration, clock: BusClock,
      metrics: MetricsSettings = MetricsSettings(), recovery: RecoveryChoice = .resume, downtime: Downtime = .paused,
      appVersion: String = "", seed: UInt64 = 0
    ) {
      // What comes from elsewhere is cut rather than refused.
      self.appVersion = appVersion.carried(bytesMax: RecordSummary.appVersionBytesMax)
      self.metrics = metrics
      self.recovery = recovery
      self.downtime = downtime
      self.seed = seed
      self.deviceID = deviceID
      self.nodeID = nodeID
      self.storeID = storeID
      self.debounce = debounce
      self.clock = clock
    }
  }
}
