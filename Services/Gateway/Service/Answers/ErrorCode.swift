public import EventSchema
public import HTTP

/// The errors of the HTTP contract: code, status, message. The one place where outcomes become HTTP.
public enum ErrorCode: String, Sendable, CaseIterable {
    case validation = "VALIDATION_ERROR"
    case invalidOTP = "INVALID_OTP"
    case maxAttemptsExceeded = "MAX_ATTEMPTS_EXCEEDED"
    case accountExists = "ACCOUNT_EXISTS"
    case onboardingCompleted = "ONBOARDING_COMPLETED"
    case invalidCredentials = "INVALID_CREDENTIALS"
    case refreshTokenInvalid = "REFRESH_TOKEN_INVALID"
    case resetTokenInvalid = "RESET_TOKEN_INVALID"
    case unauthenticated = "UNAUTHENTICATED"
    case forbidden = "FORBIDDEN"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    case expectationFailed = "EXPECTATION_FAILED"
    case idempotencyConflict = "IDEMPOTENCY_CONFLICT"
    case rateLimited = "RATE_LIMITED"
    case headersTooLarge = "HEADERS_TOO_LARGE"
    case internalError = "INTERNAL_ERROR"
    case notImplemented = "NOT_IMPLEMENTED"
    case unavailable = "UNAVAILABLE"
    case timeout = "TIMEOUT"

    public var status: HTTPStatus {
        switch self {
        case .validation, .invalidOTP, .maxAttemptsExceeded, .resetTokenInvalid: .badRequest
        case .unauthenticated, .invalidCredentials, .refreshTokenInvalid: .unauthorized
        case .accountExists, .onboardingCompleted: .conflict
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .payloadTooLarge: .payloadTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .expectationFailed: .expectationFailed
        case .idempotencyConflict: .unprocessableContent
        case .rateLimited: .tooManyRequests
        case .headersTooLarge: .headerFieldsTooLarge
        case .internalError: .internalServerError
        case .notImplemented: .notImplemented
        case .unavailable: .serviceUnavailable
        case .timeout: .gatewayTimeout
        }
    }

    /// What people are told, unless an error has something more exact to say.
    public var message: String {
        switch self {
        case .validation: "The request is not valid."
        case .invalidOTP: "Invalid or expired verification code."
        case .maxAttemptsExceeded: "Too many wrong codes. Request a new one."
        case .accountExists: "An account with this e-mail address or phone number exists already."
        case .onboardingCompleted: "This onboarding is completed."
        case .invalidCredentials: "Invalid e-mail or password."
        case .refreshTokenInvalid: "The session has expired. Please log in again."
        case .resetTokenInvalid: "Reset session expired. Start over."
        case .unauthenticated: "Authentication is required."
        case .forbidden: "This is not allowed."
        case .notFound: "There is nothing here."
        case .methodNotAllowed: "This method is not allowed here."
        case .payloadTooLarge: "The body is too large."
        case .unsupportedMediaType: "The body must be application/json."
        case .expectationFailed: "The expectation cannot be met."
        case .idempotencyConflict: "This Idempotency-Key was used with another body."
        case .rateLimited: "Too many requests."
        case .headersTooLarge: "The header fields are too large."
        case .internalError: "Something went wrong."
        case .notImplemented: "This is not supported."
        case .unavailable: "The service is not available. Try again later."
        case .timeout: "No answer in time. The outcome is unknown."
        }
    }

    /// What a command's outcome is to the client; `nil` for success.
    ///
    /// An outcome that this version does not know is an internal error: a release of the services that writes it must follow
    /// one of the gateways that reads it.
    public init?(_ outcome: Reply.Outcome) {
        switch outcome {
        case .ok: return nil
        case .invalidOTP: self = .invalidOTP
        case .maxAttemptsExceeded: self = .maxAttemptsExceeded
        case .notFound: self = .notFound
        case .accountExists: self = .accountExists
        case .onboardingCompleted: self = .onboardingCompleted
        case .unauthenticated: self = .unauthenticated
        case .forbidden: self = .forbidden
        case .invalidCredentials: self = .invalidCredentials
        case .rateLimited: self = .rateLimited
        case .refreshTokenInvalid: self = .refreshTokenInvalid
        case .resetTokenInvalid: self = .resetTokenInvalid
        // It changed each time that it was checked.
        case .stale: self = .unavailable
        default: self = .internalError
        }
    }

    /// What the HTTP layer's own refusals are to the client.
    public init(_ failure: HTTPFailure) {
        switch failure {
        case .malformedRequest, .malformedBody: self = .validation
        case .notFound: self = .notFound
        case .methodNotAllowed: self = .methodNotAllowed
        case .payloadTooLarge: self = .payloadTooLarge
        case .unsupportedMediaType: self = .unsupportedMediaType
        case .expectationFailed: self = .expectationFailed
        case .headerTooLarge: self = .headersTooLarge
        case .internalError: self = .internalError
        case .unknownTransferCoding: self = .notImplemented
        case .unavailable: self = .unavailable
        case .timeout: self = .timeout
        }
    }
}
