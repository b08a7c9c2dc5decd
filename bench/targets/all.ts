import type { Target } from './target.ts';
import { direct } from './direct.ts';
import { gateway } from './gateway.ts';
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
  gateway,
  httpProxy,
  httpProxyRedis,
];

/** What the others are compared with: the least the rule can cost, and what most would build. */
export const baselines: readonly Target[] = [nginxLua, httpProxyRedis];
