/// The time on the dial: time in which the run was running.
func dial(at date: Date) -> String {
  RunFormat(locale: Locale(identifier: "en_GB")).duration(model.active(at: date))
}
