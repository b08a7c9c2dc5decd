import { LogController, type FastifyBaseLogger } from 'fastify';
import type { LimitsConfig } from '../config.ts';
import { routerOptions } from './router-options.ts';
import { schemaController } from './schemas.ts';

/** Options for `Fastify()`. Fastify's own server never listens, so the limits of connections are the listener's. */
export function fastifyOptions(limits: Pick<LimitsConfig, 'managementBodyBytes'>) {
  return { bodyLimit: limits.managementBodyBytes, routerOptions, schemaController };
}

/** Turns off Fastify's own log lines, because they contain the query string. */
export function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}
