/// The buttons that make sense now, whether or not the phone has answered the last one.
var buttons: [CommandKind] {
  CommandKind.allCases.filter { model.allows($0) }
}
