# docker build --tag tenancy-gateway:1.0.0-dev .
#
# The image holds Node.js, production dependencies and compiled sources, and nothing to build or install with: no npm, no
# compiler, no tests. It runs on PostgreSQL; the embedded store, which is for laptops, is left out.

# Override them to use a mirror or to pin a digest. The first brings npm and the node binary, the second all the rest.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

# On their own, so that the layer stays the same while only sources change.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/@electric-sql node_modules/.bin
# What packages bring for compilers, bundlers and their own authors. The start below fails where something was needed.
RUN find node_modules -type f \( -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.map' \) -delete \
 && find node_modules -type d \( -name test -o -name tests -o -name 'benchmark*' -o -name 'example*' -o -name docs \
      -o -name .github -o -path '*/@opentelemetry/*/build/es*' -o -path '*/yaml/browser' -o -path '*/postgres/cf' \) \
      -prune -exec rm -r {} + \
 && find node_modules/@opentelemetry/semantic-conventions \( -name 'experimental_*' -o -name '*incubating*' \) -delete \
 && find node_modules -type d -empty -delete

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json tsconfig.client.json ./
COPY scripts scripts
COPY console console
COPY src src
ARG REVISION=
RUN npm run build && find dist -type f -name '.*' -delete

FROM ${BASE_IMAGE} AS application
COPY --from=build /usr/local/bin/node /usr/local/bin/
COPY --from=build /usr/local/LICENSE /usr/local/share/doc/node/
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /build/node_modules node_modules
COPY config config
COPY --from=build /build/dist dist
RUN ln -s /app/dist/cli.js /usr/local/bin/tenancy-gateway
ENV NODE_ENV=production

# One start, as the user it will run as, to keep what Node.js compiles: a start takes a sixth less time with it. There is
# no database, so the gateway waits for one, and has loaded all it needs when it listens, tracing included. Node.js keeps
# what it compiles by its flags, so they are those of CMD below.
FROM application AS started
USER 10001:10001
ENV NODE_COMPILE_CACHE=/tmp/compiled
RUN export DATABASE_URL=postgres://127.0.0.1:1/none UPSTREAM_URL=http://127.0.0.1:1 PORT=0 INTERNAL_PORT=0 \
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1/v1/traces; \
    tenancy-gateway --version && { node --max-semi-space-size=4 --no-allocation-site-pretenuring dist/main.js >/tmp/log & } \
 && until grep -q 'the public listener is open' /tmp/log; do kill -0 $! || exit 1; sleep 0.1; done \
 && kill -TERM $! && wait $! && chmod -R a+rX /tmp/compiled

FROM application
ARG VERSION=1.0.0-dev
ARG REVISION=
LABEL org.opencontainers.image.title="Tenancy Gateway" \
      org.opencontainers.image.description="A reverse proxy that gives any existing API sub-accounts." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# For another user, another Node.js or other flags it is as if it were not there.
COPY --from=started --chown=0:0 /tmp/compiled compiled
ENV NODE_COMPILE_CACHE=/app/compiled

# Outside, ports are published or not; inside, a listener on 127.0.0.1 would be out of everybody's reach.
ENV HOST=0.0.0.0 INTERNAL_HOST=0.0.0.0 PORTAL_HOST=0.0.0.0 USAGE_JOURNAL_DIR=/var/lib/tenancy-gateway/usage
EXPOSE 8080 9090

# A volume that is mounted here begins as it is: it can be written to.
RUN install -d -o 10001 -g 0 -m 770 /var/lib/tenancy-gateway/usage

# By number, so that Kubernetes can tell that it is not root. Nothing else in the image belongs to it.
USER 10001:10001

HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERNAL_PORT || 9090}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Node.js is the first process and handles SIGTERM itself: it drains.
STOPSIGNAL SIGTERM

# The flags keep short-lived objects short-lived: the process holds half as much memory, and pauses to collect garbage are
# a tenth as long (docs/maintainers/decisions/http-server.md).
CMD ["node", "--max-semi-space-size=4", "--no-allocation-site-pretenuring", "dist/main.js"]
