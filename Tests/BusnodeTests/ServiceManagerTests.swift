import RunBus
import Testing

@testable import busnode

@Suite("What a service tells its manager")
struct ServiceManagerTests {
  private func manager(_ environment: [String: String]) -> ServiceManager? {
    ServiceManager(environment, processID: 7)
  }

  @Test("A manager is named by a path or an abstract name, and by nothing else")
  func address() {
    for address in ["/run/user/1000/systemd/notify", "@/org/freedesktop/systemd1/notify"] {
      #expect(manager(["NOTIFY_SOCKET": address])?.address == address)
    }
    for address in ["", "/", "@", "notify", "vsock:2:1234", "./notify"] {
      #expect(manager(["NOTIFY_SOCKET": address]) == nil, "\(address)")
    }
    #expect(manager(["WATCHDOG_USEC": "1000000"]) == nil)
  }

  @Test("A process lives twice in the time of the watchdog, if the watchdog is its own and its time a time")
  func watchdog() {
    func beat(_ limit: String?, _ process: String? = nil) -> Duration? {
      var environment = ["NOTIFY_SOCKET": "/notify"]
      environment["WATCHDOG_USEC"] = limit
      environment["WATCHDOG_PID"] = process
      return manager(environment)?.beat
    }
    #expect(beat("30000000") == .seconds(15))
    #expect(beat("30000000", "7") == .seconds(15))
    #expect(beat("1") == .milliseconds(10))
    #expect(beat("30000000", "8") == nil)
    for wrong in [nil, "", "0", "-5", "soon", "99999999999999999999"] { #expect(beat(wrong) == nil) }
  }

  @Test("The line that a manager shows says what the run does, and whether the phone is in reach")
  func status() {
    func snapshot(_ phase: RunPhase, isRecovering: Bool = false) -> NodeNews {
      var snapshot = Snapshot.none
      snapshot.phase = phase
      snapshot.isRecovering = isRecovering
      return .snapshot(snapshot)
    }
    var phone = ServiceStatus(isHub: true)
    #expect(phone.text == "no run has been started")
    phone.take(snapshot(.running))
    #expect(phone.text == "the run is running")
    phone.take(snapshot(.paused, isRecovering: true))
    #expect(phone.text == "a run waits for a decision: busnode recover")

    var watch = ServiceStatus(isHub: false)
    watch.take(snapshot(.paused))
    #expect(watch.text == "the phone is out of reach")
    var link = Reachability()
    link.isReachable = true
    watch.take(.link(link))
    #expect(watch.text == "the run is paused")
  }

  @Test("A version names the wire, the schema of stores and the commit")
  func version() {
    let pattern = /\d+\.\d+\.\d+ \(wire \d+, schema \d+, commit (unknown|[0-9a-f]{7,40}(-changed)?)\)/
    #expect(BuildVersion.text.wholeMatch(of: pattern) != nil, "\(BuildVersion.text)")
  }

  @Test("A completion reads the bus from the line, in both forms of an option")
  func words() {
    #expect(Completions.value(of: "--bus", in: ["busnode", "state", "--bus", "home"]) == "home")
    #expect(Completions.value(of: "--bus", in: ["busnode", "state", "--bus=home", "--json"]) == "home")
    #expect(Completions.value(of: "--bus", in: ["busnode", "state", "--bus"]) == nil)
    #expect(Completions.value(of: "--bus", in: ["busnode", "state"]) == nil)
  }

  @Test("A completion reads the setting from the line, and takes no context's name for one")
  func settingKey() {
    #expect(Completions.settingKey(in: ["busnode", "config", "set", "log.level", ""]) == .logLevel)
    #expect(Completions.settingKey(in: ["busnode", "config", "set", "--context", "bus", "units", "m"]) == .units)
    #expect(Completions.settingKey(in: ["busnode", "config", "set", "bus", "units"]) == .bus)
    #expect(Completions.settingKey(in: ["busnode", "config", "set", ""]) == nil)
  }
}
