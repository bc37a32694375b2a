// swift-tools-version: 6.2
import PackageDescription

// Stands in for supabase-swift where scripts/check-supabase builds with the trait on.
let package = Package(
    name: "supabase-swift",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "Supabase", targets: ["Supabase"])],
    targets: [.target(name: "Supabase")])
