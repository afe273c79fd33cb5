@_exported public import RunCore
