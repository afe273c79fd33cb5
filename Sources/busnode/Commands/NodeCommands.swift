import ArgumentParser
import RunBus

/// Options that each of the three nodes has.
struct NodeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The device's name (default: its role).", valueName: "name"))
  var device: DeviceID?

  @Flag(help: "Read presses from standard input, one a line, and end with it.")
  var stdin = false

  @Flag(help: "Write JSON, one object a line.")
  var json = false
}

/// What a node's help says about standard input.
private let ordersHelp = """
  With --stdin the node reads what is done to it, one a line, until the end of input:
    start, pause, resume, stop, lap   a button is pressed
    pause @123.4                      ... as a recorded press, 123.4 s into the run
    offline 30s, offline, online      it leaves the air (for 30 s of bus time), and comes back
    recover resume, finish, discard   what is to become of a phone's unfinished run, if it asks
  A bad line is named on standard error and ignored.

  The node goes on when its lines cannot be written (a full disk, a reader that is gone) or are not read: it says so once on
  standard error, and they are lost. With nohup it outlives its terminal.
  """

struct Phone: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Be the phone: the hub, which holds the run.",
    discussion: """
      The phone runs until Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT), and shows every snapshot, who comes and goes, and what becomes of its own
      presses. What becomes of everybody's: busnode monitor.

        busnode phone --synthetic                  a modelled runner carries it
        busnode phone --replay run.gpx --speed 60  a recorded hour in a minute
        busnode phone --weight 70 --auto-pause     energy is known; the clock stands at red lights
        busnode phone --address tcp://127.0.0.1:7070

      Sensor time is run time: the recording begins when the run is started (busnode send start). Positions, altitude
      and cadence are the phone's; the watch takes the heart rate from the same file. It says what the run
      asks of its sensors: {"event":"sensors","demand":"off"} without a run and while one is paused, "motion" while the
      runner stands and a motion sensor tells, "all" otherwise; and when the recording has ended with the run still on:
      {"event":"recordingEnded"}.

      A phone that is killed in a run finds it again when it is started. --recover says what becomes of it:
        resume    it goes on; the time without a phone is elapsed and not active (active with --downtime running)
        finish    it was stopped when the phone died; what the watch had measured until then still comes in
        discard   likewise, and it never becomes a record
        ask       the run stands as it was, "recovering", until somebody answers: on this terminal, by busnode recover,
                  or by a button (stop finishes the run; any other goes on with it first)
      Without --recover it asks if standard input and output are a terminal, and goes on otherwise. A run whose phone was
      away for more than 24 hours of bus time is finished, unless it is discarded.

      \(ordersHelp)
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var runner: RunnerOptions

  @Option(
    name: .customLong("sensors"),
    help: ArgumentHelp("What it measures of its input: usual (all but the heart rate) or all.", valueName: "share"))
  var share = SensorShare.usual

  @Option(help: ArgumentHelp("How fast bus time runs: 60 is a minute in a second.", valueName: "factor"))
  var speed = SpeedArgument(.realTime)

  @Option(
    help: ArgumentHelp(
      "An unfinished run, after a crash: resume, ask, finish or discard (default: ask on a terminal, else resume).",
      valueName: "choice"))
  var recover: RecoveryChoice?

  @Option(help: "Time without the phone, in a run that goes on: paused (not active) or running.")
  var downtime = Downtime.paused

  @Option(help: ArgumentHelp("The window in which presses settle together, in ms of bus time.", valueName: "ms"))
  var debounce = 500

  func validate() throws {
    guard (0...60_000).contains(debounce) else { throw ValidationError("--debounce is 0 to 60000 ms") }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let device = options.device ?? DeviceID.role(.phone)
    let recording = try sensors.timeline(for: .phone, share)
    let recovery = recover ?? (StandardInput.isTerminal && Output.isTerminal ? .ask : .resume)
    let hub = try Hub(
      at: location,
      configuration: HubConfiguration(
        deviceID: device, debounce: .milliseconds(Int64(debounce)), speed: speed.speed, metrics: runner.metrics,
        recovery: recovery, downtime: downtime),
      loop: try Loop())
    try await NodeRunner(
      node: hub, deviceID: device, source: .phone, recording: recording, readsOrders: options.stdin,
      view: NodeView(asJSON: options.json)
    ).run(
      demands: await hub.sensorDemands(),
      prompt: recovery == .ask ? RecoveryPrompt(hub: hub, readsOrders: options.stdin) : nil)
  }
}

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Be the watch: show the run, press its buttons, measure the heart rate.",
    discussion: """
      The watch runs until Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT) and joins its bus as soon as there is a phone.

        busnode watch
        busnode watch --replay run.gpx    the heart rate of a recording
        busnode watch --replay run.gpx --sensors all
                                          all of it: the phone stays in the bag, or is not there
        busnode watch --device watch2     a second one

      \(alarmHelp)

      \(ordersHelp)
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var options: NodeOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var alarm: AlarmOptions

  @Option(
    name: .customLong("sensors"),
    help: ArgumentHelp("What it measures of its input: usual (the heart rate) or all.", valueName: "share"))
  var share = SensorShare.usual

  func run() async throws {
    try await runPeer(
      .watch, source: .watch, bus: bus, options: options, alarm: alarm, recording: sensors.timeline(for: .watch, share))
  }
}

struct Widget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Be the live activity on the lock screen: show the run, press its buttons.",
    discussion: """
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

/// Runs a watch or a widget.
private func runPeer(
  _ role: NodeRole, source: ControlSource, bus: BusOptions, options: NodeOptions, alarm: AlarmOptions,
  recording: Timeline?
) async throws {
  bus.startLog()
  let location = try bus.location()
  if location.hasOpenPort { throw Failure.openPort(location) }
  let device = options.device ?? DeviceID.role(role)
  let peer = try Peer(
    at: location,
    configuration: PeerConfiguration(deviceID: device, role: role, hubLostAfter: alarm.limit), loop: try Loop())
  let watch = await HubWatch(peer, hook: alarm.hook(at: location, device: device))
  try await NodeRunner(
    node: peer, deviceID: device, source: source, recording: recording, readsOrders: options.stdin,
    view: NodeView(asJSON: options.json)
  ).run(watch: watch)
}

extension DeviceID {
  /// The device that is named after its role.
  static func role(_ role: NodeRole) -> DeviceID {
    guard let device = DeviceID(role.rawValue) else { preconditionFailure("\(role) is no device name") }
    return device
  }
}
