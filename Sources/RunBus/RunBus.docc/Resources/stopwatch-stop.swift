    // A button that was pressed on both devices counts once.
    onPhone.model.press(.stop)
    onWatch.model.press(.stop)
    try await onPhone.wait { $0.phase == .completed && $0.pendingPresses.isEmpty }
    try await onWatch.wait { $0.phase == .completed && $0.pendingPresses.isEmpty }
    onWatch.show()
  }
}
