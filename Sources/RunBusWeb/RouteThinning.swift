import RunBus

/// Makes a route short enough for a picture.
enum RouteThinning {
  /// The points of a route that count, at most `count` of them, so that the line looks the same.
  ///
  /// Douglas and Peucker's rule (1973): a point stays when the line without it would be further away than a tolerance. The
  /// tolerance is doubled until few enough stay. Distances are those of an equirectangular projection, which is exact
  /// enough at the size of a run.
  static func thinned(_ route: [RoutePoint], to count: Int) -> [RoutePoint] {
    let points = route.filter { $0.verdict.counts }
    guard points.count > max(2, count), let first = points.first else { return points }
    let scale = cosine(ofDegrees: first.position.latitude)
    let plane = points.map { (x: $0.position.longitude * scale * 111_320, y: $0.position.latitude * 110_574) }
    var tolerance = 0.5
    while true {
      let kept = keep(plane, points, tolerance)
      if kept.count <= count { return kept.map { points[$0] } }
      tolerance *= 2
      // A line that begins anew again and again cannot be shortened by its shape.
      guard tolerance < 1e7 else {
        return (0..<count).map { points[$0 * (points.count - 1) / max(1, count - 1)] }
      }
    }
  }

  private static func keep(
    _ plane: [(x: Double, y: Double)], _ points: [RoutePoint], _ tolerance: Double
  ) -> [Int] {
    var isKept = [Bool](repeating: false, count: plane.count)
    isKept[0] = true
    isKept[plane.count - 1] = true
    // A point at which the line begins anew stays, and so does the one before it.
    var marks = [0]
    for index in points.indices.dropFirst() where points[index].verdict == .anchored {
      isKept[index] = true
      isKept[index - 1] = true
      marks += [index - 1, index]
    }
    marks.append(plane.count - 1)
    var open = zip(marks, marks.dropFirst()).filter { $1 - $0 > 1 }.map { ($0, $1) }
    while let (from, to) = open.popLast() {
      var (furthest, distance) = (from, tolerance)
      for index in (from + 1)..<to {
        let off = self.distance(plane[index], plane[from], plane[to])
        if off > distance { (furthest, distance) = (index, off) }
      }
      guard furthest > from else { continue }
      isKept[furthest] = true
      if furthest - from > 1 { open.append((from, furthest)) }
      if to - furthest > 1 { open.append((furthest, to)) }
    }
    return isKept.indices.filter { isKept[$0] }
  }

  /// How far a point is from the line between two others.
  private static func distance(
    _ point: (x: Double, y: Double), _ from: (x: Double, y: Double), _ to: (x: Double, y: Double)
  ) -> Double {
    let (dx, dy) = (to.x - from.x, to.y - from.y)
    let length = dx * dx + dy * dy
    let share = length > 0 ? min(1, max(0, ((point.x - from.x) * dx + (point.y - from.y) * dy) / length)) : 0
    let (x, y) = (point.x - from.x - share * dx, point.y - from.y - share * dy)
    return (x * x + y * y).squareRoot()
  }

  /// The first terms of the series are exact to 0.1 % up to 70 degrees, which no picture shows.
  private static func cosine(ofDegrees degrees: Double) -> Double {
    let x = min(90, abs(degrees)) * .pi / 180
    let square = x * x
    return max(0.01, 1 - square / 2 + square * square / 24 - square * square * square / 720)
  }
}
