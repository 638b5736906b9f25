@main
enum Notifier {
    static func main() {}
}
