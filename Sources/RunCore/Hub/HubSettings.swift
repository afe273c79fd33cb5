extension HubCore {
  /// The settings of a hub.
  package struct Settings: Sendable {
    /// The name of the hub's device.
    package var deviceID: DeviceID
    /// The id of the node.
    package var nodeID: NodeID
    /// The id of the node's store.
    package var storeID: StoreID
    /// The length of a window, in bus time; zero switches windows off.
    package var debounce: BusDuration
    /// The bus clock: its speed, and how it relates to the monotonic clock.
    package var clock: BusClock
    /// How the metrics are computed, for example with the runner's weight and auto-pause.
    package var metrics: MetricsSettings
    /// What becomes of a run that was on when the last incarnation ended.
    package var recovery: RecoveryChoice
    /// Whether the time without a hub counts as active in a run that goes on.
    package var downtime: Downtime
    /// A run that was without its hub for longer than this, in bus time, is stopped.
    package var recoveryAgeMax = BusDuration.seconds(86_400)
    /// Once a run's ledger holds this many entries, further readings are dropped: two days of five readings a second.
    /// They use 88 MB in memory and 38 MB in the store, and are read back in seconds.
    package var ledgerEntriesMax = 1_000_000
    /// How much of a record is made in one turn, as a number of entries to fold: some two milliseconds. An eighth of it is
    /// made at once, so that a short run becomes a record in the commit after its stop.
    package var recordPiece = 4096
    /// The most readings that one incarnation accepts of a run that is over: five devices that were away all the time.
    package var pastReadingsMax = 200_000
    /// Once all stores together are owed this many verdicts, each store may be owed 16 only.
    package var owedVerdictsMax = 65_536
    /// The hub's key and addresses; `nil` for a hub that pairs no devices.
    package var bus: BusIdentity?
    /// The proof that a hub with a key has handed out a version of the list of devices, by the secret that lies with its
    /// keys; `nil` for a hub that has no such secret. It then believes no version that a device states.
    package var listProof: @Sendable (_ version: UInt64, _ hubKey: KeyFingerprint) -> ListProof? = { _, _ in nil }
    /// How often lock screens are pushed to.
    package var live = LivePolicy()
    /// How far the machine's local clock is ahead of UTC at a moment, in seconds since 1970; `nil` when that is not known.
    package var utcOffset: @Sendable (_ unixSeconds: Double) -> Int? = { _ in nil }
    /// Who the runner is in rooms; `nil` for a hub that takes part in none.
    package var together: TogetherDesk.Settings?
    /// The version of the program, as stated in records.
    package var appVersion: String
    /// The seed of jitter and new ids; the driver draws it at random for each incarnation.
    package var seed: UInt64

    /// Creates the settings of a hub.
    package init(
      deviceID: DeviceID, nodeID: NodeID, storeID: StoreID, debounce: BusDuration, clock: BusClock,
      metrics: MetricsSettings = MetricsSettings(), recovery: RecoveryChoice = .resume, downtime: Downtime = .paused,
      appVersion: String = "", seed: UInt64 = 0, bus: BusIdentity? = nil
    ) {
      self.bus = bus
      // A version that is too long is cut rather than refused.
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

extension MetricsSettings {
  /// The settings without the runner's setup, which stands in each run's own ledger.
  var unchosen: MetricsSettings {
    var metrics = self
    metrics.setup = RunSetup()
    return metrics
  }
}
