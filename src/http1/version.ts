/** HTTP version of a message's first line. */
export type HttpVersion = '1.0' | '1.1';
