internal import CFFmpegShims

/// A result code of libavformat or libavcodec; negative ones are errors.
struct LibraryCode: RawRepresentable, Error, Hashable {
    let rawValue: Int32

    /// AVERROR(EAGAIN): more input is needed, or output must be taken first.
    static let again = LibraryCode(rawValue: CFFmpegShims_errorAgain())
    /// AVERROR(EINVAL).
    static let invalidArgument = LibraryCode(rawValue: CFFmpegShims_errorInvalidArgument())
    /// AVERROR(ENOMEM).
    static let noMemory = LibraryCode(rawValue: CFFmpegShims_errorNoMemory())
    /// AVERROR_EOF: everything was given out.
    static let endOfFile = LibraryCode(rawValue: CFFmpegShims_errorEndOfFile())
    /// AVERROR_EXIT: the reader was told to stop.
    static let exit = LibraryCode(rawValue: CFFmpegShims_errorExit())
    /// AVERROR_INVALIDDATA: the bytes make no sense.
    static let invalidData = LibraryCode(rawValue: CFFmpegShims_errorInvalidData())
}

/// What stands for "no timestamp" (AV_NOPTS_VALUE).
let noTimestamp: Int64 = CFFmpegShims_noTimestamp()

/// Turns the library's own log off, once; errors come back as values.
let silenceLibraryLog: Void = CFFmpegShims_silenceLog()
