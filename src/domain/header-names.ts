/** Names of the headers the gateway reads from callers and sets for upstreams. */
export interface HeaderNames {
  /** What all of them start with, as it is sent. */
  readonly prefix: string;
  readonly acting: string;
  readonly resolvedTenant: string;
  readonly callerTenant: string;
  readonly callerKey: string;
  readonly callerScopes: string;
  readonly enforced: string;
}

/** The prefix the spec's examples use. */
const defaultPrefix = 'X-Service-';

/** @param prefix ends with a hyphen, such as `X-Service-` */
export function headerNames(prefix: string = defaultPrefix): HeaderNames {
  return {
    prefix,
    acting: `${prefix}Acting-Tenant`,
    resolvedTenant: `${prefix}Resolved-Tenant`,
    callerTenant: `${prefix}Caller-Tenant`,
    callerKey: `${prefix}Caller-Key`,
    callerScopes: `${prefix}Caller-Scopes`,
    enforced: `${prefix}Enforced`,
  };
}

/**
 * The name as the most careless reader behind us might understand it: CGI and WSGI turn `-` into `_`,
 * some frameworks turn `.` into either. Two names that fold alike may be one name to an upstream.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}
