/// Exact max-min fair rates, by filling: all flows grow alike until a link is full; its flows then stay, and the others
/// grow on (Bertsekas and Gallager, Data Networks, section 6.5.2).
public enum MaxMinAllocation {
    /// Computes the rates of flows that always have something to send.
    ///
    /// - Parameters:
    ///   - capacities: Of each link; infinite for one that is no limit.
    ///   - paths: The links of each flow.
    /// - Returns: The rate of each flow, in the unit of the capacities; infinite for a flow that nothing limits.
    /// - Complexity: O(rounds × hops of all flows), with at most one round per link.
    public static func rates(capacities: [Double], paths: [[Int]]) -> [Double] {
        var rates = [Double](repeating: .infinity, count: paths.count)
        var left = capacities
        var users = [Int](repeating: 0, count: capacities.count)
        for path in paths {
            for link in path { users[link] += 1 }
        }
        while true {
            let level =
                capacities.indices.filter { users[$0] > 0 }.map { left[$0] / Double(users[$0]) }.min() ?? .infinity
            guard level.isFinite else { break }
            // Links that are full at this level, with room for rounding.
            let full = capacities.indices.map { users[$0] > 0 && left[$0] / Double(users[$0]) <= level * (1 + 1e-12) }
            for flow in paths.indices where !rates[flow].isFinite && paths[flow].contains(where: { full[$0] }) {
                rates[flow] = level
                for link in paths[flow] {
                    left[link] = max(left[link] - level, 0)
                    users[link] -= 1
                }
            }
        }
        return rates
    }
}

extension EmulatedNetwork {
    /// The max-min fair rates, in bits per second, of these flows over the network as it is, if all of them and nothing
    /// else always have something to send. Windows and loss are left out.
    public func maxMinRates(of flows: [FlowID]) -> [Double] {
        let capacities = pipes.map {
            $0.nanosecondsPerByte == 0 ? Double.infinity : 8e9 / $0.nanosecondsPerByte
        }
        let paths = flows.map { flow in
            let ends = ends(of: flow)
            return path(from: ends.source, to: ends.target).map { Int($0) }
        }
        return MaxMinAllocation.rates(capacities: capacities, paths: paths)
    }
}
