/// What a shape's colour stands for. Pages look it up in a theme, images take the light one.
///
/// The colours of data are those of Okabe and Ito's palette, which people with any of the common colour deficiencies tell
/// apart (Okabe, Ito: Color Universal Design, 2008); dark pages have lighter ones of the same hues. No plot relies on them
/// alone: labels, dashes and places say the same.
package enum Ink: String, CaseIterable, Sendable {
    /// The ground.
    case paper
    case text
    /// Labels of axes, notes.
    case quiet
    case grid
    /// Bytes from peers, and what peers make possible.
    case peers
    /// Bytes from the CDN.
    case cdn
    /// Viewers.
    case viewers
    /// What went wrong for viewers.
    case trouble
    /// What others report.
    case field
    /// A bound that holds always.
    case hardLimit
    /// A bound that holds under assumptions.
    case softLimit

    /// As 0xRRGGBB.
    package var light: UInt32 {
        switch self {
        case .paper: 0xFFFFFF
        case .text: 0x1B1F23
        case .quiet: 0x57606A
        case .grid: 0xDDE1E6
        case .peers: 0x0072B2
        case .cdn: 0xD55E00
        case .viewers: 0x009E73
        case .trouble: 0xB0457B
        case .field: 0xE69F00
        case .hardLimit: 0x3D444D
        case .softLimit: 0x9AA2AB
        }
    }

    package var dark: UInt32 {
        switch self {
        case .paper: 0x14181D
        case .text: 0xE6EAEE
        case .quiet: 0xA3ADB7
        case .grid: 0x30373F
        case .peers: 0x56B4E9
        case .cdn: 0xF5894A
        case .viewers: 0x2CC79B
        case .trouble: 0xE08DB8
        case .field: 0xF0B93A
        case .hardLimit: 0xC4CCD4
        case .softLimit: 0x7C8792
        }
    }
}
