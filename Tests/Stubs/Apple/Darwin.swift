// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Nothing of it is called; it is there to be found.
