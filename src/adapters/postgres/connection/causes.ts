/** Reason that a store cannot be used, and its remedy, each in one sentence for the operator. */
export interface StoreCause {
  /** SQLSTATE, or a system or TLS error code. */
  readonly code: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * Looks up the cause of a store error by its code; `undefined` if the code is not a known one.
 *
 * @param error error from the store; the code may be on the error itself or on a nested `cause`
 */
export function storeCause(error: unknown): StoreCause | undefined {
  for (const code of codesIn(error, 0)) {
    const known = causes[code];
    if (known !== undefined) return { code, cause: known[0], remedy: known[1] };
  }
  return undefined;
}

/** Returns the cause and remedy as one line of text. */
export function sayCause({ code, cause, remedy }: StoreCause): string {
  return `${cause} (${code}). ${remedy}`;
}

const mostDepth = 5;

/** Error codes by errno value. The embedded engine uses the errno values of WebAssembly (WASI). */
const wasiCodes: Readonly<Record<number, string>> = { 2: 'EACCES', 51: 'ENOSPC', 63: 'EPERM', 69: 'EROFS' };

function* codesIn(error: unknown, depth: number): Generator<string> {
  // The embedded engine throws objects that are not instances of `Error`.
  if (typeof error !== 'object' || error === null || depth > mostDepth) return;
  const { code, cause, errno, name, message } = error as Partial<Error> & {
    readonly code?: unknown;
    readonly errno?: unknown;
  };
  if (typeof code === 'string') yield code;
  // PostgreSQL has no specific SQLSTATE for some file system errors, so the message is checked.
  if (name === 'PostgresError' && /No space left on device/.test(message ?? '')) yield '53100';
  if (name === 'ErrnoError' && typeof errno === 'number') yield wasiCodes[errno] ?? '';
  yield* codesIn(cause, depth + 1);
  // A host name may have several addresses, and each failed attempt has an error of its own.
  if (error instanceof AggregateError) for (const one of error.errors) yield* codesIn(one, depth + 1);
}

type Words = readonly [cause: string, remedy: string];

const login: Words = [
  'PostgreSQL refuses the user or its password',
  'Check both in DATABASE_URL, and pg_hba.conf on the server.',
];
const name: Words = ['The host in DATABASE_URL has no address', 'Check its name, and DNS.'];
const silent: Words = [
  'PostgreSQL cannot be reached over the network',
  'Check host and port in DATABASE_URL, firewalls and network policies.',
];
const certificate: Words = [
  'The certificate of PostgreSQL cannot be verified',
  'Give its authority in DATABASE_URL (sslrootcert), or correct the host name.',
];
const rights: Words = [
  'The user of DATABASE_URL lacks a right in this database',
  'Let it create tables there, or run `tenancy-gateway migrate` as a user who may and set MIGRATE=off.',
];
const folder: Words = [
  'This user may not write to the data directory',
  'Change its owner, or name another one in DATA_DIR.',
];

/**
 * Causes by error code: SQLSTATE (PostgreSQL, Appendix A), or a code from the system, the client library or OpenSSL.
 */
const causes: Readonly<Record<string, Words>> = {
  '28P01': login,
  '28000': login,
  '3D000': ['There is no such database', 'Create it, or correct its name in DATABASE_URL.'],
  '25006': [
    'The database is read-only',
    'DATABASE_URL leads to a standby, or the server is set to read-only: it must lead to the primary.',
  ],
  '53100': ['The disk of PostgreSQL is full', 'Make room there.'],
  '53300': [
    'PostgreSQL has no connection left',
    'Raise max_connections there, or lower database.max_connections here.',
  ],
  '57P03': ['PostgreSQL is starting up or shutting down', 'Wait: this usually ends by itself.'],
  '42501': rights,
  '3F000': [
    'No schema of the search_path is there',
    'Set the search_path of the role to the schema of the tables.',
  ],
  '08P01': [
    'What DATABASE_URL leads to refuses parameters of the connection',
    'If it is a pooler, set DATABASE_DIRECT_URL too, or add ?prepare=false.',
  ],
  TG003: [
    'The settings of the role or database break changes',
    'Reset session_replication_role, standard_conforming_strings, bytea_output, DateStyle, extra_float_digits and default_transaction_isolation; enable the triggers; let the role bypass row security.',
  ],
  ECONNREFUSED: [
    'Nothing listens at the address in DATABASE_URL',
    'Start PostgreSQL, or correct the address.',
  ],
  ENOTFOUND: name,
  EAI_AGAIN: name,
  ETIMEDOUT: silent,
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  CONNECT_TIMEOUT: silent,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  CERT_HAS_EXPIRED: ['The certificate of PostgreSQL has expired', 'Renew it there.'],
  EACCES: folder,
  EPERM: folder,
  EROFS: ['The data directory is on a read-only file system', 'Name another one in DATA_DIR.'],
  ENOSPC: ['The disk with the data directory is full', 'Make room, or name another directory in DATA_DIR.'],
};
