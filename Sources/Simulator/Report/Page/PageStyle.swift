/// How the page looks: one column on a telephone, light or dark as the reader has it, fit for print.
enum PageStyle {
    static var sheet: String {
        let light = Ink.allCases.map { variable($0, $0.light) }.joined(separator: " ")
        let dark = Ink.allCases.map { variable($0, $0.dark) }.joined(separator: " ")
        let classes = Ink.allCases.map {
            ".f-\($0.rawValue) { fill: var(--\($0.rawValue)); } .s-\($0.rawValue) { stroke: var(--\($0.rawValue)); }"
        }
        return """
            :root { color-scheme: light dark; \(light) }
            @media (prefers-color-scheme: dark) { :root { \(dark) } }
            \(classes.joined(separator: "\n"))
            body { margin: 0; background: var(--paper); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
            main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
            h1 { font-size: 1.6rem; margin: 0.5rem 0; }
            h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; }
            .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.75rem; margin: 1rem 0; }
            .tiles div { border: 1px solid var(--grid); border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
            dt { color: var(--quiet); font-size: 0.85rem; }
            dd { margin: 0; font-size: 1.15rem; font-weight: 600; }
            .warning { border-left: 0.3rem solid var(--cdn); padding: 0.25rem 0.75rem; }
            .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
            figure { margin: 0; min-width: 0; }
            svg { display: block; width: 100%; height: auto; font-family: system-ui, sans-serif; }
            .scroll { overflow-x: auto; }
            table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
            th, td { border-bottom: 1px solid var(--grid); padding: 0.3rem 0.9rem 0.3rem 0; text-align: left; vertical-align: top; }
            th[scope=row] { font-weight: 400; overflow-wrap: anywhere; }
            thead th { color: var(--quiet); }
            pre { overflow-x: auto; border: 1px solid var(--grid); border-radius: 0.5rem; padding: 0.75rem; }
            """
    }

    private static func variable(_ ink: Ink, _ colour: UInt32) -> String {
        let digits = String(colour, radix: 16, uppercase: true)
        return "--\(ink.rawValue): #" + String(repeating: "0", count: 6 - digits.count) + digits + ";"
    }
}
