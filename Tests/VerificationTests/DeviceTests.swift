import EventSchema
import Testing
import VerificationDomain

/// A device of the account has codes and budgets of its own.
@Suite struct DeviceTests {
    @Test func `a device confirms the code that was sent to it`() {
        Given<Challenge>(.issued(at: noon, device: phone))
            .when(.enter(right, at: noon, device: phone)).then(.confirmed(at: noon, device: phone))
            .when(.enter(right, at: noon, device: phone)).thenRefused(.noLiveCode)
    }

    @Test func `others cannot enter it`() {
        Given<Challenge>(.issued(at: noon, device: phone))
            .when(.enter(right, at: noon)).thenRefused(.noLiveCode)
            .when(.enter(right, at: noon, device: tablet)).thenRefused(.noLiveCode)
    }

    @Test func `a stranger's sends neither replace its code nor use up its sends`() {
        let strangers = (0..<5).map { Challenge.Event.issued("99999\($0)", at: noon) }
        Given<Challenge>([.issued(at: noon, device: phone)] + strangers)
            .when(.send(at: noon)).thenRefused(.sendsUsedUp)
            .when(.enter(right, at: noon, device: phone)).then(.confirmed(at: noon, device: phone))
            .when(.send(at: noon, device: phone)).then(.issued(at: noon, device: phone))
    }

    @Test func `a stranger's wrong codes do not hurt it`() {
        var events: [Challenge.Event] = [.issued(at: noon, device: phone)]
        for _ in 0..<5 { events += [.issued(at: noon), .missed(at: noon), .missed(at: noon), .exhausted(at: noon)] }
        Given<Challenge>(events + [.issued("777777", at: noon)], from: HourlyBudgetTests.initial)
            .when(.enter("777777", at: noon)).thenRefused(.wrongCodesUsedUp)
            .when(.enter(wrong, at: noon, device: phone)).then(.missed(at: noon, device: phone))
            .when(.enter(right, at: noon, device: phone)).then(.confirmed(at: noon, device: phone))
    }

    @Test func `its own budgets hold`() {
        Given<Challenge>(Array(repeating: .issued(at: noon, device: phone), count: 5))
            .when(.send(at: noon, device: phone)).thenRefused(.sendsUsedUp)
            .when(.send(at: noon, device: tablet)).then(.issued(at: noon, device: tablet))
        Given<Challenge>(.issued(at: noon, device: phone), .missed(at: noon, device: phone), .missed(at: noon, device: phone))
            .when(.enter(wrong, at: noon, device: phone)).then(.exhausted(at: noon, device: phone))
            .when(.enter(right, at: noon, device: phone)).thenRefused(.noLiveCode)
    }

    @Test func `its hour has fifteen wrong codes too`() {
        var events: [Challenge.Event] = []
        for _ in 0..<5 {
            events += [.issued(at: noon, device: phone), .missed(at: noon, device: phone)]
            events += [.missed(at: noon, device: phone), .exhausted(at: noon, device: phone)]
        }
        Given<Challenge>(events + [.issued(at: noon, device: phone)], from: HourlyBudgetTests.initial)
            .when(.enter(right, at: noon, device: phone)).thenRefused(.wrongCodesUsedUp)
    }

    @Test func `a device without a code of its own enters the one of everybody`() {
        // Sent before there was an account, confirmed after signing up on the same device.
        Given<Challenge>(.issued(at: noon))
            .when(.enter(wrong, at: noon, device: phone)).then(.missed(at: noon))
            .when(.enter(right, at: noon, device: phone)).then(.confirmed(at: noon))
    }

    @Test func `a device with a code of its own does not`() {
        Given<Challenge>(.issued("111111", at: noon), .issued("222222", at: noon, device: phone))
            .when(.enter("111111", at: noon, device: phone)).then(.missed(at: noon, device: phone))
            .when(.enter("111111", at: noon)).then(.confirmed(at: noon))
    }

    @Test func `once its own code is gone it enters the one of everybody`() {
        let later = noon + .minutes(5)
        Given<Challenge>(.issued("222222", at: noon, device: phone), .issued("111111", at: later - .seconds(1)))
            .when(.enter("111111", at: later - .milliseconds(1), device: phone)).then(
                .missed(at: later - .milliseconds(1), device: phone)
            )
            .when(.enter("111111", at: later, device: phone)).then(.confirmed(at: later))
    }

    @Test func `a device's decoy never matches`() {
        Given<Challenge>(.issued(at: noon, decoy: true, device: phone))
            .when(.enter(right, at: noon, device: phone)).then(.missed(at: noon, device: phone))
    }
}
