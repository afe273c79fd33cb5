import RunBus
import RunRecordings

/// Documents made for tests: one trackpoint a line, so that a line number identifies a trackpoint.
enum Documents {
  static func time(_ second: Int) -> String {
    func pad(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "2026-03-01T\(pad(10 + second / 3600)):\(pad(second / 60 % 60)):\(pad(second % 60))Z"
  }

  /// A GPX trackpoint: 3 m/s to the north, heart rate 140, cadence 85.
  static func gpxPoint(_ second: Int, extra: String = "<ax:hr>140</ax:hr><ax:cad>85</ax:cad>") -> String {
    #"<trkpt lat="\#(50 + Double(second) * 2.7e-5)" lon="8.5"><ele>100.5</ele><time>\#(time(second))</time>"#
      + "<extensions><ax:TrackPointExtension>\(extra)</ax:TrackPointExtension></extensions></trkpt>"
  }
  /// Three lines, then one point a line from line 4 on.
  static func gpx(_ seconds: some Sequence<Int>) -> String { gpx(points: seconds.map { gpxPoint($0) }) }
  static func gpx(points: [String], statistics: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:ax="urn:ax">
    <trk><name>Morning run</name>\(statistics)<trkseg>
    \(points.joined(separator: "\n"))
    </trkseg></trk></gpx>

    """
  }

  static func tcxPoint(_ second: Int) -> String {
    """
    <Trackpoint><Time>\(time(second))</Time><Position><LatitudeDegrees>\(50 + Double(second) * 2.7e-5)</LatitudeDegrees>\
    <LongitudeDegrees>8.5</LongitudeDegrees></Position><DistanceMeters>\(second * 3)</DistanceMeters>\
    <HeartRateBpm><Value>140</Value></HeartRateBpm></Trackpoint>
    """
  }
  /// A lap: two lines of figures, one point a line, and a closing line.
  static func tcxLap(_ seconds: [Int], figures: String? = nil) -> String {
    """
    <Lap StartTime="\(time(seconds.first ?? 0))">
    \(figures ?? "<TotalTimeSeconds>\(seconds.count)</TotalTimeSeconds><DistanceMeters>\(seconds.count * 3)</DistanceMeters>")
    <Track>
    \(seconds.map(tcxPoint).joined(separator: "\n"))
    </Track></Lap>
    """
  }
  static func tcx(_ laps: [String]) -> String {
    tcx(activities: ["<Activity Sport=\"Running\">\n" + laps.joined(separator: "\n") + "\n</Activity>"])
  }
  static func tcx(activities: [String]) -> String {
    """
    <?xml version="1.0"?>
    <TrainingCenterDatabase xmlns="urn:t" xmlns:ns3="urn:x"><Activities>
    \(activities.joined(separator: "\n"))
    </Activities></TrainingCenterDatabase>

    """
  }

  /// A TCX of a watch with a foot pod: four laps of five minutes at 3 m/s to the north, the third in two tracks with a
  /// pause of a minute between them. For a minute of the second lap the fixes jump from side to side; the pod does not.
  static let podRun: String = {
    func point(_ second: Int, runningSeconds: Int) -> String {
      let jump = (400..<460).contains(second) && second.isMultiple(of: 2) ? 4e-5 : 0
      let latitude = 50 + Double(runningSeconds) * 2.7e-5
      return "<Trackpoint><Time>\(time(second))</Time><Position><LatitudeDegrees>\(latitude)</LatitudeDegrees>"
        + "<LongitudeDegrees>\(8.5 + jump)</LongitudeDegrees></Position><AltitudeMeters>100.5</AltitudeMeters>"
        + "<DistanceMeters>\(runningSeconds * 3)</DistanceMeters>"
        + "<HeartRateBpm><Value>\(130 + second / 60)</Value></HeartRateBpm>"
        + "<Extensions><ns3:TPX><ns3:RunCadence>\(84 + second % 3)</ns3:RunCadence></ns3:TPX></Extensions></Trackpoint>"
    }
    func track(_ seconds: Range<Int>, pausedSeconds: Int = 0) -> String {
      "<Track>\n" + seconds.map { point($0, runningSeconds: $0 - pausedSeconds) }.joined(separator: "\n") + "\n</Track>"
    }
    func lap(_ start: Int, _ tracks: String...) -> String {
      "<Lap StartTime=\"\(time(start))\"><TotalTimeSeconds>300</TotalTimeSeconds><DistanceMeters>900</DistanceMeters>"
        + tracks.joined(separator: "\n") + "</Lap>"
    }
    return tcx([
      lap(0, track(0..<300)), lap(300, track(300..<600)),
      lap(600, track(600..<750), track(810..<960, pausedSeconds: 60)), lap(960, track(960..<1260, pausedSeconds: 60)),
    ])
  }()

  static func read(_ document: String) throws(RunBusError) -> Recording { try read(Array(document.utf8)) }
  static func read(_ document: [UInt8]) throws(RunBusError) -> Recording { try Recording.read(document, name: "f") }
}

extension Recording {
  /// The number of positions.
  var positionCount: Int {
    samples.count { if case .position = $0.value { true } else { false } }
  }
  var cadences: [Double] {
    samples.compactMap { if case .cadence(let steps) = $0.value { steps } else { nil } }
  }
  var pedometers: [Double] {
    samples.compactMap { if case .pedometer(let meters) = $0.value { meters } else { nil } }
  }
}
