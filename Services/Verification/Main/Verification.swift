@main
enum Verification {
    static func main() {}
}
