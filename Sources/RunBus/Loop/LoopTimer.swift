public import RunCore

/// A deadline of a loop, used on the loop's thread only. Whoever made it keeps it: a timer that is let go never fires.
public final class LoopTimer {
  /// When it fires, on the line of ``Loop/now``: once, at or after the deadline. `nil` turns it off; a firing timer is
  /// off before its handler runs, which may set it again.
  public var deadline: BusTime?
  private let handler: () -> Void

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  func fire() {
    deadline = nil
    handler()
  }
}
