public import RunCore

/// A timer of a loop, used on the loop's thread only. Its maker keeps it: a timer without a reference never fires.
public final class LoopTimer {
  /// When it fires, on the clock of its loop (``Loop/now-swift.property``): once, at or after this time. `nil` turns it
  /// off. A firing timer is turned off before its handler runs; the handler may set it again.
  public var deadline: BusTime?
  private let handler: () -> Void

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  func fire() {
    deadline = nil
    handler()
  }
}
