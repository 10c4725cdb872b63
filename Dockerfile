# The images of this checkout: docker build --tag localhost/portcullis:dev .
# and that of its database: docker build --target postgres --tag localhost/portcullis-postgres:dev .
# and that of the standalone platform: docker build --target standalone --tag localhost/portcullis-standalone:dev .
# Their files and settings are those of `npm run cluster image`, which needs no engine; a test compares both.
FROM node:24-bookworm AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY hack/bootstrap hack/install hack/install-lock hack/prerequisites hack/download-engine.mjs hack/compile-sources.mjs hack/
COPY hack/engine-package/checksums hack/engine-package/
RUN root=/src sh -euc '. hack/bootstrap'
COPY . .
RUN sh hack/run hack/cluster/image/stage.ts /stage /stage-postgres /stage-standalone

FROM scratch AS platform
COPY --from=build /stage /
ENV PATH=/usr/local/bin NODE_ENV=production HOME=/tmp NODE_COMPILE_CACHE=/app/node_modules/.compiled NODE_COMPILE_CACHE_PORTABLE=1
WORKDIR /app
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node"]
CMD ["cli/main.ts", "--help"]

FROM platform AS postgres
COPY --from=build /stage-postgres /
CMD ["dataplane/postgres/main.ts"]

FROM postgres AS standalone
COPY --from=build /stage-standalone /
ENV PORTCULLIS_DATA_DIR=/data/portcullis NODE_COMPILE_CACHE=/data/compiled
CMD ["--max-semi-space-size=1", "cli/main.ts", "up", "--address", "0.0.0.0", "--no-console"]

FROM platform
