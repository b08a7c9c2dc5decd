import type { RouteConfig } from '../config.ts';

/** What the schema describes, with its defaults filled in. `undefined`: left out, and there is no default. */
export interface GatewayFile {
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly tls?: { readonly cert_file: string; readonly key_file: string };
  };
  readonly internal: {
    readonly host: string;
    readonly port: number;
    readonly admin_token?: string;
  };
  readonly database: {
    readonly url?: string;
    readonly max_connections: number;
  };
  readonly data_dir: string;
  readonly redis: { readonly url?: string };
  readonly migrate: boolean;
  readonly coherence: { readonly lease_ms: number; readonly max_facts: number };
  readonly headers: { readonly prefix: string };
  readonly trusted_proxies: readonly string[];
  readonly management: { readonly require_acting_header: boolean };
  readonly upstream_url?: string;
  readonly route_defaults: RouteSettings;
  readonly routes: readonly RouteFile[];
  readonly limits: {
    readonly max_headers: number;
    readonly max_header_bytes: number;
    readonly head_timeout_ms: number;
    readonly body_idle_ms: number;
    readonly keep_alive_ms: number;
    readonly management_body_bytes: number;
    readonly max_connections: number;
    readonly in_flight_per_tenant: number;
    readonly sub_accounts_per_parent: number;
    readonly keys_per_account: number;
    readonly max_event_loop_delay_ms: number;
    readonly max_heap_bytes?: number;
  };
  readonly log: { readonly level: string; readonly sample_2xx: number };
  readonly tracing: {
    readonly endpoint?: string;
    readonly sample_ratio: number;
    readonly service_name: string;
  };
  readonly drain_ms: number;
  readonly drain_delay_ms: number;
}

export interface RouteSettings {
  readonly host: RouteConfig['host'];
  readonly pass_authorization: boolean;
  readonly preflight: RouteConfig['preflight'];
  readonly scopes: { readonly read?: string; readonly write?: string };
  readonly timeouts: {
    readonly connect_ms: number;
    readonly headers_ms: number;
    readonly body_ms: number;
  };
  readonly connections: number;
  readonly tls: {
    readonly ca_file?: string;
    readonly cert_file?: string;
    readonly key_file?: string;
    readonly server_name?: string;
  };
}

export interface RouteFile extends RouteSettings {
  readonly prefix: string;
  readonly upstream: string;
}

/**
 * The file while it may still have faults: what was refused is taken out, so that the checks across keys can go on
 * and every fault is found in one go. A list keeps a gap where an entry was no mapping at all.
 */
export type UncheckedFile = Omit<GatewayFile, 'routes' | 'trusted_proxies' | 'listen'> & {
  readonly listen: Omit<GatewayFile['listen'], 'tls'> & {
    readonly tls?: Partial<GatewayFile['listen']['tls']>;
  };
  readonly trusted_proxies: readonly (string | undefined)[];
  readonly routes: readonly (Partial<RouteFile> | undefined)[];
};
