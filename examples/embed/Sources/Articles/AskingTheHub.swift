import Foundation
import RunBus

/// What a button of the Lock Screen does: it pauses the run of the phone on this machine.
func pauseFromTheLockScreen() async throws {
  let requester = Requester(at: BusLocation(bus: BusName("default")), loop: try Loop())
  guard try await requester.state().phase == .running else { return }
  let verdict = try await requester.send(Command(.pause, source: .liveActivity), as: DeviceID("widget"))
  print(verdict.message)
}

/// Appends everything that a node hears to a file, one line an event.
func keepLog(of node: any Node, in file: FileHandle) async throws {
  let encoder = JSONEncoder()
  for await event in await node.events() {
    try file.write(contentsOf: encoder.encode(DatedEvent(event)) + Data("\n".utf8))
  }
}

/// Prints the latest commands of all devices with what became of them, whenever that changes.
func showCommands(on watch: Peer) async {
  var board = RunBoard(own: watch.deviceID)
  for await news in await watch.news(asking: .devices) {
    board.receive(news, at: watch.moment)
    for press in board.commands { print(press.deviceID, press.receipt.kind, press.isOpen ? "waits" : "judged") }
  }
}
