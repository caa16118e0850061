/// Text in HTML and SVG.
enum Markup {
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // Control characters have no place in a document, as themselves or otherwise.
            case "\u{0}"..<" ", "\u{7F}"...("\u{9F}"): result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A table with a head, the first column of which names the row.
    static func table(_ head: [String], _ rows: [[String]]) -> String {
        let top = head.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
        let body = rows.map { row in
            let cells = row.enumerated().map { index, cell in
                index == 0 ? "<th scope=\"row\">\(escaped(cell))</th>" : "<td>\(escaped(cell))</td>"
            }
            return "<tr>\(cells.joined())</tr>"
        }
        return "<div class=\"scroll\"><table>\n<thead><tr>\(top)</tr></thead>\n<tbody>\n"
            + body.joined(separator: "\n") + "\n</tbody>\n</table></div>"
    }

    static func list(_ items: [String]) -> String {
        "<ul>\n" + items.map { "<li>\(escaped($0))</li>" }.joined(separator: "\n") + "\n</ul>"
    }
}
