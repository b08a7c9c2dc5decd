import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from '../../domain/problem.ts';
import { overloaded } from '../../limits/load-shedding.ts';
import { upgradeResponse } from './accept-upgrades.ts';
import { noteContinue } from './expect-continue.ts';
import type { RequestHead } from './framing.ts';
import type { IngressReader } from './ingress.ts';
import type { Target } from './target.ts';

/** The places a request can go to, once the ingress has read it. */
export interface Destinations {
  readonly ingress: Pick<IngressReader, 'read'>;
  /** Whether requests for upstreams are being rejected with 503 because of an overload. */
  readonly shedding: () => boolean;
  readonly reject: (
    request: IncomingMessage,
    response: ServerResponse,
    rejected: { readonly problem: Problem; readonly target: Target; readonly ambiguous: boolean },
  ) => void;
  readonly management: (request: IncomingMessage, response: ServerResponse) => void;
  readonly proxy: (
    route: number,
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
  ) => void;
}

/** What the public listener calls, for each way in which a request may come. */
export interface Dispatcher {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  checkContinue(request: IncomingMessage, response: ServerResponse): void;
  checkExpectation(request: IncomingMessage, response: ServerResponse): void;
}

/** Makes the one way in: whatever event Node reports a request with, the ingress reads it and it goes to one destination. */
export function dispatcher({ ingress, shedding, reject, management, proxy }: Destinations): Dispatcher {
  function request(request: IncomingMessage, response: ServerResponse): void {
    const read = ingress.read(request);
    switch (read.kind) {
      case 'route': {
        const { route, head } = read;
        if (!shedding()) return proxy(route, head, request, response);
        const target: Target = { kind: 'route', route };
        return reject(request, response, { problem: overloaded, target, ambiguous: false });
      }
      case 'management':
        return management(request, response);
      case 'rejected':
        return reject(request, response, read);
      case 'ignored':
        return;
    }
  }

  return {
    request,
    upgrade(message, socket, head) {
      const response = upgradeResponse(message, socket, head);
      if (response !== undefined) request(message, response);
    },
    checkContinue(message, response) {
      noteContinue(message, response);
      request(message, response);
    },
    // The ingress rejects every expectation except `100-continue`.
    checkExpectation: request,
  };
}
