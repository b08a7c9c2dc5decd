import type { Config } from '../config.ts';
import { defaultRoute } from '../config/make.ts';
import { startEcho, type Echo } from '../echo/echo.ts';

/** Gives a configuration without any upstream the echo upstream; there is such a one on the embedded store alone. */
export async function withEcho(
  config: Config,
): Promise<{ readonly config: Config; readonly echo: Echo | null }> {
  if (config.routes.length > 0) return { config, echo: null };
  const echo = await startEcho(config.headers);
  return { config: { ...config, routes: [defaultRoute('/', echo.url)] }, echo };
}
