public import CoreModel
public import TrackerProtocol

/// How a tracker admits, matches and bounds.
public struct TrackerConfiguration: Sendable {
    /// The keys whose tokens admit; empty admits everybody.
    public var tokenKeys: [VerificationKey] = []
    /// The viewers in all swarms together. Each takes about 1 KiB.
    public var maximumMemberCount = 50_000
    /// The swarms at once.
    public var maximumSwarmCount = 10_000
    /// A certificate's mean life; each is drawn a tenth shorter or longer, so that renewals don't come together.
    public var certificateLife: Duration = .seconds(1800)
    /// The time between reports.
    public var reportInterval: Duration = .seconds(10)
    /// A connection that has not joined after this ends.
    public var joinTimeout: Duration = .seconds(15)
    /// Silence after which a viewer is gone.
    public var memberLife: Duration = .seconds(180)
    /// Addresses in one answer.
    public var peersPerAnswer = 30
    /// Addresses that one credential is told in an hour; loopback is exempt. With open admission the viewer's address
    /// is the credential, and ``openAddressFactor`` times as many are told, since many viewers may share it.
    public var addressesPerHour = 400
    /// See ``addressesPerHour``.
    public var openAddressFactor = 10
    /// How far behind its leader a cohort reaches.
    public var cohortSpan: Duration = .seconds(30)
    /// Members of a front at most.
    public var maximumFrontCount = 32
    /// How long a front holds.
    public var frontLife: Duration = .seconds(30)
    /// A front is told again when it holds for no longer than this.
    public var frontRenewal: Duration = .seconds(8)
    /// Cohorts of one swarm that have a front, from the leading one on; viewers behind the last of them elect.
    public var maximumCohortCount = 256
    /// What viewers are told to keep to, with each welcome.
    public var settings = RemoteSettings()

    /// The defaults.
    public init() {}
}
