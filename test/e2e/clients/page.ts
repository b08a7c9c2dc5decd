/** docs/clients.md, from a run. */
import { fileURLToPath } from 'node:url';
import { parts, type Outcome, type Part, type Row } from './matrix.ts';

export const pageFile = fileURLToPath(new URL('../../../docs/clients.md', import.meta.url));

/** @param rows of each part, of all clients */
export function pageOf(rows: readonly (readonly Row[])[]): string {
  const notes: string[] = [];
  const tables = parts.map((part, i) => `## ${part.title}\n\n${table(part, rows[i] ?? [], notes)}`);
  return [introduction, ...tables, notesOf(notes), knowing].join('\n\n');
}

function table({ cases }: Part, rows: readonly Row[], notes: string[]): string {
  const header = ['client', 'version', ...cases.map(({ title }) => title)];
  const lines = rows.map(({ client, version, outcomes }) => [
    client,
    version,
    ...cases.map(({ id }) => cell(outcomes[id], notes)),
  ]);
  return [header, header.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `yes`, `no`, or `–` with the number of the note that says why. */
function cell(outcome: Outcome | undefined, notes: string[]): string {
  if (outcome === undefined || outcome.kind === 'failed') return 'no';
  if (outcome.kind === 'ok') return 'yes';
  if (!notes.includes(outcome.why)) notes.push(outcome.why);
  return `– (${notes.indexOf(outcome.why) + 1})`;
}

function notesOf(notes: readonly string[]): string {
  return notes.map((why, i) => `${i + 1}. ${why}.`).join('\n');
}

const introduction = `# Clients

What clients that people use do with the gateway as it comes: with their defaults, in the clear and over TLS. \`yes\` means that each
did the same as with any HTTP/1.1 server, in both. This page is written by a run:

    npm run clients -- --write-docs

It installs the packages named here into \`.cache/clients\` and takes languages, curl and Java from the machine; what is not there it says.
\`npm run test:e2e\` does the same and fails where a case does.

- **GET, POST**: the query and the body arrive byte for byte, a forged \`X-Service-Resolved-Tenant\` does not, and the service is told the tenant
  that \`X-Service-Acting-Tenant\` names.
- **Upload in chunks**: 1 MiB of unknown length.
- **16 MiB, rejected**: the gateway or the service answers at once, the client still sends. It has to give its caller that answer, not a broken
  connection. Each is sent twice.
- **One connection**: reads and writes in turn, over a connection that is kept.
- **WebSocket**: messages of 12 bytes to 200 KB, echoed; close codes and reasons both ways; a handshake without a valid key is a 401 that the client
  tells apart.
- **Server-sent events**: each event is sent only after the client has told of the one before, so nothing is held back; then the stream ends and the
  client comes back with \`Last-Event-ID\`.`;

const knowing = `## Worth knowing

- **Java's HttpClient and \`curl --http2\`** offer HTTP/2 on plain HTTP (\`Upgrade: h2c\`) with their first request. The gateway does not take the offer and
  responds over HTTP/1.1, bodies included; over TLS it offers no HTTP/2. Nothing has to be switched off.
- **A large upload that is rejected.** Most clients send all of a body before they look for a response. The gateway takes in and drops what still comes
  for a while, so that the response is read. Who sends \`Expect: 100-continue\`, as curl does by itself above 1 MiB, saves the upload.
- **axios** sends at most 10 MB, unless \`maxBodyLength\` says otherwise.
- **HTTP/1.0** has no chunks: the client has to know the length of what it sends.
`;
