internal import CoreModel
internal import Scheduling
internal import SwarmProtocol

/// What has come for a viewer and waits until it looks, and when it does.
///
/// A real viewer's loop takes up together what has come since it was last idle; so does this one, within
/// ``Simulation/inboxDelay``. Apart from the viewers, so that what comes doesn't touch their memory, which is far away.
struct Inbox {
    /// The first and the last of what has come, among the simulation's mail.
    var first: Int32 = -1
    var last: Int32 = -1
    /// Whether anybody will look.
    var isOpen = false
    /// When the viewer looks, if nothing comes.
    var due = MonotonicInstant.distantFuture
    /// When an event will come for that; one at another time is out of date.
    var armed = MonotonicInstant.distantFuture
}

/// Something that has come for a viewer.
struct Mail {
    enum Content {
        /// A message from a peer, among the simulation's parcels.
        case message(parcel: Int32, LinkID)
        /// A message has arrived at the other side.
        case acknowledged(LinkID)
        /// Bytes from the CDN.
        case media(TransferID, byteCount: Int32, isLast: Bool)
    }

    var content: Content
    /// What came after it, or -1.
    var next: Int32 = -1
}

extension Simulation {
    /// The longest that a viewer lets a message wait, so that more can be looked at together with it. The network's delays
    /// between viewers are shorter by half of it, which is about what is waited on average.
    static let inboxDelay: Duration = .milliseconds(10)
    /// The same for what holds up uploads or the start of playback, and for what a viewer does at certain times.
    static let shortDelay: Duration = .milliseconds(5)

    /// Puts something into a viewer's inbox.
    ///
    /// - Parameter delay: The longest that it waits there.
    func post(_ content: Mail.Content, to viewer: Int, within delay: Duration = inboxDelay) {
        guard inboxes[viewer].isOpen else { return }
        let last = Int(inboxes[viewer].last)
        if case .media(let id, let byteCount, let isLast) = content, last >= 0,
            case .media(id, let before, false)? = mail[last]?.content
        {
            // What belongs together comes in one piece.
            mail[last]?.content = .media(id, byteCount: before + byteCount, isLast: isLast)
        } else {
            let number = mail.insert(Mail(content: content))
            if last < 0 { inboxes[viewer].first = Int32(number) } else { mail[last]?.next = Int32(number) }
            inboxes[viewer].last = Int32(number)
        }
        planLook(of: viewer, at: now.advanced(by: delay))
    }

    /// Takes the next thing out of a viewer's inbox.
    func takeMail(of viewer: Int) -> Mail.Content? {
        let first = inboxes[viewer].first
        guard first >= 0, let letter = mail.remove(Int(first)) else { return nil }
        inboxes[viewer].first = letter.next
        if letter.next < 0 { inboxes[viewer].last = -1 }
        return letter.content
    }

    /// Has a viewer look at an instant, if it doesn't before.
    func planLook(of viewer: Int, at instant: MonotonicInstant) {
        guard instant < inboxes[viewer].due else { return }
        inboxes[viewer].due = instant
        guard instant < inboxes[viewer].armed else { return }
        inboxes[viewer].armed = instant
        schedule(.wake(viewer: viewer), at: instant)
    }

    /// An event that was planned for a viewer's inbox has come.
    func wake(_ viewer: Int) {
        guard inboxes[viewer].isOpen, inboxes[viewer].armed == now else { return }
        inboxes[viewer].armed = .distantFuture
        let due = inboxes[viewer].due
        guard due <= now else {
            inboxes[viewer].due = .distantFuture
            return planLook(of: viewer, at: due)
        }
        viewers[viewer]?.act {}
    }
}
