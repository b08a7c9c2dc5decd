/** Maximum number of keys or rows per import. */
export const mostImported = 1_000;

/** Maximum size of an import's body in bytes, enough for a thousand keys with names and scopes. */
export const importBodyLimit = 8 * 1024 * 1024;

/**
 * Maximum number of members and elements in an import's body: 60 per key or row. A key has at most ten members and
 * fifty scopes. An account has fewer: at most ten members and 32 pairs of metadata (16 removed, 16 added).
 */
export const mostItems = mostImported * 60;
