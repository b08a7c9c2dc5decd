import type { Target } from './target.ts';
import { caddy } from './caddy.ts';
import { direct } from './direct.ts';
import { gateway } from './gateway.ts';
import { goProxy } from './go-proxy.ts';
import { haproxy } from './haproxy.ts';
import { httpProxy, httpProxyRedis } from './http-proxy.ts';
import { nodeHttp } from './node-http.ts';
import { nginxLua, nginxMap } from './nginx.ts';

/** All targets, in the order they take turns. */
export const targets: readonly Target[] = [
  direct,
  nodeHttp,
  nginxMap,
  haproxy,
  nginxLua,
  caddy,
  goProxy,
  gateway,
  httpProxy,
  httpProxyRedis,
];

/**
 * What the others are compared with: what any Node program pays, the least the rule can cost, what a team that writes
 * Go would build or install, and what most would build on Node.
 */
export const baselines: readonly Target[] = [nodeHttp, nginxLua, goProxy, caddy, httpProxyRedis];
