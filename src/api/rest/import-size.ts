/** Maximum number of keys or rows per import. */
export const mostImported = 1_000;

/**
 * Maximum size of an import's body in bytes, enough for a thousand keys with names and scopes. Even a large import is
 * cheap, because the whole call takes only one position in the log.
 */
export const importBodyLimit = 8 * 1024 * 1024;

/**
 * Maximum number of members and elements in an import's body. A key or row has at most ten members. A key can have
 * another fifty scopes, and an account 32 pairs of metadata (16 removed, 16 added).
 */
export const mostItems = mostImported * 60;
