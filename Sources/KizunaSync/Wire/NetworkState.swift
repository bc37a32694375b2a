/// What is known of the network.
package struct NetworkState: Sendable, Equatable {
    /// False while `disableNetwork()` is in force.
    package var isEnabled = true
    /// What the path monitor believes; true where there is none.
    package var isPathUp = true

    package init(isEnabled: Bool = true, isPathUp: Bool = true) {
        self.isEnabled = isEnabled
        self.isPathUp = isPathUp
    }
}
