import { readFileSync } from 'node:fs';

/** For every attack in this folder the line that guards against it, and what the line becomes when it is taken away. */
export interface GuardMutation {
  /** File of this folder. */
  readonly attack: string;
  readonly source: string;
  /** Stands in the source exactly once. */
  readonly guard: string;
  readonly instead: string;
}

/** The first two columns of `npm run weakened` and of docs/maintainers/attacks.md, on one line and without what Markdown would read. */
export function guardCells({ attack, source, guard }: GuardMutation): string {
  const line = guard.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', '´');
  return `| ${attack} | ${source.replace(/^src\//, '')}: \`${line}\` |`;
}

/** The page that says what the test of each attack said without its guard. */
export const securityPage = new URL('../../docs/maintainers/attacks.md', import.meta.url);

/** The third column of its table, by {@link guardCells}. */
export function saidByGuard(): ReadonlyMap<string, string> {
  const rows = /<!-- attacks:.*?-->\n.*\n.*\n([^]*)<!-- \/attacks -->/.exec(
    readFileSync(securityPage, 'utf8'),
  );
  return new Map(
    (rows?.[1] ?? '')
      .trim()
      .split('\n')
      .map((row) => {
        const [, attack, guard, said = ''] = cellsOf(row);
        return [`| ${attack} | ${guard} |`, said];
      }),
  );
}

