import RealModule

/// Distances on the WGS84 ellipsoid.
package enum Geodesic {
  /// The semi-major axis of the ellipsoid, metres (WGS84, NIMA TR8350.2).
  package static let equatorialRadiusMeters = 6_378_137.0
  /// The flattening of the ellipsoid (WGS84, NIMA TR8350.2).
  package static let flattening = 1 / 298.257_223_563

  private static let polarRadiusMeters = equatorialRadiusMeters * (1 - flattening)
  /// The mean radius (2a + b) / 3, metres, for distances on a sphere.
  private static let meanRadiusMeters = (2 * equatorialRadiusMeters + polarRadiusMeters) / 3
  /// Ordinary pairs converge in two to five rounds. Only nearly antipodal pairs need more, and some of them never
  /// converge.
  private static let roundsMax = 100
  /// Radians of longitude: far below a micrometre on the ground.
  private static let tolerance = 1e-14

  /// The length of the shortest line between two points, metres.
  ///
  /// T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested equations",
  /// Survey Review 23 (176), 1975: accurate to a millimetre. His iteration does not converge for some nearly antipodal
  /// pairs; for these the function returns the great circle on the mean sphere, which is accurate to 0.6 %.
  ///
  /// ```swift
  /// let meters = Geodesic.distanceMeters(
  ///   fromLatitude: 52.5163, longitude: 13.3777, toLatitude: 52.5145, longitude: 13.3501)
  /// ```
  ///
  /// - Parameters:
  ///   - latitude1: degrees north, WGS84, -90 … 90.
  ///   - longitude1: degrees east, WGS84.
  ///   - latitude2: degrees north, WGS84, -90 … 90.
  ///   - longitude2: degrees east, WGS84.
  /// - Returns: metres; NaN when a coordinate is not finite.
  package static func distanceMeters(
    fromLatitude latitude1: Double, longitude longitude1: Double, toLatitude latitude2: Double,
    longitude longitude2: Double
  ) -> Double {
    guard latitude1.isFinite, longitude1.isFinite, latitude2.isFinite, longitude2.isFinite else { return .nan }
    if latitude1 == latitude2, longitude1 == longitude2 { return 0 }
    let start = ReducedLatitude(degrees: latitude1)
    let end = ReducedLatitude(degrees: latitude2)
    // The shorter way round, also across the date line.
    let difference = (longitude2 - longitude1).remainder(dividingBy: 360) * .pi / 180
    return vincenty(start, end, difference) ?? greatCircle(latitude1, latitude2, difference)
  }

  /// The length of a short line in metres, for thresholds: it treats the Earth as a locally flat sphere, accurate to
  /// 0.6 % over some kilometres away from the poles, and costs much less than
  /// ``distanceMeters(fromLatitude:longitude:toLatitude:longitude:)``.
  static func roughMeters(from start: Position, to end: Position) -> Double {
    let middle = (start.latitude + end.latitude) / 2 * .pi / 180
    let north = (end.latitude - start.latitude) * .pi / 180
    let east = (end.longitude - start.longitude).remainder(dividingBy: 360) * .pi / 180 * Double.cos(middle)
    return meanRadiusMeters * Double.sqrt(north * north + east * east)
  }

  /// The latitude on the auxiliary sphere, as its sine and cosine.
  private struct ReducedLatitude {
    let sine: Double
    let cosine: Double

    init(degrees: Double) {
      let latitude = degrees * .pi / 180
      // Computed without the tangent, which is infinite at the poles.
      let y = (1 - flattening) * Double.sin(latitude)
      let x = Double.cos(latitude)
      let length = Double.sqrt(x * x + y * y)
      sine = y / length
      cosine = x / length
    }
  }

  /// Vincenty's inverse; `nil` where it does not converge. The names are the paper's.
  private static func vincenty(_ u1: ReducedLatitude, _ u2: ReducedLatitude, _ difference: Double) -> Double? {
    var lambda = difference
    for _ in 0..<roundsMax {
      let sinLambda = Double.sin(lambda)
      let cosLambda = Double.cos(lambda)
      let across = u2.cosine * sinLambda
      let along = u1.cosine * u2.sine - u1.sine * u2.cosine * cosLambda
      let sinSigma = Double.sqrt(across * across + along * along)
      if sinSigma == 0 { return cosLambda > 0 ? 0 : nil }
      let cosSigma = u1.sine * u2.sine + u1.cosine * u2.cosine * cosLambda
      let sigma = Double.atan2(y: sinSigma, x: cosSigma)
      let sinAlpha = u1.cosine * u2.cosine * sinLambda / sinSigma
      let cosSquaredAlpha = 1 - sinAlpha * sinAlpha
      // Along the equator the quotient is undefined, and the term is zero.
      let cos2SigmaM = cosSquaredAlpha > 1e-15 ? cosSigma - 2 * u1.sine * u2.sine / cosSquaredAlpha : 0
      let c = flattening / 16 * cosSquaredAlpha * (4 + flattening * (4 - 3 * cosSquaredAlpha))
      let next =
        difference + (1 - c) * flattening * sinAlpha
        * (sigma + c * sinSigma * (cos2SigmaM + c * cosSigma * (2 * cos2SigmaM * cos2SigmaM - 1)))
      guard abs(next) <= .pi else { return nil }
      let settled = abs(next - lambda) <= tolerance
      lambda = next
      if settled {
        return length(
          sigma: sigma, sinSigma: sinSigma, cosSigma: cosSigma, cos2SigmaM: cos2SigmaM, cosSquaredAlpha: cosSquaredAlpha
        )
      }
    }
    return nil
  }

  private static func length(
    sigma: Double, sinSigma: Double, cosSigma: Double, cos2SigmaM: Double, cosSquaredAlpha: Double
  ) -> Double {
    let squares = (
      equator: equatorialRadiusMeters * equatorialRadiusMeters, pole: polarRadiusMeters * polarRadiusMeters
    )
    let uSquared = cosSquaredAlpha * (squares.equator - squares.pole) / squares.pole
    let a = 1 + uSquared / 16384 * (4096 + uSquared * (-768 + uSquared * (320 - 175 * uSquared)))
    let b = uSquared / 1024 * (256 + uSquared * (-128 + uSquared * (74 - 47 * uSquared)))
    let middleSquared = cos2SigmaM * cos2SigmaM
    let inner = cosSigma * (2 * middleSquared - 1)
    let outer = b / 6 * cos2SigmaM * (4 * sinSigma * sinSigma - 3) * (4 * middleSquared - 3)
    let deltaSigma = b * sinSigma * (cos2SigmaM + b / 4 * (inner - outer))
    return polarRadiusMeters * a * (sigma - deltaSigma)
  }

  /// The haversine formula on the mean sphere.
  private static func greatCircle(_ latitude1: Double, _ latitude2: Double, _ difference: Double) -> Double {
    let phi1 = latitude1 * .pi / 180
    let phi2 = latitude2 * .pi / 180
    let sinHalfLatitude = Double.sin((phi2 - phi1) / 2)
    let sinHalfLongitude = Double.sin(difference / 2)
    let h =
      sinHalfLatitude * sinHalfLatitude + Double.cos(phi1) * Double.cos(phi2) * sinHalfLongitude * sinHalfLongitude
    return 2 * meanRadiusMeters * Double.asin(min(1, Double.sqrt(h)))
  }
}
