/** Most keys, or rows, of one import. */
export const mostImported = 1_000;

/**
 * Bytes for a thousand keys with names and scopes. A large import costs little, because a call takes one position in
 * the log.
 */
export const importBodyLimit = 8 * 1024 * 1024;

/**
 * Most members and elements of the body of an import. A key has eight members and at most fifty scopes; a row has seven
 * members and at most fifty scopes, or 32 pairs of metadata (16 removed, 16 added).
 */
export const mostItems = mostImported * 60;
