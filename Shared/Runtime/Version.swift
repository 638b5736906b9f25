/// The release that this code belongs to.
public enum Version {
    public static let current = "0.1.0"
}
