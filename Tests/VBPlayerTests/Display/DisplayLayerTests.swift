import Foundation
import Testing
@testable import VBPlayer

struct DisplayLayerTests {
    private let picture = CGSize(width: 1920, height: 1080)

    @Test func aspectFitLeavesBars() {
        let rect = VBVideoGravity.resizeAspect.displayRect(
            of: picture, in: CGRect(x: 10, y: 20, width: 960, height: 960))
        #expect(rect == CGRect(x: 10, y: 230, width: 960, height: 540))
    }

    @Test func aspectFillReachesOutside() {
        let rect = VBVideoGravity.resizeAspectFill.displayRect(
            of: picture, in: CGRect(x: 0, y: 0, width: 540, height: 540))
        #expect(rect == CGRect(x: -210, y: 0, width: 960, height: 540))
    }

    @Test func stretchingTakesAll() {
        let bounds = CGRect(x: 1, y: 2, width: 300, height: 400)
        #expect(VBVideoGravity.resize.displayRect(of: picture, in: bounds) == bounds)
    }

    @Test func aLayerWithoutPictureIsEmpty() {
        let layer = VBDisplayLayer()
        #expect(!layer.isReadyForDisplay && layer.displayRect == .zero && layer.bounds == .zero)
        layer.bounds = CGRect(x: 5, y: 5, width: 10, height: 10)
        #expect(layer.bounds.width == 10 && layer.displayRect.size == .zero && layer.videoGravity == .resizeAspect)
        #expect(layer.frames.newest == nil)
    }
}
