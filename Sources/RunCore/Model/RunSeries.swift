/// The numbers of the present run over time, for the chart of a screen that was opened during the run.
package struct RunSeries: Hashable, Sendable {
  /// The values at a moment.
  package struct Sample: Hashable, Sendable {
    /// Run time, since the start.
    package var offset: BusDuration
    /// The values then.
    package var values: RecordSeries.Sample

    /// A sample from its parts.
    package init(offset: BusDuration, values: RecordSeries.Sample) {
      self.offset = offset
      self.values = values
    }
  }

  /// The most samples of an answer: as many as a chart has points side by side, and they fit into the smallest frame.
  package static let samplesMax = 512
  /// The most pauses of an answer; of more the last ones.
  package static let pausesMax = 128

  /// The run.
  package var runID: RunID
  /// In order of time, at readings: while there are none, there are no samples.
  package var samples: [Sample]
  /// The pauses by command and the gaps in which the hub was down, in run time; one that lasts ends at the moment of
  /// the answer.
  package var pauses: [Range<BusDuration>]

  /// A series from its parts.
  package init(runID: RunID, samples: [Sample] = [], pauses: [Range<BusDuration>] = []) {
    self.runID = runID
    self.samples = samples
    self.pauses = pauses
  }
}
