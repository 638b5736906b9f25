@main
enum Identity {
    static func main() {}
}
