// What a stream sends at once can be larger than a frame.

extension OutboundStream {
  /// The frames that may be sent now, in order: the batches of ``nextBatches(at:generator:while:)``, divided so that
  /// each one fits into a frame. Their rows count as sent from now on.
  ///
  /// - Parameters:
  ///   - rowsMax: the most rows of a frame.
  ///   - bytesMax: the largest sum of ``OutboxItem/size`` of a frame; a larger item is sent alone.
  ///   - isReady: whether an item may be sent; the frames end before the first that may not.
  mutating func nextFrames(
    at now: BusTime, generator: inout SeededGenerator, rowsMax: Int, bytesMax: Int = .max,
    while isReady: (OutboxItem) -> Bool = { _ in true }
  ) -> [Batch] {
    nextBatches(at: now, generator: &generator, while: isReady)
      .flatMap { $0.frames(rowsMax: rowsMax, bytesMax: bytesMax) }
  }
}

extension OutboundStream.Batch {
  /// The batch in parts that each fit into a frame; see ``OutboundStream/nextFrames(at:generator:rowsMax:bytesMax:while:)``.
  func frames(rowsMax: Int, bytesMax: Int = .max) -> [Self] {
    guard case .rows(let rows) = self else { return [self] }
    var frames: [Self] = []
    var (start, bytes) = (0, 0)
    for index in rows.indices {
      let size = rows[index].item?.size ?? 0
      if index > start, index - start >= rowsMax || bytes + size > bytesMax {
        frames.append(.rows(Array(rows[start..<index])))
        (start, bytes) = (index, 0)
      }
      bytes += size
    }
    // Most batches fit into one frame, which then shares their rows.
    guard start > 0 else { return [self] }
    frames.append(.rows(Array(rows[start...])))
    return frames
  }
}
