import type { Config } from '../../config.ts';
import { defaultRoute } from '../../config/make.ts';
import { startEcho, type Echo } from './echo.ts';

/**
 * Adds the echo upstream to a configuration without routes. Such a configuration is valid only with the embedded store.
 */
export class EchoRoute {
  #echo: Echo | undefined;

  async into(config: Config): Promise<Config> {
    if (config.routes.length > 0) return config;
    this.#echo ??= await startEcho(config.headers);
    return { ...config, routes: [defaultRoute('/', this.#echo.url)] };
  }

  async close(): Promise<void> {
    await this.#echo?.close();
  }
}
