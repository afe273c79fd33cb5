import Foundation

/// Heap allocations of a piece of code.
struct Allocations: Sendable {
  /// The number of blocks.
  let blocks: Int
  /// The growth of the heap in use in bytes, as the allocator rounds them.
  let bytes: Int

  /// Counts while a body runs; `nil` unless `reference/allocations.c` is loaded (Benchmarks/run loads it on Linux).
  /// Blocks of other threads count too, so nothing else may run.
  static func count<Result>(_ body: () throws -> Result) rethrows -> (Result, Allocations?) {
    guard let counter else { return (try body(), nil) }
    counter.begin()
    let result = try body()
    var blocks: Int64 = 0
    var bytes: Int64 = 0
    counter.end(&blocks, &bytes)
    return (result, Allocations(blocks: Int(blocks), bytes: Int(bytes)))
  }

  /// Whether allocations are counted in this process.
  static var areCounted: Bool { counter != nil }

  private typealias Begin = @convention(c) () -> Void
  private typealias End = @convention(c) (UnsafeMutablePointer<Int64>, UnsafeMutablePointer<Int64>) -> Void

  private static let counter: (begin: Begin, end: End)? = {
    let program = dlopen(nil, RTLD_NOW)
    guard let begin = dlsym(program, "allocations_begin"), let end = dlsym(program, "allocations_end") else {
      return nil
    }
    return (unsafeBitCast(begin, to: Begin.self), unsafeBitCast(end, to: End.self))
  }()
}
