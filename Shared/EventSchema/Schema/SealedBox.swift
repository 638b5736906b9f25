public import Crypto

/// What is sealed to a service, as messages carry it: a name for domains, which pass boxes on and import no cryptography.
public typealias SealedBox = Box
