/// Whether the network can be used.
package struct NetworkState: Sendable, Equatable {
    /// False from `disableNetwork()` until `enableNetwork()`.
    package var isEnabled = true
    /// The last report of the path monitor; true without a monitor.
    package var isPathUp = true

    package init(isEnabled: Bool = true, isPathUp: Bool = true) {
        self.isEnabled = isEnabled
        self.isPathUp = isPathUp
    }
}
