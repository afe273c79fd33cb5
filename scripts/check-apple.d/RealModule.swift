// The functions of RealModule that RunCore uses. Never run.
extension Double {
  public static func sin(_ x: Double) -> Double { x }
  public static func cos(_ x: Double) -> Double { x }
  public static func asin(_ x: Double) -> Double { x }
  public static func atan2(y: Double, x: Double) -> Double { y * x }
  public static func sqrt(_ x: Double) -> Double { x.squareRoot() }
}
