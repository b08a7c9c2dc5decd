/** What `src/generated/` has: files that git ignores and that builds, checks and tests make when they need them. */
import { mkdirSync, readFileSync } from 'node:fs';
import { schema } from '../../src/config/schema.ts';
import { writeIfChanged } from '../lib/generated.mjs';
import { inProject } from '../lib/project.mjs';
import { clientTypes, operatorTypes } from './client-types.ts';
import type { Json } from './openapi/types.ts';

/** The documents of both APIs. */
export interface Documents {
  readonly parents: Json;
  readonly operators: Json;
}

/**
 * Writes `src/generated/` and returns the documents.
 *
 * @throws Error that names what routes have and texts lack, and the other way round
 */
export async function make(): Promise<Documents> {
  mkdirSync(inProject('src/generated'), { recursive: true });
  // First, because the routes import it.
  write('tokens.ts', tokens('console/src/style/tokens.css'));
  const { openApiDocuments } = await import('./openapi/document.ts');
  const { actingTenantComponents } = await import('./openapi/acting-tenant.ts');
  const documents = await openApiDocuments();
  const { parents, operators } = documents;
  for (const [name, value] of Object.entries({
    'sub-accounts': parents,
    operator: operators,
    'acting-tenant': actingTenantComponents(),
    'gateway.schema': schema,
  }))
    write(`${name}.json`, JSON.stringify(value, null, 2));
  write('client-types.ts', clientTypes(parents));
  write('operator-types.ts', operatorTypes(operators));
  return documents;
}

function write(name: string, text: string): void {
  writeIfChanged(`src/generated/${name}`, `${text}\n`);
}

/** The console's colours and types, for pages that the gateway makes itself. */
function tokens(from: string): string {
  return `/** Colours, sizes and types that all pages share, from ${from}. */
export const tokens = \`${readFileSync(inProject(from), 'utf8')}\`;`;
}
