@_exported import Musl
