@testable import RunCore
import Testing

@Suite("The samples that wait for a commit")
struct SampleIntakeTests {
  private static let stream = StreamID(sender: StoreID(high: 1, low: 1), kind: .samples)
  private var intake = SampleIntake()

  private static let write = StoreOperation.setTerm(1)

  @Test("The first sample sets the deadline three seconds later; all go together with the marks of their streams")
  mutating func batch() {
    #expect(intake.deadline == nil && !intake.isPending)
    intake.add(Self.write, stream: (Self.stream, 1), at: .zero)
    intake.add(nil, stream: (Self.stream, 2), at: .zero + .seconds(1))
    #expect(intake.deadline == .zero + .seconds(3) && intake.isPending && intake.isPending(of: Self.stream))
    let batch = intake.take()
    #expect(batch.operations == [Self.write, .setWatermark(Self.stream, StreamMark(sequence: 2))])
    #expect(batch.streams.map(\.value) == [2])
    #expect(intake.deadline == nil && !intake.isPending && !intake.isPending(of: Self.stream))
  }

  @Test("A batch of 4,096 writes is due at once")
  mutating func full() {
    for _ in 1..<4096 { intake.add(Self.write, stream: nil, at: .zero) }
    #expect(intake.deadline == .zero + .seconds(3))
    intake.add(Self.write, stream: nil, at: .zero + .seconds(1))
    #expect(intake.deadline == .zero + .seconds(1))
  }

  @Test("A stream that was given up gets no mark")
  mutating func forgotten() {
    intake.add(Self.write, stream: (Self.stream, 1), at: .zero)
    intake.forget(Self.stream)
    #expect(intake.take().operations == [Self.write])
  }

  @Test("A run that is over gets a bounded number of readings, also across batches")
  mutating func past() {
    let (run, other) = (RunID.number(1), RunID.number(2))
    for _ in 1...2 { #expect(intake.admitPastReading(of: run, max: 2) == true) }
    _ = intake.take()
    #expect(intake.admitPastReading(of: run, max: 2) == false)
    #expect(intake.admitPastReading(of: other, max: 2) == true)
    intake.forgetReadings(of: run)
    #expect(intake.admitPastReading(of: run, max: 2) == true)
  }

  @Test("A full run is reported once")
  mutating func fullRun() {
    #expect(intake.noteFull(.number(1)) == true)
    #expect(intake.noteFull(.number(1)) == false)
    #expect(intake.noteFull(.number(2)) == true)
  }
}
