import Foundation
import Testing
@testable import VBPlayer

@MainActor struct ObservationTests {
    private let layer = VBDisplayLayer()

    private func setBounds(_ width: CGFloat) { layer.bounds = CGRect(x: 0, y: 0, width: width, height: 1) }

    @Test func changesComeOnTheMainQueueInOrder() async {
        var values: [CGFloat] = []
        let observation = layer.observe(\.bounds, options: [.old, .new]) { object, change in
            dispatchPrecondition(condition: .onQueue(.main))
            #expect(change.kind == .setting && !change.isPrior && change.indexes == nil)
            values.append(change.oldValue?.width ?? -1)
            values.append(change.newValue?.width ?? -1)
        }
        await Task.detached { [layer] in
            for width in 1...3 { layer.bounds = CGRect(x: 0, y: 0, width: CGFloat(width), height: 1) }
        }.value
        #expect(await eventually { values == [0, 1, 1, 2, 2, 3] })
        observation.invalidate()
    }

    @Test func initialComesAtOnceAndValuesOnlyWhenAskedFor() async {
        setBounds(7)
        var widths: [CGFloat?] = []
        let observation = layer.observe(\.bounds, options: [.initial, .new]) { widths.append($1.newValue?.width) }
        #expect(widths == [7])
        setBounds(8)
        #expect(await eventually { widths == [7, 8] })
        var empty: [Bool] = []
        let plain = layer.observe(\.bounds) { empty.append($1.newValue == nil && $1.oldValue == nil) }
        setBounds(9)
        #expect(await eventually { empty == [true] })
        observation.invalidate()
        plain.invalidate()
    }

    @Test func priorComesFirst() async {
        var calls: [(Bool, CGFloat?, CGFloat?)] = []
        let observation = layer.observe(\.bounds, options: [.prior, .old, .new]) {
            calls.append(($1.isPrior, $1.oldValue?.width, $1.newValue?.width))
        }
        setBounds(4)
        #expect(await eventually { calls.count == 2 })
        #expect(calls.first?.0 == true && calls.first?.1 == 0 && calls.first?.2 == nil)
        #expect(calls.last?.0 == false && calls.last?.1 == 0 && calls.last?.2 == 4)
        observation.invalidate()
    }

    @Test func equalValuesAreNotToldAndOtherPropertiesNeither() async {
        var count = 0
        let observation = layer.observe(\.videoGravity) { _, _ in count += 1 }
        setBounds(4)
        layer.videoGravity = .resizeAspect
        await settle()
        #expect(count == 0)
        layer.videoGravity = .resize
        #expect(await eventually { count == 1 })
        observation.invalidate()
    }

    @Test func nothingComesAfterInvalidationOrRelease() async {
        var count = 0
        var observation: NSKeyValueObservation? = layer.observe(\.bounds) { _, _ in count += 1 }
        setBounds(1)
        observation?.invalidate()
        observation?.invalidate()
        await settle()
        #expect(count == 0)
        observation = layer.observe(\.bounds) { _, _ in count += 1 }
        setBounds(2)
        observation = nil
        await settle()
        #expect(count == 0)
    }

    /// What a caller's block holds, and what uses the layer once more as it goes.
    private final class Model {
        let layer: VBDisplayLayer
        init(_ layer: VBDisplayLayer) { self.layer = layer }
        deinit { layer.frames.setHandler { [bounds = layer.bounds] _ in _ = bounds } }
    }

    @Test func whatAnObserverHoldsGoesWithItAndMayUseTheObject() {
        var model: Model? = Model(layer)
        weak let released = model
        let observation = layer.observe(\.bounds) { [model] _, _ in withExtendedLifetime(model) {} }
        model = nil
        #expect(released != nil)
        observation.invalidate()
        #expect(released == nil)
        setBounds(1)
    }

    @Test func whatAPictureHandlerHoldsMayUseTheLayerAsItGoes() {
        var model: UncheckedBox<Model>? = UncheckedBox(Model(layer))
        weak let released = model?.value
        layer.frames.setHandler { [model] _ in withExtendedLifetime(model) {} }
        model = nil
        #expect(released != nil)
        layer.frames.setHandler(nil)
        #expect(released == nil)
    }

    /// A subclass's key paths are other key paths, and its own properties change with those they are computed from.
    final class WideLayer: VBDisplayLayer, @unchecked Sendable {
        var isWide: Bool { bounds.width > 10 }
    }

    @Test func subclassesAreObservedAsTheirOwnType() async {
        let layer = WideLayer()
        var wide: [Bool?] = []
        var widths: [CGFloat] = []
        let first = layer.observe(\.isWide, options: [.new]) { wide.append($1.newValue) }
        let second = layer.observe(\.bounds, options: [.new]) { object, change in
            widths.append(change.newValue?.width ?? -1)
            _ = object.isWide
        }
        for width in [CGFloat(5), 11, 12, 3] { layer.bounds = CGRect(x: 0, y: 0, width: width, height: 1) }
        #expect(await eventually { widths == [5, 11, 12, 3] })
        #expect(wide == [true, false])
        first.invalidate()
        second.invalidate()
    }

    @Test func aMainQueueThatIsBusyCostsNothingButIntermediateValues() async {
        let state = ObservedState(0)
        var seen: [Int] = []
        let cancellation = Cancellation()
        _ = state.add(cancellation) { _, change in MainActor.assumeIsolated { seen.append(change.new) } }
        for value in 1...1000 { state.update { $0 = value } }
        #expect(await eventually { seen.last == 1000 })
        #expect(seen.count <= ObservedState<Int>.maximumPending + 1 && seen == seen.sorted())
    }
}
