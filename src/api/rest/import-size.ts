/** Maximum number of keys or rows in one import. */
export const mostImported = 1_000;

/**
 * Maximum size of the body of an import in bytes, enough for a thousand keys with names and scopes. A large import
 * costs little, because a call takes only one position in the log.
 */
export const importBodyLimit = 8 * 1024 * 1024;

/**
 * Maximum number of members and elements in the body of an import. A key or row has at most ten members. A key also has
 * at most fifty scopes, and an account 32 pairs of metadata (16 removed, 16 added).
 */
export const mostItems = mostImported * 60;
