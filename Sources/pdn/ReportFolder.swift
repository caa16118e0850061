import CommandLineSupport
import Foundation
import Glibc
import Raster
import Simulator

/// The folder of `pdn simulate --report`: a page, and each of its plots as an image.
struct ReportFolder {
    /// Pixels for a point: sharp on paper and on good screens.
    private static let scale = 3.0

    private let url: URL

    /// Makes the folder if it isn't there, and tries whether it can be written to: better before a long run than after.
    init(_ path: String) throws(CommandFailure) {
        url = URL(fileURLWithPath: path, isDirectory: true)
        do {
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue {
                throw CommandFailure.failed("\(path) is a file: give the report a folder")
            }
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let probe = url.appendingPathComponent(".new-\(ProcessInfo.processInfo.processIdentifier)")
            try Data().write(to: probe)
            try FileManager.default.removeItem(at: probe)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw .failed("the folder \(path) can't be written to: \(Self.reason(error))")
        }
    }

    /// Writes `index.html` and the images; files of an earlier report are replaced.
    ///
    /// - Returns: The page's path.
    func write(_ report: SimulationReport) throws(CommandFailure) -> String {
        for drawing in report.plots { try write(Self.image(drawing), as: drawing.name + ".png") }
        try write(Array(report.page.utf8), as: "index.html")
        return url.appendingPathComponent("index.html").path
    }

    private func write(_ bytes: [UInt8], as name: String) throws(CommandFailure) {
        let file = url.appendingPathComponent(name)
        do { try Data(bytes).write(to: file, options: .atomic) } catch {
            throw .failed("\(file.path) can't be written: \(Self.reason(error))")
        }
    }

    private static func reason(_ error: any Error) -> String {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        if cause.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(cause.code))) }
        let reason = cause.localizedFailureReason ?? cause.localizedDescription
        return reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    }

    private static func image(_ drawing: Drawing) throws(CommandFailure) -> [UInt8] {
        do {
            let canvas = try RasterCanvas(
                width: drawing.width, height: drawing.height, scale: scale, ground: Ink.paper.light)
            for shape in drawing.shapes { draw(shape, on: canvas) }
            return try canvas.png()
        } catch {
            throw .failed("\(drawing.name).png: \(error)")
        }
    }

    private static func draw(_ shape: Drawing.Shape, on canvas: borrowing RasterCanvas) {
        switch shape {
        case .line(let points, let ink, let width, let isDashed):
            canvas.line(points.map { ($0.x, $0.y) }, colour: ink.light, width: width, isDashed: isDashed)
        case .area(let points, let ink, let opacity):
            canvas.area(points.map { ($0.x, $0.y) }, colour: ink.light, opacity: opacity)
        case .circle(let centre, let radius, let ink):
            canvas.circle(at: (centre.x, centre.y), radius: radius, colour: ink.light)
        case .text(let text):
            let anchor: RasterCanvas.Anchor =
                switch text.anchor {
                case .start: .start
                case .middle: .middle
                case .end: .end
                }
            canvas.text(
                text.text, at: (text.at.x, text.at.y), size: text.size, anchor: anchor, colour: text.ink.light,
                isBold: text.isBold)
        }
    }
}
