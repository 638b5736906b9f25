import Foundation
import Testing

extension SystemTests {
    /// The README says what the executables say.
    @Suite struct ReadmeTests {
        private static let services = ["gateway", "verification", "identity", "notifier"]

        private struct Variable: Equatable {
            var names: String
            var note: String
            var summary: String
            var services: [String]

            var row: String {
                let who = services == SystemTests.ReadmeTests.services ? "all" : services.joined(separator: ", ")
                return "| `\(names)` | \(who) | \(note.replacing("default: ", with: "")) | \(summary) |"
            }
        }

        /// The variables that `--help` lists: a line with names and a note in parentheses, and deeper lines that explain it.
        private static func variables(of service: String) async throws -> [Variable] {
            let help = try await Program.run("\(LatchkeySystem.executables)/\(service)", ["--help"])
            #expect(help.status == 0)
            let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex { $0.hasPrefix("Environment variables") })
            var found: [Variable] = []
            for line in lines[(start + 1)...] where !line.isEmpty {
                if line.hasPrefix("      ") {
                    let text = line.trimmingCharacters(in: .whitespaces)
                    found[found.count - 1].summary += found[found.count - 1].summary.isEmpty ? text : " " + text
                } else {
                    let parts = try #require(line.wholeMatch(of: /\s+(.+?) \((.*)\)/))
                    found.append(Variable(names: String(parts.1), note: String(parts.2), summary: "", services: [service]))
                }
            }
            return found
        }

        @Test func `the table of variables is what the executables print`() async throws {
            var expected: [Variable] = []
            for service in Self.services {
                for variable in try await Self.variables(of: service) {
                    if let index = expected.firstIndex(where: { $0.names == variable.names }) {
                        #expect(
                            expected[index].summary == variable.summary, "two services say different things of \(variable.names)")
                        #expect(expected[index].note == variable.note, "two services say different things of \(variable.names)")
                        expected[index].services.append(service)
                    } else {
                        expected.append(variable)
                    }
                }
            }
            let readme = try String(contentsOfFile: LatchkeySystem.repository + "/README.md", encoding: .utf8)
            let rows = expected.sorted { ($0.services.count, $1.names) > ($1.services.count, $0.names) }.map(\.row)
            let table = rows.joined(separator: "\n")
            #expect(readme.contains(table), "the table in README.md should be:\n\(table)")
        }

        @Test func `every command and every script is described`() async throws {
            let readme = try String(contentsOfFile: LatchkeySystem.repository + "/README.md", encoding: .utf8)
            let scripts = try FileManager.default.contentsOfDirectory(atPath: LatchkeySystem.repository + "/compose")
            for script in scripts where script != "lib" && !script.contains(".") {
                #expect(readme.contains("compose/\(script)"), "compose/\(script) is not in the README")
            }
        }

        @Test func `an image has every C library that the package names`() throws {
            let package = try String(contentsOfFile: LatchkeySystem.repository + "/Package.swift", encoding: .utf8)
            let image = try String(contentsOfFile: LatchkeySystem.repository + "/compose/Dockerfile", encoding: .utf8)
            let libraries = Set(package.matches(of: /apt: "([a-z0-9-]+)"/).map { String($0.1) })
            #expect(libraries.count >= 8)
            for library in libraries { #expect(image.contains(" \(library) "), "\(library) is not in compose/Dockerfile") }
        }

        @Test(arguments: services)
        func `an executable tells its version and refuses what it does not know`(service: String) async throws {
            let path = "\(LatchkeySystem.executables)/\(service)"
            let version = try await Program.run(path, ["--version"])
            #expect(version.status == 0)
            #expect(version.output.hasPrefix("\(service) "))
            let unknown = try await Program.run(path, ["--nonsense"])
            #expect(unknown.status == 2)
            #expect(unknown.output.isEmpty)
            let unconfigured = try await Program.run(path, ["run"])
            #expect(unconfigured.status == 78)
            let faults = unconfigured.errors.split(separator: "\n")
            #expect(faults.count >= 3)
            #expect(faults.allSatisfy { $0.hasPrefix("\(service): ") && $0.contains(" is not set") })
        }
    }
}
