/** Names that an upstream may take for the gateway's trusted headers. */

/** The gateway's own names, and those that it rebuilds. */
export const trustedNames = [
  'X-Service-Resolved-Tenant',
  'X-Service-Resolved-External-Id',
  'X-Service-Parent-Tenant',
  'X-Service-Parent-External-Id',
  'X-Service-Caller-Tenant',
  'X-Service-Caller-Key',
  'X-Service-Caller-Scopes',
  'X-Request-Id',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
];

/** Characters a header name may have beside letters and digits (RFC 9110 §5.6.2). */
export const separators = [...`!#$%&'*+-.^_\`|~`];
