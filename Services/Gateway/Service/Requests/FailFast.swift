import EventLog
public import HTTP
import Postgres
public import Runtime

/// Answers 503 where Postgres or the log is away; every other error stays what it is.
public struct FailFast: Middleware {
    private let failures: Labelled<Counter>

    public init(metrics: Metrics) {
        failures = metrics.counters(
            "latchkey_gateway_unavailable_total", "Requests that failed because something was away.", labels: ["what"])
    }

    public func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as PostgresError where error.means503 {
            failures.with("postgres").increment()
            throw APIError.unavailable
        } catch let error as LogError where error.passes {
            failures.with("log").increment()
            throw APIError.unavailable
        }
    }
}

extension PostgresError {
    /// An outage, too much to do, or a schema that a service which has not started yet is still to make.
    fileprivate var means503: Bool {
        if isRetriable || code == .closed { return true }
        guard let state else { return false }
        return [.undefinedTable, .invalidSchema, .insufficientPrivilege].contains(state)
    }
}
