/// Attributes and elements that AdaptationSet and Representation share: ISO/IEC 23009-1, section 5.3.7.2.
public struct DASHCommonAttributes: Hashable, Sendable {
    public var profiles: String?
    public var width: UInt64?
    public var height: UInt64?
    public var sampleAspectRatio: String?
    public var frameRate: String?
    public var audioSamplingRate: String?
    public var mimeType: String?
    public var segmentProfiles: String?
    public var codecs: String?
    public var containerProfiles: String?
    public var supplementalCodecs: String?
    public var maximumSAPPeriod: String?
    public var startWithSAP: UInt64?
    public var maximumPlayoutRate: String?
    public var codingDependency: String?
    public var scanType: String?
    public var tag: String?
    public var audioChannelConfigurations: [DASHDescriptor]
    public var contentProtections: [DASHDescriptor]
    public var essentialProperties: [DASHDescriptor]
    public var supplementalProperties: [DASHDescriptor]
    public var inbandEventStreams: [DASHDescriptor]
    public var producerReferenceTimes: [DASHProducerReferenceTime]

    init(_ element: XMLElement, _ parsing: inout DASHParsing) {
        profiles = element["profiles"]
        width = parsing.number(element, "width")
        height = parsing.number(element, "height")
        sampleAspectRatio = element["sar"]
        frameRate = element["frameRate"]
        audioSamplingRate = element["audioSamplingRate"]
        mimeType = element["mimeType"]
        segmentProfiles = element["segmentProfiles"]
        codecs = element["codecs"]
        containerProfiles = element["containerProfiles"]
        supplementalCodecs = element.attribute(named: "supplementalCodecs")
        maximumSAPPeriod = element["maximumSAPPeriod"]
        startWithSAP = element["startWithSAP"]?.unsignedNumber
        maximumPlayoutRate = element["maxPlayoutRate"]
        codingDependency = element["codingDependency"]
        scanType = element["scanType"]
        tag = element["tag"]
        audioChannelConfigurations = parsing.descriptors(element, "AudioChannelConfiguration")
        contentProtections = parsing.descriptors(element, "ContentProtection")
        essentialProperties = parsing.descriptors(element, "EssentialProperty")
        supplementalProperties = parsing.descriptors(element, "SupplementalProperty")
        inbandEventStreams = parsing.descriptors(element, "InbandEventStream")
        producerReferenceTimes = []
        for child in element.children("ProducerReferenceTime") {
            producerReferenceTimes.append(
                DASHProducerReferenceTime(
                    id: child["id"], type: child["type"], wallClockTime: child["wallClockTime"],
                    presentationTime: parsing.number(child, "presentationTime"),
                    utcTiming: parsing.descriptors(child, "UTCTiming").first))
        }
    }

    /// These, with what is missing taken from the adaptation set around them. Properties are not inherited: those of
    /// the set speak of the set.
    public func inheriting(_ set: DASHCommonAttributes) -> DASHCommonAttributes {
        var common = self
        common.profiles = profiles ?? set.profiles
        common.width = width ?? set.width
        common.height = height ?? set.height
        common.sampleAspectRatio = sampleAspectRatio ?? set.sampleAspectRatio
        common.frameRate = frameRate ?? set.frameRate
        common.audioSamplingRate = audioSamplingRate ?? set.audioSamplingRate
        common.mimeType = mimeType ?? set.mimeType
        common.segmentProfiles = segmentProfiles ?? set.segmentProfiles
        common.codecs = codecs ?? set.codecs
        common.containerProfiles = containerProfiles ?? set.containerProfiles
        common.supplementalCodecs = supplementalCodecs ?? set.supplementalCodecs
        common.maximumSAPPeriod = maximumSAPPeriod ?? set.maximumSAPPeriod
        common.startWithSAP = startWithSAP ?? set.startWithSAP
        common.maximumPlayoutRate = maximumPlayoutRate ?? set.maximumPlayoutRate
        common.codingDependency = codingDependency ?? set.codingDependency
        common.scanType = scanType ?? set.scanType
        common.tag = tag ?? set.tag
        if audioChannelConfigurations.isEmpty { common.audioChannelConfigurations = set.audioChannelConfigurations }
        common.contentProtections = set.contentProtections + contentProtections
        return common
    }
}
