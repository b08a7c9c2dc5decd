/** Reason why a store cannot be used, and its remedy, in one sentence each for the operator. */
export interface StoreCause {
  /** SQLSTATE, or a code of the system or of TLS. */
  readonly code: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * Returns the known cause of an error of the store, found by the error's code; `undefined` if there is none.
 *
 * @param error error of the store; its `cause`, or a `cause` below that, may have the code
 */
export function storeCause(error: unknown): StoreCause | undefined {
  for (const code of codesIn(error, 0)) {
    const known = causes[code];
    if (known !== undefined) return { code, cause: known[0], remedy: known[1] };
  }
  return undefined;
}

/** Returns a text with cause and remedy, on one line. */
export function sayCause({ code, cause, remedy }: StoreCause): string {
  return `${cause} (${code}). ${remedy}`;
}

const mostDepth = 5;

/** Error codes by the numbers that the embedded engine uses, which are those of WebAssembly (WASI, errno). */
const wasiCodes: Readonly<Record<number, string>> = { 2: 'EACCES', 51: 'ENOSPC', 63: 'EPERM', 69: 'EROFS' };

function* codesIn(error: unknown, depth: number): Generator<string> {
  // The embedded engine throws objects that are not an `Error`.
  if (typeof error !== 'object' || error === null || depth > mostDepth) return;
  const { code, cause, errno, name, message } = error as Partial<Error> & {
    readonly code?: unknown;
    readonly errno?: unknown;
  };
  if (typeof code === 'string') yield code;
  // PostgreSQL has no SQLSTATE of its own for some faults of the file system, so the message is read.
  if (name === 'PostgresError' && /No space left on device/.test(message ?? '')) yield '53100';
  if (name === 'ErrnoError' && typeof errno === 'number') yield wasiCodes[errno] ?? '';
  yield* codesIn(cause, depth + 1);
  // A host name may have several addresses; an attempt at each gives an error of its own.
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

/** Causes by SQLSTATE (PostgreSQL, Appendix A), or code of the system, the client library or OpenSSL. */
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
