import ArgumentParser
import Foundation
import RunBus
import RunRecordings
import RunScripts

struct Up: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run phone, watch and widget as processes, play a run with them, and check that they agree.",
    discussion: """
        busnode up --synthetic --duration 5m --speed 10
        busnode up --replay run.tcx --speed 60 --weight 70
        busnode up --synthetic --duration 2m --script demo.run --json | jq -c .event
        busnode up --runners 4 --goal 2m --gather --speed 10
        busnode up      no sensors: press with busnode send or keys, until Ctrl-C

      On a terminal a screen shows the run and its nodes, as busnode top does. With --plain, with TERM=dumb and \
      without a terminal each snapshot is a line. At the end there is a summary. The exit status is 1 when the nodes \
      did not agree at every revision or one of them died, and 74 when the output cannot be written. Ctrl-C (or \
      SIGTERM, a closed terminal, a closed pipe) ends the nodes in good order, a second Ctrl-C kills them; the exit \
      status is 130 when that cuts a recording or a script short, and 0 when there was none to play.

      Keys of the screen: 1, 2, 3 or Tab choose a node; s, p, r, x, l press its buttons (start, pause, resume, stop, \
      lap), x when it is pressed twice within three seconds; o takes it offline and back, k kills it as by kill -9, n starts it again; a presses on all three at once: \
      pause in a run, resume in a pause, start otherwise; ? shows help; q is like Ctrl-C.

      Without --bus, --address or their environment variables, up makes a bus of its own: other commands find it by \
      the name that is shown, and its state is removed at the end. With them it uses that bus, and its state stays.

      With --replay or --synthetic the phone presses start, the recorded pauses and stop, each at its time in the run, \
      so that two replays end with the same metrics. With a script there are only the script's presses. If the run is \
      still on when both script and recording are over, the phone stops it, and up says so.

      With --runners it starts as many phones instead, each with a modelled runner of another pace, and plays a run \
      together: the first opens a room, the others enter, all are ready, with --gather they walk to the start, and they \
      run until the goal. At the end it compares what the phones show: roster, entries, digest, verdicts, result and \
      starts. The exit status is 1 when something differs or the starts are more than 50 ms apart. The phones are on a \
      fleet and on buses of their own (up-PID-1, up-PID-2, ...) in a temporary folder, which is removed at the end.

      SCRIPT: one action a line; # begins a comment.
        at TIME NODE ACTION
        TIME    bus time since all nodes have a snapshot: 12s, 1m30s, 90, 1:30
        NODE    phone, watch or widget
        ACTION  start, pause, resume, stop, lap: press a button;
                start goal 30m: start a run with a time goal;
                offline 30s, offline, online: disconnect (for 30 s of bus time),
                connect again;
                kill, restart: kill the process as by kill -9, start it again

        at 0s  watch start
        at 12s watch pause
        at 20s watch offline 30s
        at 40s phone kill
        at 45s phone restart
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var runner: RunnerOptions
  @OptionGroup var together: RunnersOptions

  @Option(help: ArgumentHelp("How fast bus time runs: 60 is a minute in a second.", valueName: "factor"))
  var speed = SpeedArgument(.realTime)

  @Option(help: ArgumentHelp("The window in which presses settle together, in ms of bus time.", valueName: "ms"))
  var debounce = 500

  @Option(
    help: ArgumentHelp("A script to play instead of the recorded presses; - is standard input.", valueName: "file"))
  var script: String?

  @Flag(help: "Write JSON, one object a line, the summary last.")
  var json = false

  @Flag(help: "Write lines instead of a screen.")
  var plain = false

  func validate() throws {
    guard (0...60_000).contains(debounce) else { throw ValidationError("--debounce is 0 to 60000 ms") }
    if sensors.readsStandardInput {
      throw ValidationError("--replay - can be read by one process only, and up starts three: give a file")
    }
    guard together.runners != nil else { return }
    if sensors.hasInput { throw ValidationError("--runners has modelled runners: leave --replay and --synthetic out") }
    if script != nil { throw ValidationError("--script is for phone, watch and widget: leave it out with --runners") }
    if bus.named.bus != nil || bus.address != nil || bus.insecure {
      throw ValidationError("--runners has buses of its own: leave --bus, --address and --insecure out")
    }
  }

  func run() async throws {
    bus.startLog()
    // Before a process is spawned: a node would refuse a wrong file, too.
    _ = try Settings.ofThisProcess()
    if let count = together.runners { return try await play(runners: count) }
    // Read all input before a process is spawned.
    let script = try script.map { try Self.read(script: $0) }
    let recording = try sensors.recording()
    let choice = try bus.choice()
    if choice.origin != .nothing {
      try Phone.refuseIfPaired(choice.location, advice: "leave the name out, and up makes a bus of its own")
      return try await play(script, recording, at: try bus.location(), environment: [:])
    }

    let name = "up-\(ProcessInfo.processInfo.processIdentifier)"
    let state = NSTemporaryDirectory() + "runbus-\(name)-\(UUID().uuidString)"
    let location = try BusLocation(bus: name, address: nil, environment: ProcessInfo.processInfo.environment)
    defer {
      try? FileManager.default.removeItem(atPath: state)
      try? FileManager.default.removeItem(atPath: location.runtimeDirectory)
    }
    try await play(script, recording, at: location, environment: ["XDG_STATE_HOME": state])
  }

  /// Plays a run together in a folder of its own.
  private func play(runners count: Int) async throws {
    let name = "up-\(ProcessInfo.processInfo.processIdentifier)"
    // Short, because a socket's path is.
    let folder = NSTemporaryDirectory() + "runbus-\(name)-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var environment: [String: String?] = ["RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil, "RUNBUS_CONTEXT": nil]
    for (variable, part) in [("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "run"), ("XDG_CONFIG_HOME", "config")] {
      do {
        try FileManager.default.createDirectory(
          atPath: folder + "/" + part, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw Failure(
          code: "store", message: "\(folder) cannot be made: \(error.localizedDescription)",
          exitStatus: ExitStatus.diskError)
      }
      environment[variable] = folder + "/" + part
    }
    var plan = RunnersPlan(
      executable: Bundle.main.executablePath ?? CommandLine.arguments[0], environment: environment, name: name,
      count: count, goal: together.length, speed: speed.speed, gathers: together.gather,
      arguments: runner.arguments + ["--debounce", "\(debounce)"] + bus.log.arguments)
    if let seed = together.wrongClocks { plan.drawClocks(seed: seed) }
    try await RunnersShow(asJSON: json).play(plan)
  }

  private func play(
    _ script: Script?, _ recording: Recording?, at location: BusLocation, environment: [String: String?]
  ) async throws {
    guard !location.hasOpenPort else {
      throw Failure(
        code: "usage", message: "watch and widget must know the port: give --address tcp://127.0.0.1:PORT",
        exitStatus: ExitStatus.usage)
    }
    let place =
      location.controlEndpoint.hasPrefix("ipc://")
      ? ["--bus", location.displayName] : ["--address", location.displayName, "--insecure"]
    let common = place + ["--json", "--stdin"] + bus.log.arguments
    let plan = UpRun.Plan(
      executable: Bundle.main.executablePath ?? CommandLine.arguments[0],
      environment: environment.merging(["RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil, "RUNBUS_CONTEXT": nil]) { $1 },
      arguments: [
        .phone: ["phone"] + common + sensors.arguments + runner.arguments
          + ["--speed", "\(speed.speed.factor)", "--debounce", "\(debounce)"],
        .watch: ["watch"] + common + sensors.arguments,
        .widget: ["widget"] + common,
      ],
      speed: speed.speed, debounce: .milliseconds(Int64(debounce)), script: script, presses: recording?.presses ?? [],
      duration: recording?.duration,
      feeds: Set(
        [(SpawnedNode.phone, NodeRole.phone), (.watch, .watch)]
          .filter { recording?.samples(for: $1).isEmpty == false }.map { $0.0 }),
      flag: location.flag)
    try await UpShow(
      location, speed: speed.speed, isPlain: plain, asJSON: json, units: try Settings.units(nil),
      environment: try Settings.terminalEnvironment()
    ).play(plan)
  }

  private static func read(script path: String) throws -> Script {
    let data = try InputFile.contents(of: path, as: "script", bytesMax: Script.bytesMax, allowsPipe: true)
    do {
      return try Script(String(decoding: data, as: UTF8.self), file: InputFile.name(of: path))
    } catch {
      throw Failure(code: "badInput", message: error.message, exitStatus: ExitStatus.badInput)
    }
  }
}
