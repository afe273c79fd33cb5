#if os(Linux)
  import Foundation
  import Testing
  import TestSupport

  @testable import busnode

  @Suite("Lines that wait for standard output")
  struct LineQueueTests {
    // Once broken: A phone whose standard output could not be written (log disk full, reader gone, closed) ended during
    // a run with status 0 and said goodbye, so that no watch raised its alarm.
    @Test("After a full disk has room again, lines are written, and the number of missing ones is reported")
    func roomAgain() throws {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      let disk = open("/dev/full", O_WRONLY)
      let complaints = Mutexed<[String]>([])
      let queue = LineQueue(disk) { complaint in complaints.withLock { $0.append(complaint) } }
      for line in ["one", "two"] { queue.put(line) }
      queue.flush()
      dup2(ends[1], disk)
      for line in ["three", "four"] { queue.put(line) }
      queue.flush()
      #expect(
        complaints.withLock { $0 } == [
          "standard output cannot be written (No space left on device): this node goes on, its lines are lost",
          "standard output takes lines again; 2 of them are missing",
        ])
      close(disk)
      close(ends[1])
      let written = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readDataToEndOfFile()
      #expect(String(decoding: written, as: UTF8.self) == "three\nfour\n")
    }
  }
#endif
