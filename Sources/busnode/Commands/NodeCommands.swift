import ArgumentParser
import RunBus
import RunBusWeb

/// Options that each of the three nodes has.
struct NodeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The device's name (default: its role).", valueName: "name"),
    completion: Completions.devices)
  var device: DeviceID?

  @Flag(help: "Read orders from standard input, one a line, and end at the end of input.")
  var stdin = false

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  /// Refuses two readers of standard input.
  func check(_ sensors: SensorOptions) throws {
    if sensors.seed != nil, !sensors.synthetic {
      throw ValidationError(Tongue.say(.seedNeedsSynthetic))
    }
    guard stdin, sensors.readsStandardInput else { return }
    throw ValidationError(Tongue.say(.replayOrStdin))
  }
}

/// The paragraph about standard input in the help of a node.
private let ordersHelp = """
  With --stdin the node reads orders, one a line, until the end of input:
    start, pause, resume, stop, lap  press a button
    start goal 30m                   start a run with a time goal
    pause @123.4                     press it when the run reaches 123.4 s
    at 37.566,126.978                the runner is there (a room's start)
    offline 30s, offline, online     disconnect (for 30 s of bus time), connect
    recover resume, finish, discard  decide about a run of a phone that asks
  A wrong line is reported on standard error and ignored.

  The node continues when its output cannot be written (a full disk, a closed pipe) or is not read: it drops lines and \
  reports that once on standard error. With nohup it continues after its terminal is closed.
  """

