/// The version of this package, as it names itself to the server.
public enum KizunaSyncVersion {
    /// The current version.
    public static let current = "0.1.0"
}
