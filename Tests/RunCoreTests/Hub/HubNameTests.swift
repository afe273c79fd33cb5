@testable import RunCore
import Testing

/// The names that commands of any machine take by themselves: no device is paired under them.
@Suite("Names of shells, pages and screens")
struct HubNameTests {
  private func request(_ hub: inout HubStage, as name: DeviceID, by identity: ConnectionIdentity) -> [String] {
    let command = Command(id: CommandID(high: 4, low: 5), kind: .start, source: .shell, runID: RunID(high: 9, low: 5))
    return hub.asks(
      "\(name)", .command(CommandRequest(command: command, deviceID: name, age: .zero)), isPlain: true, by: identity)
      + hub.commitsAll()
  }

  @Test("Names of commands are those of shells, pages and screens, with a number, too")
  func names() {
    for name in ["shell", "web", "top", "shell-2", "web-4711"] as [DeviceID] { #expect(name.isOfCommands) }
    for name in ["watch", "shells", "shell-", "shell-a", "topper", "web.2", "webb-2"] as [DeviceID] {
      #expect(!name.isOfCommands)
    }
    let taken: Set<DeviceID> = ["watch", "watch-2"]
    #expect(DeviceID.free(like: "watch") { taken.contains($0) } == "watch-3")
    #expect(DeviceID.free(like: DeviceID(String(repeating: "a", count: 32))!) { _ in false }.rawValue.utf8.count == 32)
  }

  @Test("No device is paired or renamed under such a name; its token stays good", arguments: ["shell", "web", "top-2"])
  func refused(name: String) {
    var hub = HubStage.pairing([.test(1, "watch")])
    _ = hub.feed(.offerPairing(token: HubStage.token, 1))
    #expect(hub.asksForPairing(name, candidate: 2) == ["\(name) ← not paired"])
    #expect(hub.asksForPairing("band", candidate: 2) == ["band ← wait"])
    #expect(
      hub.orders(.admit(.test(2), of: HubStage.token, as: DeviceID(name)!, sources: [.watch], replaces: false)) == [
        "answer 1: failed"
      ])
    #expect(hub.orders(.rename(DeviceID(name)!), key: 1) == ["answer 1: failed"])
    #expect(hub.disk.history.members.devices.map(\.deviceID) == ["watch"])
  }

  // Once broken: A paired device named `shell` made every `busnode send` exit with 65, on all machines, and the press
  // was lost, because the name of a paired device was refused to all others, also one that commands take without being
  // told.
  @Test("In a list that has a device of that name, commands of all others count under the next free one")
  func standIn() {
    for identity in [.localOwner, .anyone, .key(2)] as [ConnectionIdentity] {
      var hub = HubStage.pairing([.test(1, "shell"), .test(2, "watch")])
      _ = request(&hub, as: "shell", by: identity)
      hub.passes(.seconds(1))
      let expected: DeviceID = identity == .key(2) ? "watch" : "shell-2"
      #expect(hub.disk.history.transitions.map(\.change.deviceID) == [expected], "\(identity)")
    }
    var hub = HubStage.pairing([.test(1, "shell")])
    _ = request(&hub, as: "shell", by: .key(1))
    hub.passes(.seconds(1))
    #expect(hub.disk.history.transitions.map(\.change.deviceID) == ["shell"])
  }

  @Test("What the spool has under that name counts, too")
  func spooled() {
    var hub = HubStage.pairing([.test(1, "shell")])
    let command = Command(id: CommandID(high: 4, low: 5), kind: .start, source: .shell, runID: RunID(high: 9, low: 5))
    _ = hub.feed(.spooled([ForwardedCommand(command: command, deviceID: "shell", since: .zero, isUncertain: false)]))
    hub.commitsAll()
    hub.passes(.seconds(1))
    #expect(hub.disk.history.transitions.map(\.change.deviceID) == ["shell-2"])
  }

  @Test("A page joins under the next free name")
  func page() {
    var hub = HubStage.pairing([.test(1, "web")])
    #expect(hub.hello("web").contains { $0.hasPrefix("web ← welcome") })
    hub.commitsAll()
    #expect(hub.core.mail.devices.keys.map(\.rawValue) == ["web-2"])
    #expect(hub.hello("web", nonce: 2).contains { $0.hasPrefix("web ← welcome") })
  }

  @Test("The list names a free name for a device that wants one that is taken")
  func list() {
    var renamed = PairedDevice.test(1, "left")
    renamed.formerNames = ["watch"]
    let list = DeviceList(devices: [renamed, .test(2, "watch-2")], version: 3, isBehind: false)
    #expect(list.free(like: "watch") == "watch-3")
    #expect(list.free(like: "watch", for: .test(1)) == "watch")
    #expect(list.free(like: "band") == "band")
  }
}