struct Phone: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone",
    abstract: "Be the phone: the hub, which holds the run.",
    discussion: """
      The phone runs until Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT). It shows every snapshot, devices that come and go, the \
      verdicts of its own presses, and with --together what changes in the room of its runner. busnode monitor shows the \
      presses of all devices.

        busnode phone --synthetic                  readings of a modelled runner
        busnode phone --replay run.gpx --speed 60  a recorded hour in a minute
        busnode phone --weight 70 --auto-pause     with energy; the clock stops
                                                   while the runner stands still
        busnode phone --address tcp://127.0.0.1:7070 --insecure
        busnode phone --listen 'tcp://*:7070'      the bus "default", also for
                                                   paired devices of other machines
                                                   (busnode pair): 7070 control,
                                                   7071 events, 7072 pairing

      The recording begins when the run is started (busnode send start) and is played in bus time: what was recorded \
      while the run is paused is skipped. The phone plays positions, altitude and \
      cadence; the watch plays the heart rate from the same file. With --json the phone writes which sensors the run \
      needs: {"event":"sensors","demand":"off"} without a run and while one is paused, "motion" while the runner stands \
      still (if there is a motion sensor), "all" otherwise. It writes {"event":"recordingEnded"} when the recording has \
      ended and the run is still on.

      A phone that ended during a run, killed or by Ctrl-C, finds the run again when it is started. --recover decides:
        resume   the run continues; the time without the phone is not active time
                 (it is with --downtime running)
        finish   the run ends at the time when the phone died; earlier readings of
                 the watch are still added
        discard  the same, but the run does not become a record
        ask      the run waits, "recovering", for an answer: on this terminal (if
                 it has one), by busnode recover, or by a button (stop
                 finishes the run, any other button resumes it first)
      The default is ask if standard input and output are a terminal, and resume otherwise, also with --together: the \
      others run on. A run whose phone was away for more than 24 hours of bus time is finished, unless it is discarded.

      \(ordersHelp)
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var runner: RunnerOptions
  @OptionGroup var rooms: TogetherOptions
  @OptionGroup var clock: ClockErrorOptions

  @Option(
    name: .customLong("sensors"),
    help: ArgumentHelp("What it plays of its input: usual (all but the heart rate) or all.", valueName: "share"))
  var share = SensorShare.usual

  @Option(
    help: ArgumentHelp(
      "Listen for paired devices at tcp://HOST:PORT and the next two ports; * is all interfaces; may be repeated.",
      valueName: "address"))
  var listen: [String] = []

  @Option(help: ArgumentHelp("The port for events (default: the one after that of --listen).", valueName: "port"))
  var eventsPort: PortArgument?

  @Option(help: ArgumentHelp("The port for pairing (default: the second one after it).", valueName: "port"))
  var pairingPort: PortArgument?

  @Option(help: ArgumentHelp("How fast bus time runs: 60 is a minute in a second.", valueName: "factor"))
  var speed = SpeedArgument(.realTime)

  @Option(
    help: ArgumentHelp(
      "An unfinished run after a crash: resume, ask, finish or discard (default: ask on a terminal, resume else and with --together).",
      valueName: "choice"))
  var recover: RecoveryChoice?

  @Flag(help: "Begin a bus of its own on a machine that is paired with another phone under that name.")
  var anyway = false

  @Flag(help: "With --listen: make new keys although devices are paired with keys that are gone.")
  var newKeys = false

  @Option(help: "How time without the phone counts in a resumed run: paused (not active) or running.")
  var downtime = Downtime.paused

  @Option(help: ArgumentHelp("The window in which presses settle together, in ms of bus time.", valueName: "ms"))
  var debounce = 500

  @Option(
    name: .customLong("metrics"),
    help: ArgumentHelp("Serve /metrics and /healthz at a loopback address, as 127.0.0.1:9464.", valueName: "address"))
  var metricsAddress: String?

  func validate() throws {
    guard (0...60_000).contains(debounce) else { throw ValidationError(Tongue.say(.debounceBounds)) }
    try options.check(sensors)
  }

  func run() async throws {
    clock.set()
    bus.startLog()
    let location = try bus.hubLocation()
    if !anyway { try Self.refuseIfPaired(location, advice: Tongue.say(.giveOtherBus)) }
    let device = options.device ?? DeviceID.role(.phone)
    let (localListen, remote) = try listeners()
    let recording = try sensors.timeline(for: .phone, share)
    let others = try furtherLocations(localListen, than: location)
    try bus.checkInsecure(isUsed: location.isAddress || !others.isEmpty)
    bus.warn(of: [location] + others)
    let makesNewKeys = try remote.isEmpty || newKeys || asksForNewKeys(of: device, at: location)
    // A race does not wait for an answer.
    let asks = StandardInput.isTerminal && Output.isTerminal && rooms.together == nil
    let recovery = recover ?? (asks ? .ask : .resume)
    var configuration = HubConfiguration(
      deviceID: device, debounce: .milliseconds(Int64(debounce)), speed: speed.speed, metrics: runner.metrics,
      recovery: recovery, downtime: downtime)
    configuration.together = try rooms.member(of: location)
    let address = try metricsAddress.map { try HTTPAddress($0, option: "--metrics", example: 9464) }
    // Before the node is made: a counter keeps the backend that it finds.
    let registry = address == nil ? nil : MetricsRegistry.installed()
    let hub = try Hub(
      at: location, alsoAt: others, remote: remote, makesNewKeys: makesNewKeys, configuration: configuration,
      loop: try Loop())
    let metrics = try address.map { address in
      do {
        return try MetricsServer(MetricsPage(hub, registry: registry), host: address.host, port: address.port)
      } catch let error as RunBusError where error.code == .badInput {
        throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
      }
    }
    if let member = configuration.together { try await rooms.claimNickname(for: member) }
    let units = try Settings.units(nil)
    try await NodeRunner(
      node: hub, source: .phone, recording: recording, readsOrders: options.stdin,
      view: NodeView(asJSON: options.json, units: units), farewell: { await hub.unfinishedRoom() }
    ).run(
      demands: await hub.sensorDemands(),
      prompt: recovery == .ask ? RecoveryPrompt(hub: hub, readsOrders: options.stdin, units: units) : nil,
      metrics: metrics)
  }

  /// Asks at the terminal whether to make new keys when those are gone with which devices are paired.
  ///
  /// - Returns: Whether the answer was yes; `false` also when no keys are gone, and when standard input is no terminal.
  private func asksForNewKeys(of device: DeviceID, at location: BusLocation) throws -> Bool {
    guard StandardInput.isTerminal, let lost = try StartChecks.lostKeys(ofHub: device, at: location, keys: KeyFiles())
    else { return false }
    Output.tell(lost.message)
    return Prompt.ask(Tongue.say(.newKeysAsk))
  }

  /// Refuses to begin a bus that no command on this machine would find.
  static func refuseIfPaired(_ location: BusLocation, advice: String) throws(Failure) {
    let refusal: RunBusError?
    do {
      refusal = try StartChecks.pairing(of: location, keys: KeyFiles())
    } catch {
      throw Failure(error)
    }
    guard let refusal else { return }
    throw Failure(
      code: refusal.code.description, message: "\(refusal.message); \(advice)", exitStatus: ExitStatus.failure)
  }

  /// The addresses of `--listen` that have no keys, and those for paired devices.
  private func listeners() throws(Failure) -> (local: [String], remote: [RemoteListener]) {
    guard try !bus.isInsecure() else { return (listen, []) }
    var remote: [RemoteListener] = []
    for address in listen {
      do {
        remote.append(try RemoteListener(address, eventsPort: eventsPort?.port, pairingPort: pairingPort?.port))
      } catch {
        throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
      }
    }
    guard remote.count <= 1 || (eventsPort == nil && pairingPort == nil) else {
      throw Failure(
        code: "usage", message: Tongue.say(.portsGoWithListen), exitStatus: ExitStatus.usage)
    }
    return ([], remote)
  }

  /// The locations of `--listen` without keys.
  private func furtherLocations(
    _ listen: [String], than location: BusLocation
  ) throws(Failure) -> [BusLocation] {
    var locations = [location]
    for address in listen {
      let other: BusLocation
      do {
        other = try BusLocation(address: address)
      } catch {
        throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
      }
      let flaw: String? =
        if other.hasOpenPort {
          Tongue.say(.listenOpenPort, ["address": address])
        } else if locations.contains(where: { $0.controlEndpoint == other.controlEndpoint }) {
          Tongue.say(.givenTwice, ["name": other.displayName])
        } else {
          nil
        }
      if let flaw { throw Failure(code: "usage", message: flaw, exitStatus: ExitStatus.usage) }
      locations.append(other)
    }
    return Array(locations.dropFirst())
  }
}

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Be the watch: show the run, press its buttons, measure the heart rate.",
    discussion: """
      The watch runs until Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT) and joins its bus as soon as there is a phone. It shows \
      what changes in the room of its runner: who is in, who is missing, the countdown, who is ahead now, the result.

        busnode watch
        busnode watch --replay run.gpx    the heart rate of a recording
        busnode watch --replay run.gpx --sensors all
                                          all readings, for a run without the phone
        busnode watch --device watch2     a second watch

      \(alarmHelp)

      \(ordersHelp)
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var alarm: AlarmOptions

  @Option(
    name: .customLong("sensors"),
    help: ArgumentHelp("What it plays of its input: usual (the heart rate) or all.", valueName: "share"))
  var share = SensorShare.usual

  func validate() throws { try options.check(sensors) }

  func run() async throws {
    try await runPeer(
      .watch, source: .watch, bus: bus, options: options, alarm: alarm, recording: sensors.timeline(for: .watch, share))
  }
}

