/// Dates and times in the strict ISO form, in whole microseconds.
enum TimeText {
    static let dayLength: Int64 = 86_400_000_000

    /// How the offset of a timestamp counts.
    enum Zone {
        /// `timestamp`: an offset is read and dropped.
        case none
        /// `timestamptz`: without an offset the session's zone holds; nil where it is not known to be UTC.
        case session(isUTC: Bool)
    }

    /// The number of the day. `infinity` is above every day, `-infinity` below.
    static func date(_ text: String) -> Reading<Int64> {
        if let bound = infinity(text) { return .value(bound) }
        var cursor = Digits(text)
        guard let parts = cursor.date(), cursor.isAtEnd else { return .undecided }
        return day(parts).map { .value($0) } ?? .refused
    }

    /// Microseconds since 1970 in UTC, or in the clock of the column.
    static func timestamp(_ text: String, zone: Zone) -> Reading<Int64> {
        if let bound = infinity(text) { return .value(bound) }
        var cursor = Digits(text)
        guard let parts = cursor.date() else { return .undecided }
        var moment: Int64 = 0
        var offset: Int64?
        if !cursor.isAtEnd {
            guard cursor.take(UInt8(ascii: "T")) || cursor.take(UInt8(ascii: " ")) else { return .undecided }
            guard let clock = cursor.clock() else { return .undecided }
            guard let inDay = microseconds(clock, allowsMidnightEnd: false) else { return .refusedOrOdd(clock) }
            moment = inDay
            if !cursor.isAtEnd {
                guard let read = cursor.offset(), cursor.isAtEnd else { return .undecided }
                offset = read
            }
        }
        guard let day = day(parts) else { return .refused }
        switch zone {
        case .none: offset = 0
        case .session(let isUTC):
            if offset == nil, !isUTC { return .undecided }
        }
        return .value(day * dayLength + moment - (offset ?? 0) * 1_000_000)
    }

    /// Microseconds since midnight; `24:00:00` is the end of the day.
    static func time(_ text: String) -> Reading<Int64> {
        var cursor = Digits(text)
        guard let clock = cursor.clock(), cursor.isAtEnd else { return .undecided }
        return microseconds(clock, allowsMidnightEnd: true).map { .value($0) } ?? .refusedOrOdd(clock)
    }

    private static func infinity(_ text: String) -> Int64? {
        switch text.lowercased() {
        case "infinity": Int64.max
        case "-infinity": Int64.min
        default: nil
        }
    }

    private static func day(_ parts: Digits.DateParts) -> Int64? {
        guard parts.year > 0 else { return nil }
        return CivilDay.day(year: parts.year, month: parts.month, day: parts.day)
    }

    private static func microseconds(_ clock: Digits.Clock, allowsMidnightEnd: Bool) -> Int64? {
        let total = Int64(clock.hour * 3600 + clock.minute * 60 + clock.second) * 1_000_000 + clock.fraction
        if clock.hour == 24, allowsMidnightEnd, total == dayLength { return total }
        guard clock.hour < 24, clock.minute < 60, clock.second < 60 else { return nil }
        return total
    }

    /// Reads digits of fixed widths.
    struct Digits {
        struct DateParts {
            let year: Int64
            let month: Int
            let day: Int
        }

        struct Clock {
            let hour: Int
            let minute: Int
            let second: Int
            /// Microseconds; PostgreSQL rounds a longer fraction, to even at the half.
            let fraction: Int64
        }

        private var bytes: ArraySlice<UInt8>

        init(_ text: String) { bytes = Array(text.utf8)[...] }

        var isAtEnd: Bool { bytes.isEmpty }

        mutating func take(_ byte: UInt8) -> Bool {
            guard bytes.first == byte else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func number(_ widths: ClosedRange<Int>) -> Int64? {
            let digits = bytes.prefix(while: DecimalText.isDigit)
            guard widths.contains(digits.count) else { return nil }
            bytes = bytes.dropFirst(digits.count)
            return Int64(String(decoding: digits, as: UTF8.self))
        }

        mutating func date() -> DateParts? {
            guard let year = number(4...7), take(UInt8(ascii: "-")), let month = number(2...2),
                take(UInt8(ascii: "-")), let day = number(2...2)
            else { return nil }
            return DateParts(year: year, month: Int(month), day: Int(day))
        }

        mutating func clock() -> Clock? {
            guard let hour = number(2...2), take(UInt8(ascii: ":")), let minute = number(2...2) else { return nil }
            var second: Int64 = 0
            var fraction: Int64 = 0
            if take(UInt8(ascii: ":")) {
                guard let seconds = number(2...2) else { return nil }
                second = seconds
                if take(UInt8(ascii: ".")) {
                    let digits = bytes.prefix(while: DecimalText.isDigit)
                    guard !digits.isEmpty, digits.count <= 30,
                        let part = Double("0." + String(decoding: digits, as: UTF8.self))
                    else { return nil }
                    bytes = bytes.dropFirst(digits.count)
                    fraction = Int64((part * 1_000_000).rounded(.toNearestOrEven))
                }
            }
            return Clock(hour: Int(hour), minute: Int(minute), second: Int(second), fraction: fraction)
        }

        /// `Z`, `+02`, `+02:00`, `+0200`, `+00:53:28` in seconds east of UTC.
        mutating func offset() -> Int64? {
            if take(UInt8(ascii: "Z")) { return 0 }
            let isWest = bytes.first == UInt8(ascii: "-")
            guard take(UInt8(ascii: "+")) || take(UInt8(ascii: "-")) else { return nil }
            let digits = bytes.prefix(while: DecimalText.isDigit)
            var seconds: Int64
            if digits.count == 4, let number = number(4...4) {
                guard number % 100 < 60 else { return nil }
                seconds = (number / 100) * 3600 + (number % 100) * 60
            } else {
                guard let hours = number(2...2) else { return nil }
                seconds = hours * 3600
                for unit in [Int64(60), 1] where take(UInt8(ascii: ":")) {
                    guard let part = number(2...2), part < 60 else { return nil }
                    seconds += part * unit
                }
            }
            guard seconds < 16 * 3600 else { return nil }
            return isWest ? -seconds : seconds
        }
    }
}

/// What reading a text as a value of some type gave.
enum Reading<Value: Sendable>: Sendable {
    case value(Value)
    /// The server certainly refuses the text.
    case refused
    /// The server may well take it; this device does not read it.
    case undecided

    func map<Other>(_ transform: (Value) -> Other) -> Reading<Other> {
        switch self {
        case .value(let value): .value(transform(value))
        case .refused: .refused
        case .undecided: .undecided
        }
    }

    /// A clock outside the ordinary: PostgreSQL takes `24:00:00` and second 60, and refuses the rest.
    static func refusedOrOdd(_ clock: TimeText.Digits.Clock) -> Self {
        clock.hour <= 24 && clock.minute < 60 && clock.second <= 60 ? .undecided : .refused
    }
}
