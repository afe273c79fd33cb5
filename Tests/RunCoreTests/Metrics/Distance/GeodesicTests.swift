import RunCore
import Testing

@Suite("WGS84 distances")
struct GeodesicTests {
  /// Computed by geographiclib 2.1 (`Geodesic.WGS84.Inverse`).
  static let vectors: [(Double, Double, Double, Double, meters: Double)] = [
    (0, 0, 0, 1, 111319.490793274),
    (0, 0, 1, 0, 110574.388557799),
    (89, 0, 90, 0, 111693.864914200),
    (-89, 10, -89, -170, 223387.729828400),
    (52.0, 13.0, 52.00003, 13.0, 3.338020608),
    (52.0, 13.0, 52.0, 13.00003, 2.060340482),
    (52.0, 13.0, 52.00001, 13.00002, 1.767684907),
    (60.0, 179.99999, 60.0, -179.99999, 1.116000032),
    (-33.5, 151.2, -33.5001, 151.2003, 30.002180355),
    (40.6, -73.8, 51.6, -0.5, 5551759.400318678),
    (-37.95103341666667, 144.42486788888888, -37.65282113888889, 143.92649552777777, 54972.271139201),
    (80, 20, 80, 21, 19393.246801387),
    (10, -170, -20, 170, 3976747.636208527),
    (30, 0, -29, 178, 19798559.253150698),
    (45, 7, 45, 7, 0),
  ]

  @Test("Distances equal geographiclib's within a tenth of a millimetre", arguments: vectors)
  func vector(_ vector: (Double, Double, Double, Double, meters: Double)) {
    let meters = Geodesic.distanceMeters(
      fromLatitude: vector.0, longitude: vector.1, toLatitude: vector.2, longitude: vector.3)
    // The series is exact to a tenth of a millimetre over thousands of kilometres, and to a nanometre over a step.
    #expect(abs(meters - vector.meters) < (vector.meters < 1000 ? 1e-6 : 1e-4))
    let back = Geodesic.distanceMeters(
      fromLatitude: vector.2, longitude: vector.3, toLatitude: vector.0, longitude: vector.1)
    #expect(abs(back - meters) < 1e-6)
  }

  @Test("Nearly antipodal pairs, where the iteration does not converge, stay within six thousandths")
  func antipodal() {
    for (vector, meters) in [((0.0, 0.0, 0.5, 179.7), 19944127.420750458), ((0, 0, 0, 179), 19926188.851995971)] {
      let distance = Geodesic.distanceMeters(
        fromLatitude: vector.0, longitude: vector.1, toLatitude: vector.2, longitude: vector.3)
      #expect(abs(distance - meters) < 0.006 * meters)
    }
    #expect(Geodesic.distanceMeters(fromLatitude: 0, longitude: 0, toLatitude: 0, longitude: 180).isFinite)
    #expect(Geodesic.distanceMeters(fromLatitude: 90, longitude: 0, toLatitude: -90, longitude: 77) > 20_003_000)
  }

  @Test("No coordinate makes it trap: what is not finite gives NaN")
  func garbage() {
    for value in [Double.nan, .infinity, -.infinity] {
      #expect(Geodesic.distanceMeters(fromLatitude: value, longitude: 0, toLatitude: 1, longitude: 1).isNaN)
      #expect(Geodesic.distanceMeters(fromLatitude: 0, longitude: 0, toLatitude: 1, longitude: value).isNaN)
    }
    #expect(!Geodesic.distanceMeters(fromLatitude: 1e300, longitude: 7, toLatitude: -1e9, longitude: 1e18).isInfinite)
  }
}
