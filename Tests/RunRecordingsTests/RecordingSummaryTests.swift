import RunBus
import RunRecordings
import Testing

@Suite("The recording device's own figures")
struct RecordingSummaryTests {
  private func lap(_ seconds: [Int], _ figures: String) -> String { Documents.tcxLap(seconds, figures: figures) }
  private func figures(
    seconds: Double, meters: Double, calories: Int, average: Int, max: Int, cadence: Int? = nil
  ) -> String {
    "<TotalTimeSeconds>\(seconds)</TotalTimeSeconds><DistanceMeters>\(meters)</DistanceMeters>"
      + "<Calories>\(calories)</Calories><AverageHeartRateBpm><Value>\(average)</Value></AverageHeartRateBpm>"
      + "<MaximumHeartRateBpm><Value>\(max)</Value></MaximumHeartRateBpm>"
      + (cadence.map { "<Extensions><ns3:LX><ns3:AvgRunCadence>\($0)</ns3:AvgRunCadence></ns3:LX></Extensions>" } ?? "")
  }

  @Test("Every lap of a TCX is kept, and the totals cover all of them")
  func laps() throws {
    let recording = try Documents.read(
      Documents.tcx([
        lap(Array(0..<30), figures(seconds: 30, meters: 90, calories: 5, average: 120, max: 130, cadence: 80)),
        lap(Array(30..<40), figures(seconds: 10, meters: 31, calories: 2, average: 140, max: 150, cadence: 84)),
      ]))
    let summary = try #require(recording.summary)
    #expect(summary.timerSeconds == 40)
    #expect(summary.distanceMeters == 121)
    #expect(summary.energyKilocalories == 7)
    #expect(summary.averageHeartRateBpm == 125)
    #expect(summary.maxHeartRateBpm == 150)
    #expect(summary.averageCadenceStepsPerMinute == 162)
    #expect(summary.elevationGainMeters == nil)
    #expect(summary.laps.map(\.startedAt) == [.zero, .seconds(30)])
    #expect(summary.laps.map(\.distanceMeters) == [90, 31])
    #expect(summary.laps.map(\.timerSeconds) == [30, 10])
    #expect(summary.laps.map(\.averageHeartRateBpm) == [120, 140])
    #expect(summary.laps.map(\.maxHeartRateBpm) == [130, 150])
  }

  @Test("Laps without figures, or with zeros, give no summary")
  func noFigures() throws {
    let zeros = "<TotalTimeSeconds>0</TotalTimeSeconds><DistanceMeters>0</DistanceMeters><Calories>0</Calories>"
    for figures in ["", zeros] {
      let laps = [lap(Array(0..<20), figures), lap(Array(20..<40), figures)]
      let recording = try Documents.read(Documents.tcx(laps))
      #expect(recording.summary == nil)
      #expect(recording.lapMarks == [.seconds(20)])
    }
  }

  @Test("A figure that one lap lacks has no total, and a lap without points has no start")
  func partialFigures() throws {
    let recording = try Documents.read(
      Documents.tcx([
        lap(Array(0..<30), figures(seconds: 30, meters: 90, calories: 5, average: 120, max: 130)),
        "<Lap><TotalTimeSeconds>10</TotalTimeSeconds><Calories>2</Calories></Lap>",
      ]))
    let summary = try #require(recording.summary)
    #expect(summary.timerSeconds == 40)
    #expect(summary.distanceMeters == nil)
    #expect(summary.energyKilocalories == 7)
    #expect(summary.averageHeartRateBpm == 120)
    #expect(summary.laps.map(\.startedAt) == [.zero, nil])
    #expect(recording.lapMarks.isEmpty)
  }

  @Test("Garmin's track statistics are read as a GPX's summary")
  func trackStatistics() throws {
    let statistics = """
      <extensions><ax:TrackStatsExtension><ax:Distance>180</ax:Distance><ax:TimerTime>58</ax:TimerTime>\
      <ax:TotalElapsedTime>60</ax:TotalElapsedTime><ax:Ascent>12</ax:Ascent><ax:Descent>9</ax:Descent>\
      <ax:Calories>11</ax:Calories><ax:AvgHeartRate>141</ax:AvgHeartRate><ax:AvgCadence>82</ax:AvgCadence>\
      </ax:TrackStatsExtension></extensions>
      """
    let points = (0...60).map { Documents.gpxPoint($0) }
    let summary = try #require(try Documents.read(Documents.gpx(points: points, statistics: statistics)).summary)
    #expect(summary.distanceMeters == 180)
    #expect(summary.timerSeconds == 58)
    #expect(summary.elevationGainMeters == 12)
    #expect(summary.elevationLossMeters == 9)
    #expect(summary.energyKilocalories == 11)
    #expect(summary.averageHeartRateBpm == 141)
    #expect(summary.averageCadenceStepsPerMinute == 164)
    #expect(summary.laps.isEmpty)
    #expect(try Documents.read(Documents.gpx(0...60)).summary == nil)
  }

  @Test("Cluetrust's laps are read as a GPX's laps")
  func gpxLaps() throws {
    func lap(_ start: Int, _ elapsed: String, _ meters: Int) -> String {
      "<ax:lap><ax:startTime>\(Documents.time(start))</ax:startTime><ax:elapsedTime>\(elapsed)</ax:elapsedTime>"
        + "<ax:distance>\(meters)</ax:distance><ax:calories>4</ax:calories><ax:summary><AverageHeartRateBpm>150"
        + "</AverageHeartRateBpm><MaximumHeartRateBpm>160</MaximumHeartRateBpm></ax:summary></ax:lap>"
    }
    let document = Documents.gpx(0...60).replacing(
      "</gpx>", with: "<extensions>\(lap(0, "0:00:40.5", 120))\(lap(40, "20", 60))</extensions></gpx>")
    let recording = try Documents.read(document)
    let summary = try #require(recording.summary)
    #expect(summary.timerSeconds == 60.5)
    #expect(summary.distanceMeters == 180)
    #expect(summary.energyKilocalories == 8)
    #expect(summary.averageHeartRateBpm == 150)
    #expect(summary.laps.map(\.startedAt) == [.zero, .seconds(40)])
    #expect(recording.lapMarks == [.seconds(40)])
  }
}
