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

/** By source: the attack, its guard, and what stands in its place when it is taken away: nothing, if nothing is said. */
const guards: Readonly<
  Record<string, readonly (readonly [attack: string, guard: string, instead?: string])[]>
> = {
  'console/src/ui/heading.tsx': [
    [
      'console-texts',
      '{title} {state !== undefined && <Badge state={state} />}',
      '<span dangerouslySetInnerHTML={{ __html: title }} />',
    ],
  ],
  'src/adapters/postgres/sessions/portal-store.ts': [
    [
      'portal-flood',
      `s.redeemed and portal_session_in_force(s)\`,
        network,`,
      "s.redeemed and portal_session_in_force(s)`, 'portal',",
    ],
    [
      'portal-links',
      'where s.digest = ${link} and not s.redeemed and portal_session_in_force(s)',
      'where s.digest = ${link} and not s.redeemed',
    ],
    [
      'portal-links',
      'where s.digest = ${token} and s.redeemed and portal_session_in_force(s)',
      'where s.digest = ${token} and s.redeemed',
    ],
  ],
  'src/adapters/postgres/store.ts': [
    [
      'portal-flood',
      "visitors: shared.withDeadline(queryMs, 'visitors', others, visitors),",
      "visitors: shared.withDeadline(queryMs, visitors ? 'visitors' : '', others),",
    ],
  ],
  'src/adapters/postgres/tenants/changes.ts': [
    ['late-change', 'return { caller: { account, key, ...session } };', 'return {};'],
    ['leaked-key-floods', '...(caller?.budget && { budget: { ...caller.budget } }),'],
    ['leaked-key-floods', '...(takesAway && { takes_away: true }),'],
    [
      'portal-links',
      'const session = portalSession !== undefined && { session: portalSession };',
      'const session = portalSession === "" && { session: portalSession };',
    ],
  ],
  'src/api/operator/operator-sessions.ts': [
    ['operator-session', 'await this.#deps.secrets.digestOf(secret)', 'digestOf(secret)'],
    [
      'operator-session',
      'return safeMethods.has(request.method) || hasCsrfToken(request, session) ? session : undefined;',
      'return session;',
    ],
    [
      'operator-session',
      'return !hasToken(request) && secretOf(request) !== undefined;',
      'return secretOf(request) !== undefined;',
    ],
    [
      'operator-session',
      'if (secret !== undefined) await this.#deps.store.end(digestOf(secret));',
      'await Promise.resolve(secret);',
    ],
  ],
  'src/api/operator/operator-token.ts': [
    [
      'late-operator',
      'const known = sent === undefined ? (await sessions.of(request))?.operator : tokens.find(sent);',
      'const known: KnownOperator | undefined = operatorOf(request);',
    ],
    [
      'operator-escalation',
      'return hasRole(role, needed) ? undefined : new ProblemError(insufficientRole(needed));',
      'return undefined;',
    ],
  ],
  'src/api/operator/token-guesses.ts': [
    [
      'operator-guesses',
      'if (guesser === undefined || guesser.fullAtMs - nowMs <= (allowed - 1) * regainMs) return check();',
      'if (guesser === undefined || guesser.fullAtMs >= 0) return check();',
    ],
  ],
  'src/api/portal/keys.ts': [['portal-reach', 'mayRotate: (request) => mayHold(request, deps),']],
  'src/api/portal/portal-guard.ts': [
    [
      'portal-reach',
      'if (subAccount !== null && sub !== undefined && parseAccountId(sub) !== subAccount.id)',
      'if (subAccount === undefined)',
    ],
    [
      'portal-reach',
      "if (permission !== 'any' && !session.permissions.includes(permission))",
      "if (permission !== 'any' && session.permissions.length === 0)",
    ],
  ],
  'src/api/portal/reads.ts': [
    [
      'portal-reach',
      'if (asked !== undefined && parseAccountId(asked) !== subAccount.id)',
      'if (asked === "")',
    ],
    ['portal-reach', 'if (event.actor.portal?.sessionId === sessionId)', 'if (event.actor.portal)'],
  ],
  'src/api/session-secrets.ts': [
    [
      'portal-flood',
      'return keys.some((key) => timingSafeEqual(macOf(random, key), mac)) ? sha256(text) : undefined;',
      'return keys.length > 0 && random.length + mac.length > 0 ? sha256(text) : undefined;',
    ],
  ],
  'src/api/rest/json-body.ts': [
    ['slow-management-body', 'if (carries) watchBody(request.raw, limits, giveUp, intervals);'],
  ],
  'src/app.ts': [
    ['portal-flood', 'shedStrangers(app, shedding, config.trustedProxies);'],
    ['portal-flood', 'shedStrangers(open, deps.shedding, []);'],
    [
      'reference-flood',
      `shedStrangers(open, shedding, config.trustedProxies);
      await open.register(parentReference,`,
      'await open.register(parentReference,',
    ],
  ],
  'src/authz/authenticate.ts': [
    ['basic-credentials', "if (token.password !== '' && isOwnKey(token.user)) return keyWithPassword;"],
    ['repeated-authorization', 'if (authorization.length + apiKeys.length > 1)', 'if (apiKeys.length > 1)'],
    ['second-credential', 'if (authorization.length + apiKeys.length > 1)', 'if (authorization.length > 1)'],
  ],
  'src/authz/authorization-of-others.ts': [
    ['costly-values', '...texts.map(unquoted)', `...texts.map((text) => text.replace(/^["']|["';]+$/g, ""))`],
    ['open-route-keys', 'if (own.test(value) || decoded.some((text) => own.test(text))) return null;'],
    ['open-route-keys', 'if (key !== null) return true;'],
  ],
  'src/authz/proxied-request.ts': [['parents-limit-shown', "shown: caller.kind === 'parent'", 'shown: true']],
  'src/domain/acting-decision.ts': [
    ['repeated-acting-header', "if (values.length > 1) return malformed('It was sent more than once.');"],
  ],
  'src/domain/authorization.ts': [
    ['basic-credentials', "if (bytes.toString('base64') !== encoded) return notBase64;"],
    ['basic-credentials', 'if (controlCharacter.test(text)) return withControlCharacter;'],
    ['basic-credentials', 'if (encoded.length > basicMaxLength) return tooLong;'],
    ['unlisted-scheme', "if (!schemes.includes('Basic')) return (value) => plain.exec(value)?.[1] ?? other;"],
    [
      'unlisted-scheme',
      "schemes.filter((scheme) => scheme !== 'Basic').join('|')",
      "authorizationSchemes.filter((scheme) => scheme !== 'Basic').join('|')",
    ],
  ],
  'src/domain/header-names.ts': [
    [
      'api-key-header-variants',
      "if (names.apiKey.some((one) => foldHeaderName(one) === name)) return 'drop';",
    ],
    ['method-override', "if (overrides.has(name)) return 'override';"],
    [
      'open-route-identity',
      "if (name.startsWith('x-service-') || name.startsWith(foldHeaderName(names.prefix))) return 'drop';",
    ],
    [
      'underscore-dot-variants',
      "return name.toLowerCase().replace(/[^a-z0-9]/g, '-');",
      'return name.toLowerCase();',
    ],
    ['underscore-headers', "if (rawName.includes('_')) return 'underscore';"],
  ],
  'src/domain/logged-path.ts': [
    ['external-id-in-log', '(start === undefined ? path : `${start}:external_id`)', 'path'],
    ['key-as-id', ".replaceAll(secrets, '[secret]')"],
  ],
  'src/domain/said-by-proxies.ts': [
    [
      'gateway-identity',
      "if (saysIdentity(name)) return 'identity';",
      "if (/^(?:remote-|x-remote-)/.test(name)) return 'identity';",
    ],
    [
      'rewritten-path',
      "return saysOther(name) ? 'forwarding' : undefined;",
      "return /^(?:forwarded$|x-forwarded-|x-request-id$)/.test(name) ? 'forwarding' : undefined;",
    ],
  ],
  'src/http/errors.ts': [
    [
      'shared-cache',
      "reply.headers({ [requestIdHeader]: request.id, 'cache-control': 'no-store' });",
      'reply.header(requestIdHeader, request.id);',
    ],
  ],
  'src/http/hang-up.ts': [['hogged-turns', 'if (!restsAfter(length, goOn, of)) return;', 'if (of) return;']],
  'src/http/socket-bytes.ts': [
    ['held-bytes', 'return socket.isPaused() ? Math.max(socket.readableLength, readBytes) : 0;', 'return 0;'],
  ],
  'src/http/turn.ts': [
    [
      'hogged-turns',
      'if (noteWork(work, goOn) || done < room) return false;',
      'if (noteWork(work, goOn) || mostWork > 0) return false;',
    ],
    ['hogged-turns', 'const hasRoom = done < room && resting.size === 0;', 'const hasRoom = done < room;'],
    ['hogged-turns', 'room = Math.min(mostWork, Math.max(mostWork / 8, inTime));', ''],
  ],
  'src/http/static-page.ts': [
    [
      'console-page',
      `\`frame-ancestors \${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}\``,
      '`frame-ancestors *`',
    ],
    [
      'console-page',
      "['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`)",
      "['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self' data:`)",
    ],
    [
      'costly-values',
      "return list.length > mostCharacters ? [] : list.split(',').map((item) => item.trim());",
      'return list.split(/\\s*,\\s*/);',
    ],
    ['portal-page', "...(frameAncestors.length === 0 && { 'x-frame-options': 'DENY' }),"],
    [
      'reference-flood',
      'return reply.type(type).send(bytes);',
      'return reply.type(type).send(Buffer.from(bytes));',
    ],
  ],
  'src/http1/chunked-body.ts': [
    ['tiny-chunks', 'if (end > begun && length <= mostCopiedBytes) {', 'if (length < 0) {'],
  ],
  'src/http1/fields.ts': [
    [
      'request-smuggling',
      'if (!areFieldLines(text, from)) throw new MessageFault(faultOfLines(text, from));',
    ],
  ],
  'src/http1/head-text.ts': [['header-size', 'if (least > mostBytes) throw new HeadTooLong();']],
  'src/http1/request-head.ts': [
    ['request-smuggling', "if (lengths > 1) fault ??= malformed('Its length is given more than once.');"],
    [
      'request-smuggling',
      "if (value.toLowerCase() !== 'chunked') fault ??= malformed('Its Transfer-Encoding is not `chunked`.');",
    ],
  ],
  'src/limits/shares.ts': [
    [
      'crowding-parent',
      'if (parent.held > 0 && parent.held + 1 > this.#mostOfParent(parent, most)) return true;',
    ],
    ['crowding-tenant', 'return held > 0 && held + 1 > this.mostOf(share, most);', 'return false;'],
    [
      'keyless-preflights',
      'parent.parent === null ? most * this.#withoutKey : this.#usual(parent, most)',
      'this.#usual(parent, most)',
    ],
  ],
  'src/portal/portal-page.ts': [
    [
      'portal-page',
      "app.get('/logo', fileHandler(picture, logoHeaders));",
      "app.get('/logo', fileHandler(picture, headers));",
    ],
  ],
  'src/proxy/ending-exchange.ts': [
    [
      'limit-said-by-upstream',
      'const limited = rateLimit === null ? headers : withRateLimit(headers, rateLimit);',
      'const limited = headers;',
    ],
  ],
  'src/proxy/exchange.ts': [
    ['unheard-revocation', 'if (this.decision.mayPass()) return true;', 'return true;'],
    [
      'beyond-limit',
      'const full = this.decision.takeFromLimits(this);',
      'const full = undefined as Problem | undefined;',
    ],
    [
      'open-route-crowding',
      'const full = open?.count(network) ?? this.decision.enterWithoutKey(network);',
      'const full = this.decision.enterWithoutKey(network);',
    ],
    [
      'open-route-keys',
      'this.#passesAuthorization = !(await isKnown.catch(() => true));',
      'this.#passesAuthorization = !(await isKnown.catch(() => false));',
    ],
  ],
  'src/proxy/headers/caching.ts': [
    ['browser-cache', "if (vary !== '') headers.push('vary',", "if (vary === '') headers.push('vary',"],
    ['shared-cache', "open === null && sharedCache === 'deny'", 'false'],
    ['two-acting-headers', "[names.acting, 'Authorization',", "['Authorization',"],
    ['two-acting-headers', "'Authorization', ...names.apiKey]", "'Authorization']"],
  ],
  'src/proxy/headers/request-headers.ts': [
    [
      'connection-strips-trusted-header',
      `pushTrusted(headers, own, context);
    return headers;`,
      `pushTrusted(headers, own, context);
    return named === undefined ? headers : withoutNamed(headers, named);`,
    ],
    ['forwarded-spoofing', 'if (context.peerTrusted) said.for =', 'said.for ='],
    ['secrets-canary', 'if (route.passAuthorization) out.push(name, value);', 'out.push(name, value);'],
  ],
  'src/proxy/headers/response-headers.ts': [
    ['hop-by-hop-from-upstream', 'reserved || hopByHop.has(folded) ||', 'reserved ||'],
    ['shared-cache', "if (isPrivate && speaksToSharedCaches(rawName)) return 'drop';"],
    ['trailers', "if (ruleFor(name) !== 'pass' || neverTrailers.test(foldHeaderName(name))) continue;"],
  ],
  'src/proxy/http-exchange.ts': [
    [
      'retry-on-503',
      'if (!this.#writer.started) return this.reject(upstreamProblem(error), error);',
      'if (!this.#writer.started) return this.decideAgain();',
    ],
  ],
  'src/limits/held-bytes.ts': [
    ['held-bytes', 'connection.cut();'],
    ['held-bytes', 'this.#fit([...strangers.values()], this.#most * ofStrangers);'],
  ],
  'src/http/patience.ts': [
    ['slow-body', 'const isIdle = nowMs - this.#sinceMs > this.#mostMs;', 'const isIdle = false;'],
    [
      'trickling-body',
      'const isSlow = waiting && before !== null && progress - before.progress < this.#least;',
      'const isSlow = false;',
    ],
  ],
  'src/proxy/ingress/framing.ts': [
    ['header-count', 'if (rawHeaders.length > 2 * maxHeaders) return { problem: tooMany };'],
    [
      'header-name-memory',
      'switch (rules.look(rawHeaders[i] as string)) {',
      'switch (rules.learn(rawHeaders[i] as string)) {',
    ],
    ['request-smuggling', 'return lookalike;', 'break;'],
  ],
  'src/proxy/ingress/path-readings.ts': [
    ['costly-target', 'if (left.characters < 0 || hasManySegments(reading)) return false;'],
    ['path-invisibles', "return text.replace(/\\p{Default_Ignorable_Code_Point}+/gu, '');", 'return text;'],
    ['path-letters', '.toLowerCase().toUpperCase().toLowerCase();', '.toLowerCase();'],
  ],
  'src/proxy/ingress/preflight.ts': [['preflight-body', 'request.bodyLength === 0 &&']],
  'src/proxy/ingress/reject.ts': [
    ['external-id-in-log', 'path: loggedPath(request.url),', 'path: request.url,'],
  ],
  'src/proxy/ingress/target.ts': [
    [
      'absolute-form',
      "if (!path.startsWith('/')) return rejected('It must be a path that starts with `/`.');",
    ],
    ['path-confusion', 'if (other !== place) return elsewhere(places, other, place);'],
    ['front-controller', 'if (below) return elsewhere(places, other, place);'],
    ['upgrade-path', 'if (inLowerCase !== place) return elsewhere(places, inLowerCase, place);'],
  ],
  'src/proxy/ingress/websocket-request.ts': [
    [
      'upgrade-headers',
      "if (request.bodyLength !== 0) return invalid('A WebSocket is opened without a body.');",
    ],
    [
      'upgrade-offers',
      'return upgrade !== null && webSocketOffer.test(upgrade);',
      'return upgrade !== null;',
    ],
  ],
  'src/proxy/problems.ts': [
    ['error-body-leak', 'timedOut : unreachable;', 'timedOut : { ...unreachable, detail: String(error) };'],
  ],
  'src/proxy/upstream/connect.ts': [
    ['slow-names', 'lookup: (...asked: Parameters<Lookup>) => void (forget = lookup(...asked)),'],
  ],
  'src/proxy/upstream/message-head.ts': [
    [
      'response-splitting-by-upstream',
      "if (chunked && length !== undefined) throw new MessageFault('a length and chunks');",
    ],
  ],
  'src/proxy/upstream/pool.ts': [
    ['poisoned-connection', 'let own = owners.get(tenant);', 'let own = [...owners.values()][0];'],
    [
      'poisoned-connection',
      'let owners = this.#owners.get(caller);',
      'let owners = [...this.#owners.values()][0];',
    ],
  ],
  'src/proxy/upstream/response-parser.ts': [
    [
      'handshake-response',
      "if (this.#interimCount > mostInterimResponses) throw new MessageFault('too many 1xx before it');",
    ],
  ],
  'src/proxy/undici/forwarded-request.ts': [
    [
      'hogged-turns',
      'if (this.#isFull || this.#rests) this.#reading?.pause();',
      'if (this.#isFull) this.#reading?.pause();',
    ],
  ],
  'src/proxy/upstream/upstream.ts': [
    ['tls-unverified', 'rejectUnauthorized: true,', 'rejectUnauthorized: false,'],
  ],
  'src/proxy/websocket/websocket-exchange.ts': [['hogged-turns', 'this.#tunnel?.hold(this.isAboveShare());']],
  'src/server/client-connection.ts': [
    [
      'http-pipelining',
      `const current = this.#current;
    if (current === null) {`,
      `const current = this.#reader.complete ? null : this.#current;
    if (current === null) {`,
    ],
    ['crowding-connections', "if (this.holdsFor !== null) return 'kept';"],
    ['pipelined-flood', 'this.#rests = restsBefore(requestWork, this.#goOn, this);', 'this.#rests = false;'],
    [
      'pipelined-memory',
      `if (this.#isPaused) this.socket.pause();
      else this.socket.resume();`,
    ],
    [
      'rejected-half-body',
      'if (nowMs - latestMs > mostDiscarded.silentMs || nowMs - sinceMs > mostDiscarded.ms) this.hangUp();',
    ],
    ['slow-loris-head', 'if (waitedMs > headTimeoutMs) this.#rejectWith(tooLate, this.#reader.readsHead);'],
  ],
  'src/server/connection-places.ts': [
    [
      'crowding-connections',
      'if (free < Math.floor(most * keptPart) && network.places.size > free + 1) this.#makeRoom(place);',
      'if (free < 0) this.#close(place);',
    ],
    [
      'crowding-connections',
      'if (this.#places.size < this.#served.limits.maxConnections * usualPart) return;',
      'return;',
    ],
    ['crowding-connections', 'while (!(isOwn || seen.isAll) || looks-- > 0) {', 'while (looks++ < 1_000) {'],
  ],
  'src/server/listener.ts': [
    ['slow-handshake', 'if (nowMs - sinceMs > mostMs) socket.destroy();', 'void sinceMs;'],
  ],
  'src/server/node-lane.ts': [
    ['hogged-turns', 'else if (!restsAfter(piece.length, goOn, this.#connection)) goOn();', 'else goOn();'],
    ['held-bytes', 'this.#bodyBytes += chunk.length;'],
    [
      'reference-flood',
      '[chunk.subarray(0, mostAtOnce), chunk.subarray(mostAtOnce)]',
      '[chunk, chunk.subarray(chunk.length)]',
    ],
  ],
  'src/server/served-response.ts': [
    [
      'expect-continue',
      'if (this.continues || this.#connection.leavesNow) this.last = true;',
      'if (this.#connection.leavesNow) this.last = true;',
    ],
  ],
};

/** In the order of the attacks. */
export const guardMutations: readonly GuardMutation[] = Object.entries(guards)
  .flatMap(([source, taken]) =>
    taken.map(([attack, guard, instead = '']) => ({ attack, source, guard, instead })),
  )
  .sort((a, b) => a.attack.localeCompare(b.attack));
