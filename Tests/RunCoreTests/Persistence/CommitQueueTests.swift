@testable import RunCore
import Testing

@Suite("The commit queue")
struct CommitQueueTests {
  private var commits = CommitQueue<Int>()

  private mutating func next(at seconds: Int64 = 0) -> CommitID? { commits.next(at: .zero + .seconds(seconds))?.id }

  @Test("A commit that failed is tried again at the given moment, and once only")
  mutating func retry() {
    commits.add([.setTerm(1)], then: [1])
    #expect(next() == 1)
    #expect(commits.retry(at: .zero) == nil)
    #expect(commits.fail(7, retryAt: .zero) == false)
    #expect(commits.fail(1, retryAt: .zero + .seconds(1)) == true)
    #expect(commits.deadline == .zero + .seconds(1))
    #expect(commits.retry(at: .zero) == nil)
    #expect(commits.retry(at: .zero + .seconds(1))?.id == 1)
    #expect(commits.deadline == nil)
    #expect(commits.retry(at: .zero + .seconds(9)) == nil)
    #expect(commits.committed(1) == [1])
  }

  @Test("A commit that succeeds after all is not tried again")
  mutating func success() {
    commits.add([.setTerm(1)], then: [1])
    _ = next()
    _ = commits.fail(1, retryAt: .zero + .seconds(1))
    #expect(commits.committed(1) == [1])
    #expect(commits.deadline == nil)
    #expect(commits.retry(at: .zero + .seconds(1)) == nil)
  }

  @Test("Writes that gather meanwhile wait for the commit in flight, and share one commit")
  mutating func gathering() {
    commits.add([.setTerm(1)], then: [1])
    _ = next()
    commits.add([.setTerm(2)], then: [2], dueAt: .zero + .seconds(5))
    commits.add([.setTerm(3)], then: [3])
    #expect(next() == nil)
    #expect(commits.committed(1) == [1])
    #expect(commits.deadline == .zero + .seconds(5))
    #expect(next() == 2)
    #expect(commits.committed(2) == [2, 3])
  }
}
