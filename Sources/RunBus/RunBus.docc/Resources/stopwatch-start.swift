/// What the person does.
static func press(_ onPhone: Screen, _ onWatch: Screen, _ link: Link) async throws {
  link.set(isUp: true)
  try await onWatch.wait { $0.isReachable }

  // The watch's button changes at once. A moment later the run is running on both screens.
  onWatch.model.press(.start)
  onWatch.show()
  try await onPhone.wait { $0.phase == .running && $0.predictedPhase == .running }
  onPhone.show()
