/// How evenly uploading is spread over the viewers who may upload; who has it switched off, openly or by the rules for
/// metered lines, is left out.
package struct UploadFairness: Sendable, Equatable {
    /// How many may upload.
    package let viewerCount: Int
    /// Jain's index of the bytes that each uploaded: (Σx)² / (n·Σx²), from 1/n, where one does it all, to 1, where all do
    /// the same (Jain, Chiu and Hawe, DEC-TR-301, 1984). `nil` when nobody uploaded.
    package let index: Double?
    /// The same of the share of its own line that each used while online: the even load that lines of unequal speed allow.
    package let lineUseIndex: Double?
    /// The part of all uploaded bytes that the top tenth of viewers gave, rounded up to whole viewers.
    package let shareOfTopTenth: Double?
    /// What each uploaded, rising.
    package let bytes: [Double]

    /// - Parameter viewers: Of each viewer that may upload, the bytes it did and the bytes its line could have carried.
    package init(_ viewers: [(bytes: Double, capacity: Double)]) {
        viewerCount = viewers.count
        bytes = viewers.map(\.bytes).sorted()
        index = Self.jain(bytes)
        lineUseIndex = Self.jain(viewers.filter { $0.capacity > 0 }.map { $0.bytes / $0.capacity })
        let sum = bytes.reduce(0, +)
        shareOfTopTenth = sum > 0 ? bytes.suffix((bytes.count + 9) / 10).reduce(0, +) / sum : nil
    }

    /// Jain's index; `nil` when all values are 0.
    package static func jain(_ values: [Double]) -> Double? {
        let sum = values.reduce(0, +)
        let squares = values.reduce(0) { $0 + $1 * $1 }
        return squares > 0 ? sum * sum / (Double(values.count) * squares) : nil
    }
}
