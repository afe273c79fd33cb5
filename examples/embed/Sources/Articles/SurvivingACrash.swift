import RunBus

/// A phone that asks its person about a run that was on when the app died.
func makeAskingPhone(at location: BusLocation) throws -> Hub {
  let configuration = HubConfiguration(deviceID: "phone", recovery: .ask, downtime: .paused)
  return try Hub(at: location, configuration: configuration, loop: Loop())
}

/// Asks the person once the phone waits for a decision.
func askAboutRecovery(on phone: Hub, _ ask: () async -> RecoveryAnswer) async throws {
  guard await phone.snapshots().first(where: { $0.isRecovering }) != nil else { return }
  let answer = await ask()
  do {
    try await phone.recover(answer)
  } catch let error as RunBusError where error.code == .notRecovering {
    // A button on another device has decided meanwhile.
  }
}

/// Warns the person on the watch when the phone falls silent during a run.
func warn(on watch: Peer, _ warn: (HubLost) async -> Void) async {
  for await alarm in await watch.hubLost() { await warn(alarm) }
}

/// Follows the presses of this device, those of an earlier start of the app included.
func followPresses(on watch: Peer) async {
  for await receipt in await watch.ownReceipts() {
    if case .verdict(let verdict) = receipt.stage { print(verdict.message) }
  }
}

/// Takes back a press that the phone has not seen.
func undo(_ command: Command, on watch: Peer) async throws {
  do {
    try await watch.outbox.cancel(command.id)
  } catch let error as RunBusError where error.code == .tooLate {
    print("the phone may know of it already")
  }
}

/// Follows a message of an earlier start of the app, whose id the app has kept.
func followMessage(_ id: MessageID, from watch: Peer) async throws {
  let receipts = watch.messages.receipts(for: id)
  // A message that does not wait any more has reached its last stage.
  guard try await watch.outbox.entries().contains(where: { $0.id == id }) else { return }
  for await receipt in receipts { print("the message is \(receipt.stage)") }
}