/** The cells of a row of Markdown: an empty one, attack, guard, what the test said. */
export function cellsOf(row: string): string[] {
  return row.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

export const guardMutations: readonly GuardMutation[] = [
  {
    attack: 'absolute-form',
    source: 'src/proxy/ingress/target.ts',
    guard: "if (!path.startsWith('/')) return rejected('It must be a path that starts with `/`.');",
    instead: '',
  },
  {
    attack: 'api-key-header-variants',
    source: 'src/domain/header-names.ts',
    guard: "if (names.apiKey.some((one) => foldHeaderName(one) === name)) return 'drop';",
    instead: '',
  },
  {
    attack: 'basic-credentials',
    source: 'src/domain/authorization.ts',
    guard: "if (bytes.toString('base64') !== encoded) return notBase64;",
    instead: '',
  },
  {
    attack: 'basic-credentials',
    source: 'src/domain/authorization.ts',
    guard: 'if (controlCharacter.test(text)) return withControlCharacter;',
    instead: '',
  },
  {
    attack: 'basic-credentials',
    source: 'src/domain/authorization.ts',
    guard: 'if (encoded.length > basicMaxLength) return tooLong;',
    instead: '',
  },
  {
    attack: 'basic-credentials',
    source: 'src/authz/authenticate.ts',
    guard: "if (token.password !== '' && isOwnKey(token.user)) return keyWithPassword;",
    instead: '',
  },
  {
    attack: 'beyond-limit',
    source: 'src/proxy/exchange.ts',
    guard: 'const full = this.decision.takeFromLimits(this);',
    instead: 'const full = undefined as Problem | undefined;',
  },
  {
    attack: 'connection-strips-trusted-header',
    source: 'src/proxy/headers/request-headers.ts',
    guard: 'pushTrusted(headers, own, context);\n    return headers;',
    instead:
      'pushTrusted(headers, own, context);\n    return named === undefined ? headers : withoutNamed(headers, named);',
  },
  {
    attack: 'console-page',
    source: 'src/http/static-page.ts',
    guard: "`frame-ancestors ${frameAncestors.length === 0 ? \"'none'\" : frameAncestors.join(' ')}`",
    instead: '`frame-ancestors *`',
  },
  {
    attack: 'console-page',
    source: 'src/http/static-page.ts',
    guard: "['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`)",
    instead:
      "['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self' data:`)",
  },
  {
    attack: 'console-texts',
    source: 'console/src/ui/heading.tsx',
    guard: '{title} {state !== undefined && <Badge state={state} />}',
    instead: '<span dangerouslySetInnerHTML={{ __html: title }} />',
  },
  {
    attack: 'costly-target',
    source: 'src/proxy/ingress/path-readings.ts',
    guard: 'if (left.characters < 0 || hasManySegments(reading)) return false;',
    instead: '',
  },
  {
    attack: 'costly-values',
    source: 'src/http/static-page.ts',
    guard: "return list.length > mostCharacters ? [] : list.split(',').map((item) => item.trim());",
    instead: 'return list.split(/\\s*,\\s*/);',
  },
  {
    attack: 'costly-values',
    source: 'src/authz/authorization-of-others.ts',
    guard: '...texts.map(unquoted)',
    instead: '...texts.map((text) => text.replace(/^["\']|["\';]+$/g, ""))',
  },
  {
    attack: 'crowding-parent',
    source: 'src/limits/shares.ts',
    guard: 'if (parent.held > 0 && parent.held + more > mostOfParent) return false;',
    instead: '',
  },
  {
    attack: 'crowding-tenant',
    source: 'src/limits/shares.ts',
    guard:
      'return held === 0 || 3 * (held + more) <= 2 * (Math.min(mostOfParent, usual) - (parent.held - held));',
    instead: 'return true;',
  },
  {
    attack: 'error-body-leak',
    source: 'src/proxy/problems.ts',
    guard: 'timedOut : unreachable;',
    instead: 'timedOut : { ...unreachable, detail: String(error) };',
  },
  {
    attack: 'expect-continue',
    source: 'src/server/served-response.ts',
    guard: 'if (this.continues || this.#connection.leavesNow) this.last = true;',
    instead: 'if (this.#connection.leavesNow) this.last = true;',
  },
  {
    attack: 'external-id-in-log',
    source: 'src/domain/logged-path.ts',
    guard: '(start === undefined ? path : `${start}:external_id`)',
    instead: 'path',
  },
  {
    attack: 'external-id-in-log',
    source: 'src/proxy/ingress/reject.ts',
    guard: 'path: loggedPath(request.url),',
    instead: 'path: request.url,',
  },
  {
    attack: 'forwarded-spoofing',
    source: 'src/proxy/headers/request-headers.ts',
    guard: 'if (context.peerTrusted) said.for =',
    instead: 'said.for =',
  },
  {
    attack: 'handshake-response',
    source: 'src/proxy/upstream/response-parser.ts',
    guard: "if (this.#interimCount > mostInterimResponses) throw new MessageFault('too many 1xx before it');",
    instead: '',
  },
  {
    attack: 'header-count',
    source: 'src/proxy/ingress/framing.ts',
    guard: 'if (rawHeaders.length > 2 * maxHeaders) return { problem: tooMany };',
    instead: '',
  },
  {
    attack: 'header-name-memory',
    source: 'src/proxy/ingress/framing.ts',
    guard: 'switch (rules.look(rawHeaders[i] as string)) {',
    instead: 'switch (rules.learn(rawHeaders[i] as string)) {',
  },
  {
    attack: 'header-size',
    source: 'src/http1/head-text.ts',
    guard: 'if (least > mostBytes) throw new HeadTooLong();',
    instead: '',
  },
  {
    attack: 'held-bodies',
    source: 'src/proxy/body/buffered-body.ts',
    guard: 'this.#shares.take(share, chunk.length);',
    instead: '',
  },
  {
    attack: 'hop-by-hop-from-upstream',
    source: 'src/proxy/headers/response-headers.ts',
    guard: 'reserved || hopByHop.has(folded) ||',
    instead: 'reserved ||',
  },
  {
    attack: 'http-pipelining',
    source: 'src/server/client-connection.ts',
    guard: 'const current = this.#current;\n    if (current === null) {',
    instead: 'const current = this.#reader.complete ? null : this.#current;\n    if (current === null) {',
  },
  {
    attack: 'keyless-preflights',
    source: 'src/limits/shares.ts',
    guard: 'parent.parent === null ? most * this.#withoutKey : usual',
    instead: 'usual',
  },
  {
    attack: 'key-as-id',
    source: 'src/domain/logged-path.ts',
    guard: ".replaceAll(secrets, '[secret]')",
    instead: '',
  },
  {
    attack: 'late-change',
    source: 'src/adapters/postgres/tenants/changes.ts',
    guard: 'return { caller: { account, key, ...session } };',
    instead: 'return {};',
  },
  {
    attack: 'late-operator',
    source: 'src/api/operator/operator-token.ts',
    guard: 'const known = sent === undefined ? (await sessions.of(request))?.operator : tokens.find(sent);',
    instead: 'const known: KnownOperator | undefined = operatorOf(request);',
  },
  {
    attack: 'limit-said-by-upstream',
    source: 'src/proxy/ending-exchange.ts',
    guard: 'const limited = rateLimit === null ? headers : withRateLimit(headers, rateLimit);',
    instead: 'const limited = headers;',
  },
  {
    attack: 'method-override',
    source: 'src/domain/header-names.ts',
    guard: "if (overrides.has(name)) return 'override';",
    instead: '',
  },
  {
    attack: 'open-route-crowding',
    source: 'src/proxy/exchange.ts',
    guard: 'const full = open?.count(network) ?? this.decision.enterWithoutKey(network);',
    instead: 'const full = this.decision.enterWithoutKey(network);',
  },
  {
    attack: 'open-route-identity',
    source: 'src/domain/header-names.ts',
    guard:
      "if (name.startsWith('x-service-') || name.startsWith(foldHeaderName(names.prefix))) return 'drop';",
    instead: '',
  },
  {
    attack: 'open-route-keys',
    source: 'src/authz/authorization-of-others.ts',
    guard: 'if (own.test(value) || decoded.some((text) => own.test(text))) return null;',
    instead: '',
  },
  {
    attack: 'open-route-keys',
    source: 'src/proxy/exchange.ts',
    guard: 'this.#passesAuthorization = !(await isKnown.catch(() => true));',
    instead: 'this.#passesAuthorization = !(await isKnown.catch(() => false));',
  },
  {
    attack: 'open-route-keys',
    source: 'src/authz/authorization-of-others.ts',
    guard: 'if (key !== null) return true;',
    instead: '',
  },
  {
    attack: 'operator-escalation',
    source: 'src/api/operator/operator-token.ts',
    guard: 'return hasRole(role, needed) ? undefined : new ProblemError(insufficientRole(needed));',
    instead: 'return undefined;',
  },
  {
    attack: 'operator-guesses',
    source: 'src/api/operator/token-guesses.ts',
    guard:
      'if (guesser === undefined || guesser.fullAtMs - nowMs <= (allowed - 1) * regainMs) return check();',
    instead: 'if (guesser === undefined || guesser.fullAtMs >= 0) return check();',
  },
  {
    attack: 'operator-session',
    source: 'src/api/operator/operator-sessions.ts',
    guard: 'return safeMethods.has(request.method) || hasCsrfToken(request, session) ? session : undefined;',
    instead: 'return session;',
  },
  {
    attack: 'operator-session',
    source: 'src/api/operator/operator-sessions.ts',
    guard: 'return !hasToken(request) && secretOf(request) !== undefined;',
    instead: 'return secretOf(request) !== undefined;',
  },
  {
    attack: 'operator-session',
    source: 'src/api/operator/operator-sessions.ts',
    guard: 'if (secret !== undefined) await this.#deps.store.end(digestOf(secret));',
    instead: 'await Promise.resolve(secret);',
  },
  {
    attack: 'parents-limit-shown',
    source: 'src/authz/proxied-request.ts',
    guard: "shown: caller.kind === 'parent'",
    instead: 'shown: true',
  },
  {
    attack: 'path-confusion',
    source: 'src/proxy/ingress/target.ts',
    guard: 'if (other !== place) return elsewhere(places, other, place);',
    instead: '',
  },
  {
    attack: 'path-invisibles',
    source: 'src/proxy/ingress/path-readings.ts',
    guard: "return text.replace(/\\p{Default_Ignorable_Code_Point}+/gu, '');",
    instead: 'return text;',
  },
  {
    attack: 'path-letters',
    source: 'src/proxy/ingress/path-readings.ts',
    guard: '.toLowerCase().toUpperCase().toLowerCase();',
    instead: '.toLowerCase();',
  },
  {
    attack: 'pipelined-flood',
    source: 'src/server/client-connection.ts',
    guard: 'const mostInARow = 32;',
    instead: 'const mostInARow = Infinity;',
  },
  {
    attack: 'pipelined-memory',
    source: 'src/server/client-connection.ts',
    guard: 'if (this.#isPaused) this.socket.pause();\n      else this.socket.resume();',
    instead: '',
  },
  {
    attack: 'poisoned-connection',
    source: 'src/proxy/upstream/pool.ts',
    guard: 'let own = owners.get(tenant);',
    instead: 'let own = [...owners.values()][0];',
  },
  {
    attack: 'poisoned-connection',
    source: 'src/proxy/upstream/pool.ts',
    guard: 'let owners = this.#owners.get(caller);',
    instead: 'let owners = [...this.#owners.values()][0];',
  },
  {
    attack: 'portal-flood',
    source: 'src/adapters/postgres/sessions/portal-store.ts',
    guard: "const everyVisitor = 'portal';",
    instead: 'const everyVisitor = undefined;',
  },
  {
    attack: 'portal-links',
    source: 'src/adapters/postgres/tenants/changes.ts',
    guard: 'const session = portalSession !== undefined && { session: portalSession };',
    instead: 'const session = portalSession === "" && { session: portalSession };',
  },
  {
    attack: 'portal-links',
    source: 'src/adapters/postgres/sessions/portal-store.ts',
    guard: 'where s.digest = ${link} and not s.redeemed and portal_session_in_force(s)',
    instead: 'where s.digest = ${link} and not s.redeemed',
  },
  {
    attack: 'portal-links',
    source: 'src/adapters/postgres/sessions/portal-store.ts',
    guard: 'where s.digest = ${token} and s.redeemed and portal_session_in_force(s)',
    instead: 'where s.digest = ${token} and s.redeemed',
  },
  {
    attack: 'portal-page',
    source: 'src/http/static-page.ts',
    guard: "...(frameAncestors.length === 0 && { 'x-frame-options': 'DENY' }),",
    instead: '',
  },
  {
    attack: 'portal-page',
    source: 'src/portal/portal-page.ts',
    guard: "app.get('/logo', fileHandler(picture, logoHeaders));",
    instead: "app.get('/logo', fileHandler(picture, headers));",
  },
  {
    attack: 'portal-reach',
    source: 'src/api/portal/portal-guard.ts',
    guard: 'if (subAccount !== null && sub !== undefined && parseAccountId(sub) !== subAccount.id)',
    instead: 'if (subAccount === undefined)',
  },
  {
    attack: 'portal-reach',
    source: 'src/api/portal/portal-guard.ts',
    guard: "if (permission !== 'any' && !session.permissions.includes(permission))",
    instead: "if (permission !== 'any' && session.permissions.length === 0)",
  },
  {
    attack: 'portal-reach',
    source: 'src/api/portal/reads.ts',
    guard: 'if (asked !== undefined && parseAccountId(asked) !== subAccount.id)',
    instead: 'if (asked === "")',
  },
  {
    attack: 'portal-reach',
    source: 'src/api/portal/reads.ts',
    guard: 'if (event.actor.portal?.sessionId === sessionId)',
    instead: 'if (event.actor.portal)',
  },
  {
    attack: 'portal-reach',
    source: 'src/api/portal/keys.ts',
    guard: 'await mayHold(request, request.params, deps);',
    instead: '',
  },
  {
    attack: 'preflight-body',
    source: 'src/proxy/ingress/preflight.ts',
    guard: 'head.bodyLength === 0 &&',
    instead: '',
  },
  {
    attack: 'reference-flood',
    source: 'src/http/static-page.ts',
    guard: 'return reply.type(type).send(bytes);',
    instead: 'return reply.type(type).send(Buffer.from(bytes));',
  },
  {
    attack: 'reference-flood',
    source: 'src/server/node-lane.ts',
    guard: 'const rest = chunk.subarray(mostAtOnce);',
    instead: 'const rest = chunk.subarray(chunk.length);',
  },
  {
    attack: 'rejected-half-body',
    source: 'src/server/client-connection.ts',
    guard:
      'if (nowMs - latestMs > mostDiscarded.silentMs || nowMs - sinceMs > mostDiscarded.ms) this.hangUp();',
    instead: '',
  },
  {
    attack: 'repeated-acting-header',
    source: 'src/domain/acting-decision.ts',
    guard: "if (values.length > 1) return malformed('It was sent more than once.');",
    instead: '',
  },
  {
    attack: 'repeated-authorization',
    source: 'src/authz/authenticate.ts',
    guard: 'if (authorization.length + apiKeys.length > 1)',
    instead: 'if (apiKeys.length > 1)',
  },
  {
    attack: 'request-smuggling',
    source: 'src/http1/request-head.ts',
    guard: "if (lengths > 1) fault ??= malformed('Its length is given more than once.');",
    instead: '',
  },
  {
    attack: 'request-smuggling',
    source: 'src/http1/request-head.ts',
    guard:
      "if (value.toLowerCase() !== 'chunked') fault ??= malformed('Its Transfer-Encoding is not `chunked`.');",
    instead: '',
  },
  {
    attack: 'request-smuggling',
    source: 'src/http1/fields.ts',
    guard: 'if (!areFieldLines(text, from)) throw new MessageFault(faultOfLines(text, from));',
    instead: '',
  },
  {
    attack: 'request-smuggling',
    source: 'src/proxy/ingress/framing.ts',
    guard: 'return lookalike;',
    instead: 'break;',
  },
  {
    attack: 'response-splitting-by-upstream',
    source: 'src/proxy/upstream/message-head.ts',
    guard: "if (chunked && length !== undefined) throw new MessageFault('a length and chunks');",
    instead: '',
  },
  {
    attack: 'retry-on-503',
    source: 'src/proxy/http-exchange.ts',
    guard: 'if (!this.#writer.started) return this.reject(upstreamProblem(error), error);',
    instead: 'if (!this.#writer.started) return this.decideAgain();',
  },
  {
    attack: 'rewritten-path',
    source: 'src/domain/header-names.ts',
    guard: "if (wordOfProxies.test(name)) return 'forwarding';",
    instead: "if (/^(?:forwarded$|x-forwarded-|x-request-id$)/.test(name)) return 'forwarding';",
  },
  {
    attack: 'second-credential',
    source: 'src/authz/authenticate.ts',
    guard: 'if (authorization.length + apiKeys.length > 1)',
    instead: 'if (authorization.length > 1)',
  },
  {
    attack: 'secrets-canary',
    source: 'src/proxy/headers/request-headers.ts',
    guard: 'if (route.passAuthorization) out.push(name, value);',
    instead: 'out.push(name, value);',
  },
  {
    attack: 'slow-body',
    source: 'src/proxy/idle-timeout.ts',
    guard: 'return nowMs - this.#sinceMs > this.#mostMs;',
    instead: 'return false;',
  },
  {
    attack: 'slow-handshake',
    source: 'src/server/listener.ts',
    guard: 'if (nowMs - sinceMs > mostMs) socket.destroy();',
    instead: 'void sinceMs;',
  },
  {
    attack: 'slow-loris-head',
    source: 'src/server/client-connection.ts',
    guard: 'if (waitedMs > headTimeoutMs) this.#rejectWith(tooLate, this.#reader.readsHead);',
    instead: '',
  },
  {
    attack: 'slow-management-body',
    source: 'src/api/rest/json-body.ts',
    guard: 'if (carries) watchBody(request.raw, bodyIdleMs, giveUp);',
    instead: '',
  },
  {
    attack: 'tiny-chunks',
    source: 'src/http1/chunked-body.ts',
    guard: 'if (end > begun && length <= mostCopiedBytes) {',
    instead: 'if (length < 0) {',
  },
  {
    attack: 'tls-unverified',
    source: 'src/proxy/upstream/upstream.ts',
    guard: 'rejectUnauthorized: true,',
    instead: 'rejectUnauthorized: false,',
  },
  {
    attack: 'trailers',
    source: 'src/proxy/headers/response-headers.ts',
    guard: "if (ruleFor(name) !== 'pass' || neverTrailers.has(name.toLowerCase())) continue;",
    instead: '',
  },
  {
    attack: 'trickling-body',
    source: 'src/proxy/idle-timeout.ts',
    guard: 'const slow = waiting && this.#sinceMs !== null && progress - this.#progress < this.#least;',
    instead: 'const slow = false;',
  },
  {
    attack: 'underscore-dot-variants',
    source: 'src/domain/header-names.ts',
    guard: "return name.toLowerCase().replace(/[^a-z0-9]/g, '-');",
    instead: 'return name.toLowerCase();',
  },
  {
    attack: 'underscore-headers',
    source: 'src/domain/header-names.ts',
    guard: "if (rawName.includes('_')) return 'underscore';",
    instead: '',
  },
  {
    attack: 'unlisted-scheme',
    source: 'src/domain/authorization.ts',
    guard: "if (!schemes.includes('Basic')) return (value) => plain.exec(value)?.[1] ?? other;",
    instead: '',
  },
  {
    attack: 'unlisted-scheme',
    source: 'src/domain/authorization.ts',
    guard: "schemes.filter((scheme) => scheme !== 'Basic').join('|')",
    instead: "authorizationSchemes.filter((scheme) => scheme !== 'Basic').join('|')",
  },
  {
    attack: 'upgrade-headers',
    source: 'src/proxy/ingress/websocket-request.ts',
    guard: "if (head.bodyLength !== 0) return invalid('A WebSocket is opened without a body.');",
    instead: '',
  },
  {
    attack: 'upgrade-offers',
    source: 'src/proxy/ingress/websocket-request.ts',
    guard: 'return upgrade !== null && webSocketOffer.test(upgrade);',
    instead: 'return upgrade !== null;',
  },
  {
    attack: 'upgrade-path',
    source: 'src/proxy/ingress/target.ts',
    guard: 'inLowerCase === place ? targetAt(places, place) :',
    instead: 'inLowerCase !== -2 ? targetAt(places, place) :',
  },
];