struct Widget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widget",
    abstract: "Be the live activity on the lock screen: show the run, press its buttons.",
    discussion: """
      The widget is a lock screen: it receives what the phone pushes to lock screens and nothing else. Each line "lock \
      screen" is what it shows: phase and clock, which goes on by itself, numbers, presses that wait, whether it is \
      stale; then the number and the reason of the push, and how many pushes of numbers are left of the budget.

        phase, final  the run, its phase or its clock changed; pushed at once
        pending       a press waits for its verdict, or has it
        numbers       at most every 15 s, and 120 an hour
        alive         nothing visible changed; without it the screen would be stale
                      after a minute
        renewal       the system's limit of eight hours is near: another activity
                      takes over

      Beside each push it asks for the state once, so that its presses refer to what it shows; with --json that is a \
      line, too.

      The widget runs until Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT) and joins its bus as soon as there is a phone.

        busnode widget
        busnode widget --json | jq .metrics.distanceMeters

      \(alarmHelp)

      \(ordersHelp)
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var alarm: AlarmOptions

  func run() async throws {
    try await runPeer(.widget, source: .liveActivity, bus: bus, options: options, alarm: alarm, recording: nil)
  }
}

/// A name for a node of this machine that was given none: the hub refuses the names of paired devices.
private func freeName(like name: DeviceID, at location: BusLocation) async -> DeviceID {
  guard !location.isWithoutHub, let hub = try? await LocalHub.find(at: location),
    let list = try? await hub.ask(.devices)
  else { return name }
  let free = list.free(like: name)
  if free != name { Output.complain("busnode: " + Tongue.say(.nameIsPaired, ["name": name, "free": free])) }
  return free
}

/// Runs a watch, a widget or a shell.
func runPeer(
  _ role: NodeRole, source: ControlSource, bus: BusOptions, options: NodeOptions, alarm: AlarmOptions,
  recording: Timeline?
) async throws {
  bus.startLog()
  let location = try bus.location()
  if location.hasOpenPort { throw Failure.openPort(location) }
  bus.warn(of: [location])
  var device = options.device ?? location.keyring?.value.deviceID ?? DeviceID.role(role)
  if options.device == nil, location.keyring == nil { device = await freeName(like: device, at: location) }
  let peer = try Peer(
    at: location,
    configuration: PeerConfiguration(
      deviceID: device, role: role, topics: role == .widget ? [.live] : [.snapshots, .feed, .rooms],
      hubLostAfter: alarm.limit),
    loop: try Loop())
  try await NodeRunner(
    node: peer, source: source, recording: recording, readsOrders: options.stdin,
    view: NodeView(asJSON: options.json, isLockScreen: role == .widget, units: try Settings.units(nil)),
    isLockScreen: role == .widget
  ).run(hook: alarm.hook(at: location, device: device))
}

extension Hub {
  /// How long the hub may take to say what it leaves undone.
  private static let farewell = Duration.seconds(1)

  /// What the runner's room still needs of this phone, in a sentence; `nil` for nothing.
  nonisolated fileprivate func unfinishedRoom() async -> String? {
    let reports = try? await within(Self.farewell) { try await self.rooms() }
    return reports?.lazy.compactMap(RoomText.unfinished).first
  }
}

extension DeviceID {
  /// The device that is named after its role.
  static func role(_ role: NodeRole) -> DeviceID {
    guard let device = DeviceID(role.rawValue) else { preconditionFailure("\(role) is no device name") }
    return device
  }
}
