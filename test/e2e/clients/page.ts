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

These tables show how common clients work with the gateway: with their defaults, on plain HTTP and over TLS. \`yes\` means that the client
worked as with any HTTP/1.1 server, in both cases. A run of the clients writes this page:

    npm run clients -- --write-docs

The run installs these packages into \`.cache/clients\`. It uses languages, curl and Java of the machine, and names missing ones.
CI does the same, and fails if a case fails.

- **GET, POST**: the query and the body arrive byte for byte. A forged \`X-Service-Resolved-Tenant\` does not arrive. The service gets the tenant
  that \`X-Service-Acting-Tenant\` names.
- **Upload in chunks**: 1 MiB of unknown length.
- **16 MiB, rejected**: the gateway or the service responds at once, while the client still sends. The client must give its caller this response, not a broken
  connection. Each client sends the upload twice.
- **One connection**: reads and writes alternate on a connection that stays open.
- **WebSocket**: the service echoes messages of 12 bytes to 200 KB. Close codes and reasons pass both ways. A handshake without a valid key gets a 401, which
  the client must recognise.
- **Server-sent events**: the service sends an event only after the client has reported the one before, so the test notices buffering. Then the stream ends, and the
  client reconnects with \`Last-Event-ID\`.`;

const knowing = `## Worth knowing

- **Java's HttpClient and \`curl --http2\`** offer HTTP/2 on plain HTTP (\`Upgrade: h2c\`) with their first request. The gateway ignores the offer and
  responds over HTTP/1.1, also to requests with bodies. Over TLS it offers no HTTP/2. Users need not switch anything off.
- **A large upload that is rejected.** Most clients send all of a body before they look for a response. The gateway reads and
  drops the rest for a while, so that the client comes to the response. A client that sends \`Expect: 100-continue\` saves the upload; curl does so by itself above 1 MiB.
- **axios** sends at most 10 MB, unless \`maxBodyLength\` allows more.
- **HTTP/1.0**: the client has to know the length of its body.
`;
