internal import CCairo

/// A picture that is drawn in memory and comes out as a PNG file: lines, areas, circles and texts, with cairo.
///
/// Used on one thread at a time. The same calls give the same bytes with the same version of the library and its fonts.
@safe public struct RasterCanvas: ~Copyable {
    /// A colour without transparency, as 0xRRGGBB.
    public typealias Colour = UInt32
    public typealias Point = (x: Double, y: Double)

    public enum Anchor: Sendable { case start, middle, end }

    /// What the library takes for a side of an image.
    public static let largestSide = 32_767

    private let surface: OpaquePointer
    private let context: OpaquePointer

    /// Makes a picture of one colour.
    ///
    /// - Parameters:
    ///   - width: In units of the drawing; the picture has `scale` pixels for each, rounded up.
    public init(width: Double, height: Double, scale: Double, ground: Colour) throws(RasterError) {
        let (surface, context) = unsafe try Self.make(width * scale, height * scale)
        unsafe self.surface = unsafe surface
        unsafe self.context = unsafe context
        unsafe cairo_scale(context, scale, scale)
        unsafe cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        setColour(ground)
        unsafe cairo_paint(context)
    }

    private static func make(
        _ width: Double, _ height: Double
    ) throws(RasterError) -> (OpaquePointer, OpaquePointer) {
        let (width, height) = (width.rounded(.up), height.rounded(.up))
        guard (1...Double(largestSide)).contains(width), (1...Double(largestSide)).contains(height) else {
            throw .size(width: width, height: height)
        }
        // Neither call gives null: what fails comes as an object whose state is the error.
        let surface = unsafe cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width), Int32(height))!
        let context = unsafe cairo_create(surface)!
        let status = unsafe cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else {
            unsafe cairo_destroy(context)
            unsafe cairo_surface_destroy(surface)
            throw error(status)
        }
        return unsafe (surface, context)
    }

    deinit {
        unsafe cairo_destroy(context)
        unsafe cairo_surface_destroy(surface)
    }

    // MARK: - Shapes

    public borrowing func line(_ points: [Point], colour: Colour, width: Double, isDashed: Bool = false) {
        setColour(colour)
        trace(points)
        unsafe cairo_set_line_width(context, width)
        let dashes = isDashed ? [5.0, 4.0] : []
        unsafe cairo_set_dash(context, dashes, Int32(dashes.count), 0)
        unsafe cairo_stroke(context)
    }

    public borrowing func area(_ points: [Point], colour: Colour, opacity: Double = 1) {
        setColour(colour, opacity: opacity)
        trace(points)
        unsafe cairo_close_path(context)
        unsafe cairo_fill(context)
    }

    public borrowing func circle(at centre: Point, radius: Double, colour: Colour) {
        setColour(colour)
        unsafe cairo_new_path(context)
        unsafe cairo_arc(context, centre.x, centre.y, radius, 0, 2 * Double.pi)
        unsafe cairo_fill(context)
    }

    /// Writes a line of text on the base line through `point`.
    public borrowing func text(
        _ text: String, at point: Point, size: Double, anchor: Anchor = .start, colour: Colour, isBold: Bool = false
    ) {
        setColour(colour)
        let weight = isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL
        unsafe cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight)
        unsafe cairo_set_font_size(context, size)
        var extents = cairo_text_extents_t()
        unsafe cairo_text_extents(context, text, &extents)
        let shift: Double =
            switch anchor {
            case .start: 0
            case .middle: extents.x_advance / 2
            case .end: extents.x_advance
            }
        unsafe cairo_move_to(context, point.x - shift, point.y)
        unsafe cairo_show_text(context, text)
        unsafe cairo_new_path(context)
    }

    // MARK: - The file

    /// The bytes of a PNG file.
    public borrowing func png() throws(RasterError) -> [UInt8] {
        try check()
        unsafe cairo_surface_flush(surface)
        var bytes: [UInt8] = []
        // The library calls back before it returns, so the array's address holds for as long as it is used.
        let status = unsafe withUnsafeMutablePointer(to: &bytes) { target in
            unsafe cairo_surface_write_to_png_stream(
                surface,
                { target, data, count in
                    guard let target = unsafe target, let data = unsafe data else { return CAIRO_STATUS_WRITE_ERROR }
                    let part = unsafe UnsafeBufferPointer(start: data, count: Int(count))
                    unsafe target.assumingMemoryBound(to: [UInt8].self).pointee.append(contentsOf: part)
                    return CAIRO_STATUS_SUCCESS
                }, target)
        }
        guard status == CAIRO_STATUS_SUCCESS else { throw Self.error(status) }
        return bytes
    }

    // MARK: - Helpers

    private borrowing func setColour(_ colour: Colour, opacity: Double = 1) {
        func part(_ shift: UInt32) -> Double { Double(colour >> shift & 0xFF) / 255 }
        unsafe cairo_set_source_rgba(context, part(16), part(8), part(0), opacity)
    }

    private borrowing func trace(_ points: [Point]) {
        unsafe cairo_new_path(context)
        for point in points { unsafe cairo_line_to(context, point.x, point.y) }
    }

    /// What went wrong in any call before: cairo keeps the first error.
    private borrowing func check() throws(RasterError) {
        let status = unsafe cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else { throw Self.error(status) }
    }

    private static func error(_ status: cairo_status_t) -> RasterError {
        .library(unsafe String(cString: cairo_status_to_string(status)))
    }
}
