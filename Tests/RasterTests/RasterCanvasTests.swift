import Foundation
import Raster
import Testing

/// Pictures, read by the rules of the PNG specification and by another program where there is one.
@Suite struct RasterCanvasTests {
    private static func picture(_ draw: (borrowing RasterCanvas) -> Void = { _ in }) throws -> [UInt8] {
        let canvas = try RasterCanvas(width: 40, height: 30, scale: 2, ground: 0xFFFFFF)
        draw(canvas)
        return try canvas.png()
    }

    /// PNG (Third Edition), sections 5.2 and 11.2.1: the signature, and IHDR with its length, type, width and height.
    @Test func theFileBeginsAsPNGFilesDo() throws {
        let bytes = try Self.picture()
        #expect(bytes.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(bytes[8..<16] == [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
        #expect(bytes[16..<24] == [0, 0, 0, 80, 0, 0, 0, 60])
        // Section 11.2.5: IEND, empty, with its checksum.
        #expect(bytes.suffix(12) == [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    }

    @Test func equalCallsGiveEqualBytes() throws {
        func draw(_ canvas: borrowing RasterCanvas) {
            canvas.line([(1, 1), (30, 20)], colour: 0x0072B2, width: 2, isDashed: true)
            canvas.text("12 %", at: (20, 20), size: 10, anchor: .middle, colour: 0, isBold: true)
        }
        #expect(try Self.picture(draw) == Self.picture(draw))
        #expect(try Self.picture(draw) != Self.picture())
    }

    @Test(arguments: [(0.0, 10.0), (10, -1), (40_000, 10), (.nan, 10), (.infinity, 1)])
    func aSizeThatNoPictureHasIsAnError(width: Double, height: Double) {
        #expect(throws: RasterError.self) {
            _ = try RasterCanvas(width: width, height: height, scale: 1, ground: 0)
        }
    }

    /// What the library can't draw is an error of the picture, not a trap.
    @Test func anImpossibleShapeIsReported() throws {
        #expect(throws: RasterError.self) {
            try Self.picture {
                $0.line([(0, 0), (1, 1)], colour: 0, width: .nan, isDashed: true);
                $0.text("a\u{0}b", at: (.nan, 0), size: .nan, colour: 0)
            }
        }
    }

    private static let decoder = "/usr/bin/ffmpeg"

    /// A red area over the left half of a white picture, as ffmpeg decodes it.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: decoder), "there is no ffmpeg"))
    func anotherProgramSeesTheShapes() throws {
        let bytes = try Self.picture { $0.area([(0, 0), (20, 0), (20, 30), (0, 30)], colour: 0xFF0000) }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("raster-\(UUID().uuidString).png")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.decoder)
        process.arguments = ["-v", "error", "-i", file.path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let pixels = Array(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        try #require(pixels.count == 80 * 60 * 3)
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(pixels[(y * 80 + x) * 3..<(y * 80 + x) * 3 + 3]) }
        #expect(pixel(0, 0) == [255, 0, 0] && pixel(39, 59) == [255, 0, 0])
        #expect(pixel(40, 0) == [255, 255, 255] && pixel(79, 59) == [255, 255, 255])
    }
}
